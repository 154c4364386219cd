import { html, nothing, render, type TemplateResult } from 'lit/html.js';
import type { Turn } from '../protocol/entry.js';
import { icon } from './entries/parts.js';
import { count, duration } from './format.js';
import type { Host } from './host.js';
import { t } from './texts.js';

const PAGE = 200;

/** The list of turns beside the feed: what was asked, and the way there. */
export class Outline {
  private turns: Turn[] = [];
  private current = 0;
  private loading: Promise<void> | undefined;
  isOpen = false;

  constructor(
    private readonly host: Host,
    private readonly element: HTMLElement,
    private readonly go: (turn: Turn) => void,
    private readonly failed: (error: unknown) => void,
  ) {
    element.addEventListener('keydown', (event) => this.key(event));
  }

  /** A turn that is loaded, by its number. */
  turn(number: number): Turn | undefined {
    return this.turns.find((turn) => turn.number === number);
  }

  get last(): number {
    return this.turns.at(-1)?.number ?? 0;
  }

  setOpen(open: boolean): void {
    this.isOpen = open;
    if (open) void this.refresh();
    this.draw();
  }

  /** Marks the turn that is read now. */
  mark(number: number): void {
    if (number === this.current) return;
    this.current = number;
    this.draw();
    if (this.isOpen)
      this.element.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }

  /** Reads the newest turns again; older ones that are loaded stay. */
  refresh(): Promise<void> {
    this.loading ??= this.read(-PAGE, PAGE).finally(() => {
      this.loading = undefined;
    });
    return this.loading;
  }

  /** A turn by its number, read if it is not loaded. */
  async find(number: number): Promise<Turn | undefined> {
    const known = this.turn(number);
    if (known) return known;
    const { turns } = await this.host.call('turns', { from: number, limit: 1 });
    return turns[0];
  }

  private async read(from: number, limit: number): Promise<void> {
    try {
      const { turns } = await this.host.call('turns', { from, limit });
      const byNumber = new Map([...this.turns, ...turns].map((turn) => [turn.number, turn]));
      this.turns = [...byNumber.values()].sort((a, b) => a.number - b.number);
      this.draw();
    } catch (error) {
      this.failed(error);
    }
  }

  private older(): void {
    const first = this.turns[0]?.number ?? 1;
    const from = Math.max(1, first - PAGE);
    if (first > 1) void this.read(from, first - from);
  }

  private draw(): void {
    const first = this.turns[0]?.number ?? 1;
    render(
      this.isOpen
        ? html`<header>
              <h2>${t('Turns')}</h2>
              <span class="dim num">${this.last > 0 ? count(this.last) : nothing}</span>
              <span class="grow"></span>
              <button
                class="ib"
                type="button"
                data-act="outline"
                aria-label=${t('Close')}
                title=${t('Close')}
              >
                ${icon('close')}
              </button>
            </header>
            ${
              first > 1
                ? html`<button class="btn quiet" type="button" @click=${() => this.older()}>
                    ${t('Older turns…')}
                  </button>`
                : nothing
            }
            <ul
              role="listbox"
              tabindex="0"
              aria-label=${t('Turns')}
              aria-activedescendant=${this.current > 0 ? `turn-${String(this.current)}` : nothing}
            >
              ${this.turns.map((turn) => this.item(turn))}
            </ul>`
        : nothing,
      this.element,
    );
    this.element.hidden = !this.isOpen;
  }

  private item(turn: Turn): TemplateResult {
    const took = turn.endedAt === undefined ? undefined : Date.parse(turn.endedAt) - Date.parse(turn.at);
    const facts = [
      turn.files.length === 0
        ? undefined
        : turn.files.length === 1
          ? t('1 file changed')
          : t('{0} files changed', turn.files.length),
      turn.tools === 0 ? undefined : turn.tools === 1 ? t('1 step') : t('{0} steps', turn.tools),
      took === undefined || took <= 0 ? undefined : duration(took),
    ].filter((fact) => fact !== undefined);
    const state = {
      running: icon('loading', 'spin live'),
      failed: icon('error', 'bad'),
      cancelled: icon('circle-slash', 'dim'),
      completed: nothing,
    };
    return html`<li
      role="option"
      id="turn-${turn.number}"
      aria-selected=${turn.number === this.current}
      @click=${() => this.go(turn)}
    >
      <span class="ord">${turn.number}</span>
      <span class="what"
        ><bdi class="clip">${turn.prompt}</bdi
        ><span class="dim num facts">${facts.map((fact) => html`<span>${fact}</span>`)}</span></span
      >
      ${state[turn.status]}
    </li>`;
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const index = this.turns.findIndex((turn) => turn.number === this.current);
    if (step !== undefined) {
      const next = this.turns[Math.max(0, Math.min(this.turns.length - 1, index + step))];
      if (next) this.mark(next.number);
    } else if (event.key === 'Enter') {
      const turn = this.turn(this.current);
      if (turn) this.go(turn);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
