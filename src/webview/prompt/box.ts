import { html, nothing, render, type TemplateResult } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type { BooleanOption } from '../../protocol/choices.js';
import type { Tooling } from '../../protocol/controls.js';
import type { Interjection } from '../../protocol/deck.js';
import type { SessionDetails } from '../../protocol/session.js';
import type { ReadingPlace, ToPage } from '../../protocol/webview.js';
import { icon } from '../entries/parts.js';
import type { Host } from '../host.js';
import { t } from '../texts.js';
import { tick } from '../ticks.js';
import { Attachments, isAttachable } from './attachments.js';
import { Completion } from './completion.js';
import { controls } from './controls.js';
import { Followups } from './followups.js';
import { byAge, isWaiting, stack } from './stack.js';
import { status } from './status.js';

/** How long the question of the first Esc stands. */
const ASK_MS = 3_000;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

export interface BoxEvents {
  /** What is to be kept over a reload changed. */
  changed(): void;
  /** Undefined while no question waits. */
  goToQuestion(): (() => void) | undefined;
}

/** Where a person writes: a prompt when nothing runs, an addition to the run when something does. */
export class PromptBox {
  private waiting: readonly Interjection[] = [];
  private sending = false;
  private message: { text: string; bad: boolean } | undefined;
  private asking = 0;
  private tooling: Tooling | undefined;
  /** A choice of the agent's controls is on its way. */
  private busy: 'starting' | 'setting' | undefined;
  private trusted = true;
  readonly attachments: Attachments;
  readonly followups: Followups;
  private readonly completion: Completion;
  draft = '';

  constructor(
    private readonly host: Host,
    private readonly element: HTMLElement,
    private details: SessionDetails,
    private readonly events: BoxEvents,
  ) {
    this.attachments = new Attachments(
      host,
      () => this.changed(),
      (problem) => this.say(problem, true),
    );
    this.followups = new Followups(
      host,
      (text) => this.fill(text),
      () => this.changed(),
    );
    this.completion = new Completion({
      host,
      tooling: () => this.tooling,
      insert: (from, to, text) => this.insert(from, to, text),
      mention: ({ path, uri }, mention) =>
        this.attachments.take({
          attachments: [{ kind: 'link', id: mention, name: path, uri, mention }],
          problems: [],
        }),
      attach: (uri) => void this.attachments.attach([uri]),
      startAgent: () => void this.startAgent(),
      draw: () => this.draw(),
    });
    this.draw();
    window.setInterval(() => tick(document), 1_000);
    this.handleDrops();
  }

  setDetails(details: SessionDetails): void {
    if (details.activeRun && !this.details.activeRun) this.followups.clear();
    this.details = details;
    this.draw();
  }

  setTrusted(trusted: boolean): void {
    this.trusted = trusted;
    this.draw();
  }

  /** A catalogue; an older one than is known does not count. */
  setTooling(tooling: Tooling): void {
    if (this.tooling && tooling.generation < this.tooling.generation) return;
    this.tooling = tooling;
    this.completion.refresh();
    this.draw();
  }

  /** How far a choice in the editor's list is. */
  setControls({ starting, problem }: Extract<ToPage, { kind: 'controls' }>): void {
    this.busy = starting ? 'starting' : undefined;
    if (problem !== undefined) this.say(problem, true);
    this.draw();
  }

  setInterjections(all: readonly Interjection[]): void {
    this.waiting = all.filter(isWaiting).sort(byAge);
    this.draw();
  }

  setInterjection(one: Interjection): void {
    const others = this.waiting.filter((item) => item.interjectionId !== one.interjectionId);
    const known = others.length < this.waiting.length;
    this.waiting = isWaiting(one) ? [...others, one].sort(byAge) : others;
    if (known && one.state === 'injected') this.say(t('Delivered.'), false);
    // "Queued" is not so any more.
    else if (one.state === 'returned' && this.message?.bad === false) this.message = undefined;
    this.draw();
  }

  /** What was written before a reload. */
  restore(kept: Pick<ReadingPlace, 'draft' | 'attachments' | 'noFollowups'> | undefined): void {
    this.draft = kept?.draft ?? '';
    this.followups.off = kept?.noFollowups === true;
    this.attachments.restore(kept?.attachments ?? []);
    this.draw();
  }

  /** Puts a text into an empty box, or below what is there, for the person to send. */
  fill(text: string): void {
    this.draft = this.draft.trim() === '' ? text : `${this.draft}\n\n${text}`;
    this.message = undefined;
    this.changed();
    this.focus();
  }

  focus(): void {
    this.area?.focus();
  }

  /** Closes the list over the box, else asks once and then stops the run. False when there is neither. */
  stop(): boolean {
    if (this.completion.isOpen) {
      this.completion.close();
      return true;
    }
    if (!this.running) return false;
    if (this.asking > 0) {
      this.stopAsking();
      this.host.act({ action: 'cancelRun' });
    } else this.asking = window.setTimeout(() => this.stopAsking(), ASK_MS);
    this.draw();
    return true;
  }

  private get area(): HTMLTextAreaElement | null {
    return this.element.querySelector('textarea');
  }

  private get running(): boolean {
    return this.details.activeRun !== undefined;
  }

  private stopAsking(): void {
    window.clearTimeout(this.asking);
    this.asking = 0;
    this.draw();
  }

  say(text: string, bad: boolean): void {
    this.message = { text, bad };
    this.draw();
  }

  private changed(): void {
    this.events.changed();
    this.draw();
  }

  private input(event: Event): void {
    if (!(event.target instanceof HTMLTextAreaElement)) return;
    this.draft = event.target.value;
    this.message = undefined;
    this.followups.clear();
    this.completion.follow(this.draft, event.target.selectionStart);
    this.changed();
  }

  /** The caret went elsewhere without a change. */
  private moved(event: Event): void {
    if (!this.completion.isOpen || !(event.target instanceof HTMLTextAreaElement)) return;
    this.completion.follow(this.draft, event.target.selectionStart);
  }

  private insert(from: number, to: number, text: string): void {
    this.draft = this.draft.slice(0, from) + text + this.draft.slice(to);
    this.changed();
    this.focus();
    this.area?.setSelectionRange(from + text.length, from + text.length);
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (!event.shiftKey && !event.ctrlKey && !event.metaKey && this.completion.key(event.key)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    void this.send();
  }

  private handleDrops(): void {
    const over = (event: DragEvent) => {
      if (!isAttachable(event.dataTransfer)) return;
      event.preventDefault();
      this.element.classList.toggle('dropping', event.type !== 'dragleave');
    };
    this.element.addEventListener('dragenter', over);
    this.element.addEventListener('dragover', over);
    this.element.addEventListener('dragleave', over);
    this.element.addEventListener('drop', (event) => {
      if (!event.dataTransfer || !isAttachable(event.dataTransfer)) return;
      event.preventDefault();
      this.element.classList.remove('dropping');
      void this.attachments.drop(event.dataTransfer);
    });
  }

  private async startAgent(): Promise<void> {
    if (this.busy) return;
    this.busy = 'starting';
    this.draw();
    try {
      this.setTooling((await this.host.call('openAgent', {})).tooling);
    } catch (error) {
      this.say(messageOf(error), true);
    } finally {
      this.busy = undefined;
      this.completion.refresh();
      this.draw();
    }
  }

  private async setOption({ id, currentValue }: BooleanOption): Promise<void> {
    this.busy = 'setting';
    this.draw();
    try {
      const { tooling } = await this.host.call('setOption', { configId: id, value: !currentValue });
      this.setTooling(tooling);
    } catch (error) {
      this.say(messageOf(error), true);
    } finally {
      this.busy = undefined;
      this.draw();
    }
  }

  /** Why what is in the box cannot be sent as it is. */
  private get refusal(): string | undefined {
    const images = this.attachments.all.some(({ kind }) => kind === 'image');
    if (!images || this.running || this.tooling?.prompt?.image !== false) return undefined;
    return t('This agent takes no pictures. Remove them to send the prompt.');
  }

  /** Sends the draft; it leaves the box only when it was taken. */
  async send(): Promise<void> {
    const text = this.draft.trim();
    const wasRunning = this.running;
    // A run takes text only: what is attached waits for the next prompt.
    const attachments = wasRunning ? [] : this.attachments.of(text);
    if ((text === '' && attachments.length === 0) || this.sending || this.refusal !== undefined) return;
    this.sending = true;
    const sent = this.draft;
    this.completion.close();
    this.followups.clear();
    this.draw();
    try {
      const { delivery } = await this.host.call('send', { text, attachments });
      // What was typed meanwhile stays.
      if (this.draft === sent) this.draft = '';
      if (!wasRunning) this.attachments.clear();
      const said = {
        prompt: wasRunning ? t('Nothing ran any more; this was sent as a new prompt.') : undefined,
        injected: t('Delivered.'),
        queued: t('Queued: it is sent when the turn ends.'),
        idle: undefined,
      }[delivery];
      this.message = said === undefined ? undefined : { text: said, bad: false };
    } catch (error) {
      this.message = { text: t('Not sent: {0}', messageOf(error)), bad: true };
    } finally {
      this.sending = false;
      this.changed();
    }
  }

  private async discard({ interjectionId, text }: Interjection, putBack: boolean): Promise<void> {
    try {
      await this.host.call('discardInterjection', { interjectionId });
      if (putBack) this.fill(text);
      this.waiting = this.waiting.filter((item) => item.interjectionId !== interjectionId);
    } catch (error) {
      this.message = { text: messageOf(error), bad: true };
    }
    this.changed();
    this.focus();
  }

  /** What stands between the text and the row below it: what went wrong, else what is good to know. */
  private said(): { text: string; bad: boolean } | undefined {
    if (this.busy === 'starting') return { text: t('Starting the agent…'), bad: false };
    if (this.refusal !== undefined) return { text: this.refusal, bad: true };
    if (this.message) return this.message;
    if (this.running && this.attachments.shown.length > 0)
      return { text: t('A run takes text only; what is attached waits in the box.'), bad: false };
    const hint = this.completion.hint(this.draft);
    return hint === undefined ? undefined : { text: hint, bad: false };
  }

  private draw(): void {
    const { can } = this.details;
    const closed = !can.prompt && !this.running;
    render(
      html`<div class="p-box">
        ${status(this.details.activeRun, this.asking > 0, {
          stop: () => this.host.act({ action: 'cancelRun' }),
          goToQuestion: this.events.goToQuestion(),
        })}${stack(this.waiting, (item, putBack) => void this.discard(item, putBack))}
        ${this.running ? nothing : this.followups.chips()}
        ${closed ? html`<p class="dim closed">${can.reason ?? ''}</p>` : this.field()}
      </div>`,
      this.element,
    );
    tick(this.element);
  }

  private field(): TemplateResult {
    const kind = this.details.activeRun?.kind;
    const placeholder =
      kind === undefined
        ? t('Prompt the agent. / for commands, @ for files and sessions')
        : kind === 'compaction'
          ? t('It is sent when the compaction has ended.')
          : t('Add to this run. It is delivered at the next safe point, or queued.');
    const said = this.said();
    const empty = this.draft.trim() === '' && (this.running || this.attachments.shown.length === 0);
    const { activeId } = this.completion;
    return html`<div class="p-field">
      ${this.completion.list()}${this.attachments.chips(new Set(this.refusal === undefined ? [] : ['image']))}
      <textarea
        rows="1"
        dir="auto"
        aria-label=${t('Prompt')}
        aria-autocomplete="list"
        aria-controls=${activeId === undefined ? nothing : 'complete'}
        aria-activedescendant=${activeId ?? nothing}
        placeholder=${placeholder}
        .value=${live(this.draft)}
        @input=${(event: Event) => this.input(event)}
        @click=${(event: Event) => this.moved(event)}
        @keyup=${(event: Event) => this.moved(event)}
        @blur=${() => this.completion.close()}
        @paste=${(event: ClipboardEvent) => {
          if (this.attachments.paste(event.clipboardData)) event.preventDefault();
        }}
        @keydown=${(event: KeyboardEvent) => this.key(event)}
      ></textarea>
      <p class="p-said ${said?.bad === true ? 'bad' : 'dim'}" role="status" dir="auto">${said?.text ?? ''}</p>
      <div class="p-acts">
        <button
          class="ib"
          type="button"
          aria-label=${t('Attach files or pictures')}
          title=${t('Attach files or pictures')}
          @click=${() => this.host.act({ action: 'pickFiles' })}
        >
          ${icon('attach')}
        </button>
        ${controls(this.host, this.tooling, this.busy !== undefined || !this.trusted, (option) => void this.setOption(option))}
        <span class="grow"></span>
        <button
          class="send"
          type="button"
          aria-label=${t('Send')}
          title=${t('Send')}
          ?disabled=${this.sending || empty || this.refusal !== undefined}
          @click=${() => void this.send()}
        >
          ${icon('send')}
        </button>
      </div>
    </div>`;
  }
}
