import { html, nothing, type TemplateResult } from 'lit/html.js';
import { icon } from '../entries/parts.js';
import type { Host } from '../host.js';
import { t } from '../texts.js';

/** Suggestions after a turn. They fill the box and are never sent by themselves. */
export class Followups {
  private suggestions: readonly string[] = [];
  /** Grows when what is asked for does not count any more. */
  private asked = 0;
  /** The person does not want them in this session. */
  off = false;

  constructor(
    private readonly host: Host,
    private readonly fill: (text: string) => void,
    private readonly changed: () => void,
  ) {}

  /** A turn ended while the page was looked at. What goes wrong is no suggestion. */
  async ask(): Promise<void> {
    if (this.off) return;
    const asked = (this.asked += 1);
    try {
      const { suggestions } = await this.host.call('followups', {});
      if (asked !== this.asked) return;
      this.suggestions = suggestions.filter((text) => text.trim() !== '');
      this.changed();
    } catch {
      // They are an offer, not an answer; the service has logged why there is none.
    }
  }

  /** The person goes on without them. */
  clear(): void {
    this.asked += 1;
    if (this.suggestions.length === 0) return;
    this.suggestions = [];
    this.changed();
  }

  chips(): TemplateResult | typeof nothing {
    if (this.suggestions.length === 0) return nothing;
    return html`<div class="chips" role="group" aria-label=${t('Suggestions, they only fill the box')}>
      ${this.suggestions.map(
        (text) =>
          html`<button class="chip" type="button" @click=${() => this.choose(text)}>
            ${icon('insert')}<bdi class="clip">${text}</bdi>
          </button>`,
      )}
      <button
        class="ib"
        type="button"
        aria-label=${t('Hide suggestions')}
        title=${t('Hide suggestions')}
        @click=${() => this.hide()}
      >
        ${icon('close')}
      </button>
    </div>`;
  }

  private choose(text: string): void {
    this.clear();
    this.fill(text);
  }

  private hide(): void {
    this.off = true;
    this.clear();
  }
}
