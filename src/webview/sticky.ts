import { html, render } from 'lit/html.js';
import type { Entry, Turn } from '../protocol/entry.js';
import { icon } from './entries/parts.js';
import { t } from './texts.js';

export const isPrompt = (entry: Entry) => entry.kind === 'user' && entry.interjection !== true;
/** Nothing of an entry's turn is above it. */
const begins = (entry: Entry) => isPrompt(entry) || entry.ordinal === 0;

export interface StickyActs {
  find(number: number): Promise<Turn | undefined>;
  goTo(turn: Turn): void;
  turnBy(step: 1 | -1): void;
}

/** The bar with the prompt of the turn that is read, while the prompt itself is out of view. */
export class StickyBar {
  private turn: Turn | undefined;
  private wanted = 0;

  constructor(private readonly acts: StickyActs) {}

  /** Shows the prompt of the turn that is at the top; `top` is what is seen just below the bar. */
  async follow(top: { entry: Entry; offset: number } | undefined): Promise<void> {
    const number = top?.entry.turn;
    const element = document.getElementById('sticky');
    if (!element) return;
    this.wanted = number ?? 0;
    if (number === undefined || (top && begins(top.entry) && top.offset > 0)) {
      this.wanted = 0;
      element.hidden = true;
      return;
    }
    if (this.turn?.number !== number) {
      const found = await this.acts.find(number);
      // The reader has gone on while the turn was read.
      if (this.wanted !== number) return;
      this.turn = found;
    }
    const turn = this.turn;
    element.hidden = turn === undefined;
    if (!turn) return;
    render(
      html`<div>
        <span class="ord" aria-hidden="true">${turn.number}</span>
        <button
          class="goto clip"
          type="button"
          title=${t('Go to this prompt')}
          @click=${() => this.acts.goTo(turn)}
        >
          <bdi>${turn.prompt}</bdi>
        </button>
        <span class="side">
          <button
            class="ib"
            type="button"
            aria-label=${t('Previous turn')}
            title=${t('Previous turn')}
            @click=${() => this.acts.turnBy(-1)}
          >
            ${icon('arrow-up')}
          </button>
          <button
            class="ib"
            type="button"
            aria-label=${t('Next turn')}
            title=${t('Next turn')}
            @click=${() => this.acts.turnBy(1)}
          >
            ${icon('arrow-down')}
          </button>
        </span>
      </div>`,
      element,
    );
  }
}
