import { html, nothing, render, type TemplateResult } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type { Interjection } from '../protocol/deck.js';
import type { SessionDetails } from '../protocol/session.js';
import { icon } from './entries/parts.js';
import { duration } from './format.js';
import { CallError, type Host } from './host.js';
import { t } from './texts.js';

/** How long the question of the first Esc stands. */
const ASK_MS = 3_000;

/** Where a person writes: a prompt when nothing runs, an addition to the run when something does. */
export class PromptBox {
  private waiting: Interjection[] = [];
  private sending = false;
  private message: { text: string; bad: boolean } | undefined;
  private asking = 0;
  draft = '';

  constructor(
    private readonly host: Host,
    private readonly element: HTMLElement,
    private details: SessionDetails,
    private readonly changed: () => void,
  ) {
    this.draw();
    window.setInterval(() => this.drawTime(), 1_000);
  }

  setDetails(details: SessionDetails): void {
    this.details = details;
    this.draw();
  }

  setInterjections(all: readonly Interjection[]): void {
    this.waiting = all.filter(isWaiting);
    this.draw();
  }

  setInterjection(one: Interjection): void {
    const others = this.waiting.filter((item) => item.interjectionId !== one.interjectionId);
    this.waiting = isWaiting(one) ? [...others, one] : others;
    this.draw();
  }

  setDraft(text: string): void {
    this.draft = text;
    this.draw();
  }

  focus(): void {
    this.element.querySelector('textarea')?.focus();
  }

  /** Esc: asks once, then stops the run. False when nothing runs. */
  stop(): boolean {
    if (!this.running) return false;
    if (this.asking > 0) {
      this.stopAsking();
      this.host.act({ action: 'cancelRun' });
    } else this.asking = window.setTimeout(() => this.stopAsking(), ASK_MS);
    this.draw();
    return true;
  }

  private stopAsking(): void {
    window.clearTimeout(this.asking);
    this.asking = 0;
    this.draw();
  }

  /** How long the run has lasted. It is no part of the status that is read out, which it would fill every second. */
  private drawTime(): void {
    const run = this.details.activeRun;
    const place = this.element.querySelector('.p-time');
    if (!run || !place) return;
    const ms = Math.max(0, Date.now() - Date.parse(run.startedAt));
    const text = duration(ms < 10_000 ? Math.round(ms / 1_000) * 1_000 : ms);
    if (place.textContent !== text) place.textContent = text;
  }

  private status(): TemplateResult | typeof nothing {
    const run = this.details.activeRun;
    if (!run) return nothing;
    const waits = run.state === 'needs_input';
    return html`<div class="p-status">
      <span class="state" role="status"
        >${icon(waits ? 'bell-dot' : 'loading', waits ? 'warn' : 'spin live')}
        ${waits ? t('Waiting for your answer') : t('Running')}${
          this.asking > 0 ? html`<span class="warn">${t('Press Esc again to stop the run.')}</span>` : nothing
        }</span
      >
      <span class="dim num p-time" aria-hidden="true"></span>
      <span class="grow"></span>
      <button
        class="btn second"
        type="button"
        data-act="stop"
        @click=${() => this.host.act({ action: 'cancelRun' })}
      >
        ${icon('debug-stop')}<span>${t('Stop')}</span><kbd aria-hidden="true">Esc</kbd>
      </button>
    </div>`;
  }

  private get running(): boolean {
    return this.details.activeRun !== undefined;
  }

  private input(event: Event): void {
    if (!(event.target instanceof HTMLTextAreaElement)) return;
    this.draft = event.target.value;
    this.message = undefined;
    this.changed();
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void this.send();
  }

  /** Sends the draft; it leaves the box only when it was taken. */
  async send(): Promise<void> {
    const text = this.draft.trim();
    if (text === '' || this.sending) return;
    this.sending = true;
    const wasRunning = this.running;
    const sent = this.draft;
    this.draw();
    try {
      const { delivery } = await this.host.call('send', { text, attachments: [] });
      // What was typed meanwhile stays.
      if (this.draft === sent) this.draft = '';
      const said = {
        prompt: wasRunning ? t('Nothing ran any more; this was sent as a new prompt.') : undefined,
        injected: t('Delivered.'),
        queued: t('Queued: it is sent when the turn ends.'),
        idle: undefined,
      }[delivery];
      this.message = said === undefined ? undefined : { text: said, bad: false };
    } catch (error) {
      const reason = error instanceof CallError ? error.message : String(error);
      this.message = { text: t('Not sent: {0}', reason), bad: true };
    } finally {
      this.sending = false;
      this.changed();
      this.draw();
    }
  }

  private async discard({ interjectionId, text }: Interjection, putBack: boolean): Promise<void> {
    try {
      await this.host.call('discardInterjection', { interjectionId });
      if (putBack) this.draft = this.draft.trim() === '' ? text : `${this.draft}\n\n${text}`;
      this.waiting = this.waiting.filter((item) => item.interjectionId !== interjectionId);
    } catch (error) {
      this.message = { text: error instanceof Error ? error.message : String(error), bad: true };
    }
    this.changed();
    this.draw();
    this.focus();
  }

  private stackItem(item: Interjection): TemplateResult {
    const returned = item.state === 'returned';
    return html`<li>
      <span class="state ${returned ? 'warn' : ''}"
        >${icon(returned ? 'reply' : 'clockface')} ${returned ? t('Returned') : t('Queued')}</span
      >
      <bdi class="clip">${item.text}</bdi>
      <button class="btn quiet" type="button" @click=${() => void this.discard(item, true)}>
        ${returned ? t('Put back') : t('Take back')}
      </button>
      <button
        class="ib"
        type="button"
        aria-label=${t('Discard')}
        title=${t('Discard')}
        @click=${() => void this.discard(item, false)}
      >
        ${icon('close')}
      </button>
    </li>`;
  }

  private draw(): void {
    const { can } = this.details;
    const placeholder = this.running
      ? t('Add to this run. It is delivered at the next safe point, or queued.')
      : t('Prompt the agent');
    const closed = !can.prompt && !this.running;
    const { message } = this;
    const stack =
      this.waiting.length === 0
        ? nothing
        : html`<ul class="stack">
            ${this.waiting.map((item) => this.stackItem(item))}
          </ul>`;
    render(
      html`<div class="p-box">
        ${this.status()}${stack}
        ${
          closed
            ? html`<p class="dim closed">${can.reason ?? ''}</p>`
            : html`<div class="p-field">
                <textarea
                  rows="1"
                  dir="auto"
                  aria-label=${t('Prompt')}
                  placeholder=${placeholder}
                  .value=${live(this.draft)}
                  @input=${(event: Event) => this.input(event)}
                  @keydown=${(event: KeyboardEvent) => this.key(event)}
                ></textarea>
                <div class="p-acts">
                  <span class="p-said ${message?.bad === true ? 'bad' : 'dim'}" role="status"
                    >${message?.text ?? ''}</span
                  >
                  <button
                    class="send"
                    type="button"
                    aria-label=${t('Send')}
                    title=${t('Send')}
                    ?disabled=${this.sending || this.draft.trim() === ''}
                    @click=${() => void this.send()}
                  >
                    ${icon('send')}
                  </button>
                </div>
              </div>`
        }
      </div>`,
      this.element,
    );
    grow(this.element.querySelector('textarea'));
    this.drawTime();
  }
}

const isWaiting = (item: Interjection) =>
  item.state === 'queued' || item.state === 'returned' || item.state === 'pending';

/** As high as its text, up to 40 % of the page. */
function grow(area: HTMLTextAreaElement | null): void {
  if (!area) return;
  area.style.height = 'auto';
  area.style.height = `${String(Math.min(area.scrollHeight + 2, window.innerHeight * 0.4))}px`;
}
