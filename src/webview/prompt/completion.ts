import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { AvailableCommand, Tooling } from '../../protocol/controls.js';
import { icon } from '../entries/parts.js';
import type { Host } from '../host.js';
import { t } from '../texts.js';

/** How long the letters of a file's name must rest before it is looked for. */
const REST_MS = 150;
const SHOWN = 50;

type File = { readonly path: string; readonly uri: string };
type Session = { readonly title: string; readonly uri: string };
type Item =
  | { readonly kind: 'command'; readonly command: AvailableCommand }
  | { readonly kind: 'file'; readonly file: File }
  | { readonly kind: 'session'; readonly session: Session }
  /** The agent has told no commands, because it does not run. */
  | { readonly kind: 'start' };

/** What is completed: the text from `from` to the caret. */
interface Token {
  readonly kind: 'command' | 'file';
  readonly from: number;
  readonly query: string;
}

export interface CompletionParts {
  readonly host: Host;
  tooling(): Tooling | undefined;
  /** Puts text into the box in place of what was typed, and the caret after it. */
  insert(from: number, to: number, text: string): void;
  mention(file: File, mention: string): void;
  attach(uri: string): void;
  startAgent(): void;
  draw(): void;
}

/** The word before the caret that can be completed. */
function tokenAt(text: string, caret: number): Token | undefined {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command) return { kind: 'command', from: 0, query: command[1] ?? '' };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (!file) return undefined;
  return { kind: 'file', from: caret - (file[1] ?? '').length - 1, query: file[1] ?? '' };
}

/** The list over the prompt box: commands after `/` at the start, files after `@`. */
export class Completion {
  private token: Token | undefined;
  private items: readonly Item[] = [];
  private active = 0;
  private caret = 0;
  private timer = 0;
  /** Grows with every look for files: an older answer is dropped. */
  private look = 0;
  /** Closed with Esc: stays away until another word begins. */
  private dismissed: number | undefined;

  constructor(private readonly parts: CompletionParts) {}

  get isOpen(): boolean {
    return this.items.length > 0;
  }

  /** Id of the row that Enter takes; for `aria-activedescendant`. */
  get activeId(): string | undefined {
    return this.isOpen ? `complete-${String(this.active)}` : undefined;
  }

  /** The text or the caret changed. */
  follow(text: string, caret: number): void {
    const token = tokenAt(text, caret);
    this.caret = caret;
    if (!token || token.from !== this.dismissed) this.dismissed = undefined;
    if (token?.kind !== this.token?.kind || token?.query !== this.token?.query) this.active = 0;
    this.token = token;
    window.clearTimeout(this.timer);
    if (!token || token.from === this.dismissed) {
      this.show([]);
      return;
    }
    if (token.kind === 'command') this.show(this.commands(token.query));
    else this.timer = window.setTimeout(() => void this.findFiles(token), REST_MS);
  }

  /** The agent told more. */
  refresh(): void {
    if (this.token?.kind === 'command' && this.token.from !== this.dismissed)
      this.show(this.commands(this.token.query));
  }

  close(): void {
    this.dismissed = this.token?.from;
    window.clearTimeout(this.timer);
    this.show([]);
  }

  /** True when the key was for the list. */
  key(key: string): boolean {
    if (!this.isOpen) return false;
    const last = this.items.length - 1;
    if (key === 'ArrowDown') this.active = this.active === last ? 0 : this.active + 1;
    else if (key === 'ArrowUp') this.active = this.active === 0 ? last : this.active - 1;
    else if (key === 'Escape') this.close();
    else if (key === 'Enter' || key === 'Tab') this.take(this.items[this.active]);
    else return false;
    this.parts.draw();
    document.getElementById(this.activeId ?? '')?.scrollIntoView({ block: 'nearest' });
    return true;
  }

  /** The hint of the command that the text begins with and has nothing behind. */
  hint(text: string): string | undefined {
    const name = /^\/(\S+)\s*$/.exec(text)?.[1];
    return this.parts.tooling()?.commands.find((command) => command.name === name)?.input?.hint;
  }

  list(): TemplateResult | typeof nothing {
    if (!this.isOpen) return nothing;
    const label = this.token?.kind === 'file' ? t('Files and sessions') : t('Commands');
    return html`<div class="complete">
      <ul id="complete" role="listbox" aria-label=${label}>
        ${this.items.map((item, index) => this.row(item, index))}
      </ul>
      <span class="sr" role="status">${t('{0} suggestions', this.items.length)}</span>
    </div>`;
  }

  private row(item: Item, index: number): TemplateResult {
    return html`<li
      id=${`complete-${String(index)}`}
      role="option"
      aria-selected=${index === this.active}
      @mousedown=${(event: Event) => event.preventDefault()}
      @click=${() => {
        this.take(item);
        this.parts.draw();
      }}
    >
      ${content(item)}
    </li>`;
  }

  private commands(query: string): Item[] {
    const tooling = this.parts.tooling();
    const wanted = query.toLowerCase();
    const fit = (tooling?.commands ?? []).filter(({ name }) => name.toLowerCase().includes(wanted));
    fit.sort(
      (a, b) =>
        Number(b.name.toLowerCase().startsWith(wanted)) - Number(a.name.toLowerCase().startsWith(wanted)),
    );
    // The whole name was typed: there is nothing to complete, and Enter sends.
    if (fit.length === 1 && fit[0]?.name === query) return [];
    if (fit.length === 0 && query === '' && tooling?.live === false) return [{ kind: 'start' }];
    return fit.slice(0, SHOWN).map((command) => ({ kind: 'command', command }));
  }

  private async findFiles(token: Token): Promise<void> {
    const look = (this.look += 1);
    try {
      const { files, sessions } = await this.parts.host.call('files', { query: token.query });
      if (look !== this.look || this.token !== token || token.from === this.dismissed) return;
      this.show([
        ...files.map((file) => ({ kind: 'file' as const, file })),
        ...sessions.map((session) => ({ kind: 'session' as const, session })),
      ]);
    } catch {
      // A name can be typed without help.
      if (look === this.look) this.show([]);
    }
  }

  private show(items: readonly Item[]): void {
    if (items.length === 0 && !this.isOpen) return;
    this.items = items;
    this.active = Math.min(this.active, Math.max(0, items.length - 1));
    this.parts.draw();
  }

  private take(item: Item | undefined): void {
    const { token, caret } = this;
    if (!item || !token) return;
    if (item.kind === 'start') {
      this.parts.startAgent();
      return;
    }
    this.items = [];
    if (item.kind === 'command') this.parts.insert(token.from, caret, `/${item.command.name} `);
    else if (item.kind === 'session') {
      // A title is no name that the agent knows: the transcript goes along as a file.
      this.parts.insert(token.from, caret, '');
      this.parts.attach(item.session.uri);
    } else {
      const mention = `@${item.file.path}`;
      this.parts.insert(token.from, caret, `${mention} `);
      this.parts.mention(item.file, mention);
    }
  }
}

function content(item: Item): TemplateResult {
  if (item.kind === 'start')
    return html`${icon('play')}<span>${t('Start the agent to see its commands')}</span>`;
  if (item.kind === 'file') {
    const { path } = item.file;
    const at = path.lastIndexOf('/');
    return html`${icon('file')}<bdi>${path.slice(at + 1)}</bdi
      ><bdi class="dim clip">${path.slice(0, Math.max(0, at))}</bdi>`;
  }
  if (item.kind === 'session')
    return html`${icon('comment-discussion')}<bdi class="clip">${item.session.title}</bdi>`;
  const { name, description, input } = item.command;
  return html`<bdi class="mono">/${name}</bdi>
    ${input ? html`<bdi class="dim clip hint">${input.hint}</bdi>` : nothing}
    <span class="dim clip" dir="auto">${description}</span>`;
}
