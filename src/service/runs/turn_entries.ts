import { v7 as uuid } from 'uuid';
import type { PermissionOption } from '../../protocol/acp.js';
import type { ContentBlock, ToolCall } from '../../protocol/content.js';
import { rawBlock, textOf } from '../agents/content.js';
import type { AgentUpdate, ToolPatch } from '../agents/updates.js';
import type { EntryDraft } from '../sessions/transcript.js';

/** A message that grows beyond this goes on in a further entry, so that no write gets larger and larger. */
const MAX_MESSAGE_CHARACTERS = 256 * 1024;
/** Updates of unknown kinds that are kept in one turn; the rest is only counted. */
const MAX_RAW_ENTRIES = 100;

/** Finished tool calls and messages of a turn that can still be updated. */
const MAX_KEPT = 500;

/** What is shown of a command of a call. */
export interface CommandShown {
  readonly text: string;
  readonly exitCode?: number;
  /** Milliseconds since the epoch. */
  readonly endedAt?: number;
  readonly terminalId?: string;
  readonly taskId?: string;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Draft = Mutable<EntryDraft>;
type Ask = NonNullable<EntryDraft['ask']>;

/** Builds the entries of one turn from what the agent says, and tells which of them changed. Pure but for the clock. */
export class TurnEntries {
  private readonly changed = new Map<string, Draft>();
  private readonly tools = new Map<string, Draft>();
  /** Of calls that are commands, the output beside what the command writes. */
  private readonly beside = new Map<string, readonly ContentBlock[]>();
  private readonly messages = new Map<string, Draft>();
  private readonly compactions = new Map<string, Draft>();
  private current: { readonly key: string; readonly draft: Draft } | undefined;
  private readonly asks = new Map<string, Draft>();
  private readonly own: Draft | undefined;
  private plan: Draft | undefined;
  /** The person's texts of this turn: an agent may echo them. */
  private readonly typed: string[] = [];
  private echo = '';
  private pending = 0;
  private raw = 0;
  private unknown = 0;

  /**
   * `prompt` is the turn's first entry. When that is a compaction, what the agent says goes into it: the summary and
   * the agent's own news of its compaction.
   */
  constructor(
    prompt: EntryDraft,
    private readonly now: () => Date = () => new Date(),
  ) {
    if (prompt.kind === 'compaction') this.own = { ...prompt };
    else this.typed.push(textOf(prompt.content));
  }

  /** Characters that came since the last `take`. */
  get pendingCharacters(): number {
    return this.pending;
  }

  /** What the compaction that this turn is says so far. */
  get summary(): readonly ContentBlock[] {
    return this.own?.content ?? [];
  }

  /** Updates of a kind that is not known. */
  get unknownUpdates(): number {
    return this.unknown;
  }

  /** Characters of the message that is growing now. */
  get growingCharacters(): number {
    return this.current ? textOf(this.current.draft.content).length : 0;
  }

  /** The entries that are new or changed since the last call, in the order of their first appearance. */
  take(): EntryDraft[] {
    const drafts = [...this.changed.values()].map((draft) => ({ ...draft, content: [...draft.content] }));
    this.changed.clear();
    this.pending = 0;
    forgetFinished(this.tools);
    forgetFinished(this.messages);
    return drafts;
  }

  /** Takes an update in. Updates that are not about entries (`info`, `usage`, `settings`) change nothing. */
  apply(update: AgentUpdate, raw?: unknown): void {
    switch (update.type) {
      case 'message':
        this.message(update.role, update.content, update.messageId);
        break;
      case 'tool':
        this.tool(update.patch);
        break;
      case 'plan':
        this.finishMessage();
        this.plan ??= this.add({ kind: 'plan', content: [] });
        this.plan.plan = [...update.items];
        this.touch(this.plan);
        break;
      case 'notice':
        this.notice(update.severity, update.text);
        break;
      case 'compaction':
        this.compaction(update);
        break;
      case 'compaction_chunk': {
        const draft = this.compactions.get(update.compactionId);
        if (draft) this.appendBlock(draft, update.content);
        break;
      }
      case 'unknown':
        this.unknown += 1;
        if (this.raw >= MAX_RAW_ENTRIES) break;
        this.raw += 1;
        this.finishMessage();
        this.add({ kind: 'raw', content: [rawBlock(raw, `unknown update ${update.name}`)] });
        break;
      case 'info':
      case 'usage':
      case 'settings':
      case 'subagent':
        break;
    }
  }

  /** Text that the person added to the running turn. */
  interjected(text: string): void {
    this.typed.push(text);
    this.finishMessage();
    this.add({ kind: 'user', content: [{ type: 'text', text }], interjection: true });
  }

  /** A message of the service itself, or of the agent about itself. */
  notice(severity: 'info' | 'warning' | 'error', text: string): void {
    this.finishMessage();
    this.add({ kind: 'notice', severity, content: [{ type: 'text', text }] });
  }

  /** Shows a permission that is asked for. Returns its entry's id. */
  permission(title: string, options: readonly PermissionOption[]): string {
    this.finishMessage();
    const draft = this.add({
      kind: 'permission',
      status: 'in_progress',
      content: [{ type: 'text', text: title }],
      ask: { options: options.map(({ optionId, name, kind }) => ({ id: optionId, name, kind })) },
    });
    this.asks.set(draft.id, draft);
    return draft.id;
  }

  /** Shows a form or an address that the agent asks for. Returns its entry's id. */
  question(message: string, asked: Pick<Ask, 'fields' | 'url'>): string {
    this.finishMessage();
    const draft = this.add({
      kind: 'question',
      status: 'in_progress',
      content: [{ type: 'text', text: message }],
      ask: { options: [], ...asked },
    });
    this.asks.set(draft.id, draft);
    return draft.id;
  }

  /** Records the answer of a permission or a question; undefined when it was cancelled. */
  answered(entryId: string, answer: string | undefined, fields?: Ask['fields']): void {
    const draft = this.asks.get(entryId);
    if (!draft) return;
    draft.status = answer === undefined ? 'cancelled' : 'completed';
    if (draft.ask && answer !== undefined)
      draft.ask = { ...draft.ask, answer, ...(fields ? { fields } : {}) };
    this.touch(draft);
  }

  /** Closes what is still open: a message is complete, a tool call or compaction that did not end has not succeeded. */
  finish(outcome: 'completed' | 'cancelled' | 'failed'): void {
    if (this.echo !== '') this.flushEcho();
    this.finishMessage();
    for (const draft of [...this.messages.values()]) this.close(draft);
    for (const draft of this.tools.values())
      if (draft.tool && (draft.tool.status === 'pending' || draft.tool.status === 'in_progress')) {
        draft.tool = { ...draft.tool, status: 'failed' };
        draft.status = outcome === 'completed' ? 'failed' : outcome;
        this.touch(draft);
      }
    for (const draft of this.compactions.values())
      if (draft !== this.own && draft.status === 'in_progress') {
        draft.status = outcome === 'cancelled' ? 'cancelled' : 'failed';
        this.touch(draft);
      }
    for (const id of this.asks.keys())
      if (this.asks.get(id)?.status === 'in_progress') this.answered(id, undefined);
  }

  /** Ends the compaction that this turn is. */
  compacted(
    outcome: 'completed' | 'cancelled' | 'failed',
    result: { tokensBefore?: number; tokensAfter?: number; error?: string },
  ): void {
    if (!this.own) return;
    this.own.status = outcome;
    this.own.compaction = { ...this.own.compaction, ...result };
    this.touch(this.own);
  }

  private message(
    role: 'user' | 'assistant' | 'thought',
    block: ContentBlock,
    messageId: string | undefined,
  ): void {
    if (role === 'user') {
      const text = textOf([block]);
      this.echo += text;
      if (this.typed.some((typed) => typed.trim().startsWith(this.echo.trim()))) return;
      this.flushEcho();
      return;
    }
    if (this.own && role === 'assistant') this.appendBlock(this.own, block);
    else this.grow(role, block, messageId);
  }

  /** What the agent told as the person's words is not what was typed here: it is shown. */
  private flushEcho(): void {
    const text = this.echo;
    this.echo = '';
    if (this.typed.some((typed) => typed.trim().startsWith(text.trim()))) return;
    this.grow('user', { type: 'text', text }, undefined);
  }

  private grow(
    kind: 'user' | 'assistant' | 'thought',
    block: ContentBlock,
    messageId: string | undefined,
  ): void {
    const key = `${kind} ${messageId ?? ''}`;
    if (this.current && this.current.key !== key) this.finishMessage();
    const known = messageId === undefined ? this.current?.draft : this.messages.get(key);
    let draft = known ?? this.add({ kind, status: 'in_progress', content: [] });
    if (textOf(draft.content).length >= MAX_MESSAGE_CHARACTERS) {
      this.close(draft);
      draft = this.add({ kind, status: 'in_progress', content: [] });
    }
    draft.status = 'in_progress';
    if (messageId !== undefined) this.messages.set(key, draft);
    this.current = { key, draft };
    this.appendBlock(draft, block);
  }

  private appendBlock(draft: Draft, block: ContentBlock): void {
    const last = draft.content.at(-1);
    const text = block.type === 'text' ? block.text : '';
    draft.content =
      last?.type === 'text' && block.type === 'text'
        ? [...draft.content.slice(0, -1), { type: 'text', text: last.text + text }]
        : [...draft.content, block];
    this.pending += text.length + 100;
    this.touch(draft);
  }

  private finishMessage(): void {
    if (!this.current) return;
    this.close(this.current.draft);
    this.current = undefined;
  }

  private close(draft: Draft): void {
    if (draft.status === 'completed') return;
    draft.status = 'completed';
    this.touch(draft);
  }

  /** Merges a call and its updates into one entry. Returns the call as it is now. */
  tool(patch: ToolPatch): ToolCall {
    let draft = this.tools.get(patch.callId);
    if (!draft) {
      this.finishMessage();
      draft = this.add({ kind: 'tool', content: [] });
      this.tools.set(patch.callId, draft);
    }
    const before = draft.tool;
    const kind = patch.kind ?? before?.kind ?? 'other';
    const name = patch.name ?? before?.name ?? kind;
    const status = patch.status ?? before?.status ?? 'pending';
    const done = status === 'completed' || status === 'failed';
    draft.tool = {
      ...before,
      callId: patch.callId,
      name,
      title: oneLine(patch.title ?? before?.title ?? name),
      kind,
      status,
      ...(patch.input === undefined ? {} : { input: patch.input }),
      ...(patch.output ? { output: this.outputOf(patch.callId, patch.output, before) } : {}),
      ...(patch.exitCode === undefined ? {} : { exitCode: patch.exitCode }),
      ...(patch.locations ? { locations: [...patch.locations] } : {}),
      ...(patch.diffs ? { diffs: [...patch.diffs] } : {}),
      ...(done && before && before.durationMs === undefined
        ? { durationMs: Math.max(0, this.now().getTime() - Date.parse(draft.at)) }
        : {}),
    };
    draft.status = status === 'pending' ? 'in_progress' : status;
    this.pending += 500;
    this.touch(draft);
    return draft.tool;
  }

  /**
   * Shows what the command of a call has written so far as the call's result. Returns the entry as it is now; undefined
   * when there is no such call.
   */
  command(callId: string, shown: CommandShown): EntryDraft | undefined {
    const draft = this.tools.get(callId);
    if (!draft?.tool) return undefined;
    const { text, exitCode, endedAt, terminalId, taskId } = shown;
    const beside = this.beside.get(callId) ?? [];
    this.beside.set(callId, beside);
    draft.tool = {
      ...draft.tool,
      output: [...beside, { type: 'text', text }],
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(endedAt === undefined ? {} : { durationMs: Math.max(0, endedAt - Date.parse(draft.at)) }),
      ...(terminalId === undefined ? {} : { terminalId }),
      ...(taskId === undefined ? {} : { taskId }),
    };
    this.pending += 500;
    this.touch(draft);
    return { ...draft };
  }

  /** What a patch tells of a command is beside what the command itself writes. */
  private outputOf(
    callId: string,
    told: readonly ContentBlock[],
    before: ToolCall | undefined,
  ): ContentBlock[] {
    if (!this.beside.has(callId)) return [...told];
    this.beside.set(callId, told);
    const written = before?.output?.at(-1);
    return written ? [...told, written] : [...told];
  }

  private compaction(update: Extract<AgentUpdate, { type: 'compaction' }>): void {
    let draft = this.compactions.get(update.compactionId) ?? this.own;
    if (!draft) {
      this.finishMessage();
      draft = this.add({ kind: 'compaction', content: [], compaction: { trigger: 'auto' } });
    }
    this.compactions.set(update.compactionId, draft);
    // Of our own compaction the answer of its turn is the end.
    if (draft !== this.own) draft.status = update.status;
    if (update.summary) draft.content = [...update.summary];
    if (update.error !== undefined) draft.compaction = { ...draft.compaction, error: update.error };
    this.touch(draft);
  }

  private add(draft: Omit<EntryDraft, 'id' | 'at'>): Draft {
    const added: Draft = { id: uuid(), at: this.now().toISOString(), ...draft };
    this.touch(added);
    return added;
  }

  private touch(draft: Draft): void {
    this.changed.set(draft.id, draft);
  }
}

/** Keeps memory bounded in a turn of thousands of calls: what was finished long ago is not expected to change again. */
function forgetFinished(drafts: Map<string, Draft>): void {
  for (const [key, { status }] of drafts) {
    if (drafts.size <= MAX_KEPT) return;
    if (status === 'completed' || status === 'failed') drafts.delete(key);
  }
}

/** The first line, at most 500 characters. */
function oneLine(text: string): string {
  return (text.trim().split('\n', 1)[0] ?? '').slice(0, 500);
}
