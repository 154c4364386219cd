import * as z from 'zod';
import { type EntryKind, Usage } from '../../protocol/entry.js';
import { AUTO_TITLE_LENGTH } from '../../protocol/session.js';
import { EntryState } from './entry_state.js';
import { oneLine } from './text.js';
import type { IndexedEntry, IndexedTurn, Scan, SessionHead, UsageRecord } from './source.js';

/** A last turn without an end counts as running when the last sign of it is younger than this, in milliseconds. */
export const RUNNING_FRESH_MS = 10 * 60 * 1000;

const MAX_OPEN_CALLS = 256;
const MAX_RECENT_USAGE = 64;
const MAX_FILES = 50;
/** Marks the id of a turn without a prompt: it must not take the id of an entry. */
const IMPLICIT = 't-';

const TurnState = z.object({
  id: z.string(),
  prompt: z.string(),
  at: z.number(),
  endedAt: z.number(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  firstEntryId: z.string(),
  lastEntryId: z.string(),
  tools: z.number(),
  files: z.array(z.string()),
  usage: Usage.exactOptional(),
});
type TurnState = z.infer<typeof TurnState>;

const Title = z.object({ text: z.string(), by: z.enum(['prompt', 'agent', 'user']) });

/** What a fold needs to go on; small JSON. */
export const FoldState = z.object({
  turn: TurnState.exactOptional(),
  last: EntryState.exactOptional(),
  calls: z.array(z.tuple([z.string(), EntryState])),
  recentUsage: z.array(z.tuple([z.string(), Usage])),
  messageCount: z.number(),
  skipped: z.number(),
  hasErrors: z.boolean(),
  usage: Usage.exactOptional(),
  model: z.string().exactOptional(),
  titles: z.array(Title),
  preview: z.string().exactOptional(),
  updatedAt: z.number(),
});
export type FoldState = z.infer<typeof FoldState>;

/** An entry as a source finds it. */
export interface EntryDraft {
  readonly id: string;
  readonly kind: EntryKind;
  readonly at: number;
  readonly status?: EntryState['status'];
  readonly range: readonly [number, number];
  readonly block?: number;
  readonly preview: string;
}

/**
 * Makes entries, turns and totals of the records of one transcript, taken in order. Folding a transcript in pieces
 * gives what folding it at once gives: what was given out and may still change is kept in the state.
 */
export class Fold {
  #turn: TurnState | undefined;
  #last: EntryState | undefined;
  readonly #calls = new Map<string, EntryState>();
  readonly #usageOf = new Map<string, Usage>();
  readonly #entries = new Map<string, EntryState>();
  readonly #turns = new Map<string, TurnState>();
  readonly #usage = new Map<string, UsageRecord>();
  #messageCount = 0;
  #skipped = 0;
  #hasErrors = false;
  #total: Usage | undefined;
  #model: string | undefined;
  #titles: z.infer<typeof Title>[] = [];
  #preview: string | undefined;
  #updatedAt = 0;

  constructor(state?: FoldState) {
    if (!state) return;
    const known = new Map<string, EntryState>();
    const same = (entry: EntryState): EntryState => {
      const before = known.get(entry.id);
      if (before) return before;
      const copy: EntryState = { ...entry, ranges: entry.ranges.map(([from, length]) => [from, length]) };
      known.set(entry.id, copy);
      return copy;
    };
    this.#turn = state.turn && { ...state.turn, files: [...state.turn.files] };
    this.#last = state.last && same(state.last);
    for (const [callId, entry] of state.calls) this.#calls.set(callId, same(entry));
    for (const [id, usage] of state.recentUsage) this.#usageOf.set(id, usage);
    this.#messageCount = state.messageCount;
    this.#skipped = state.skipped;
    this.#hasErrors = state.hasErrors;
    this.#total = state.usage;
    this.#model = state.model;
    this.#titles = [...state.titles];
    this.#preview = state.preview;
    this.#updatedAt = state.updatedAt;
    if (this.#turn?.status === 'running') {
      // What was said of an open turn depends on the hour; it is said again.
      for (const entry of known.values())
        if (entry.turnId === this.#turn.id) this.#entries.set(entry.id, entry);
      this.#turns.set(this.#turn.id, this.#turn);
    }
  }

  get modelName(): string | undefined {
    return this.#model;
  }

  get updatedAt(): number {
    return this.#updatedAt;
  }

  get running(): boolean {
    return this.#turn?.status === 'running';
  }

  get hasTurn(): boolean {
    return this.#turn !== undefined;
  }

  /** A sign of life at a time. */
  seen(at: number): void {
    if (at > this.#updatedAt) this.#updatedAt = at;
  }

  /** Opens a turn with the person's prompt; the one before ends. `titled`: the prompt may name the session. */
  begin(prompt: EntryDraft, titled = true): void {
    this.#close();
    this.#turn = this.#newTurn(prompt);
    this.#put(prompt);
    if (titled && prompt.preview !== '') this.#preview ??= prompt.preview;
  }

  /** Appends an entry. `active`: it is the agent's doing, so a turn that seemed ended goes on. */
  add(draft: EntryDraft, active: boolean): void {
    if (!this.#turn) this.#turn = this.#newTurn(draft);
    else if (active && this.#turn.status !== 'running') this.#turn.status = 'running';
    this.#put(draft);
  }

  /** Appends a tool call (or a plan) that waits for its result. */
  call(callId: string, draft: EntryDraft, files: readonly string[] = []): void {
    this.add({ ...draft, status: draft.status ?? 'in_progress' }, true);
    const turn = this.#turn;
    if (!turn || !this.#last) return;
    turn.tools++;
    for (const file of files) {
      if (turn.files.length < MAX_FILES && !turn.files.includes(file)) turn.files.push(file);
    }
    this.#calls.delete(callId);
    this.#calls.set(callId, this.#last);
    if (this.#calls.size > MAX_OPEN_CALLS) {
      for (const oldest of this.#calls.keys()) {
        this.#calls.delete(oldest);
        break;
      }
    }
  }

  /** Gives a call its result. False when no such call is known. `more`: further records of it may follow. */
  result(
    callId: string,
    range: readonly [number, number],
    status: 'completed' | 'failed' | undefined,
    at: number,
    more = false,
  ): boolean {
    const entry = this.#calls.get(callId);
    if (!entry) return false;
    entry.ranges.push([range[0], range[1]]);
    if (status) entry.status = status;
    if (!more) this.#calls.delete(callId);
    this.#entries.set(entry.id, entry);
    if (this.#turn && at > this.#turn.endedAt) this.#turn.endedAt = at;
    if (this.#turn?.id === entry.turnId) this.#settle();
    return true;
  }

  /** Adds a record to the newest entry, e.g. the summary to its compaction. */
  extend(id: string, range: readonly [number, number], preview?: string): boolean {
    const entry = this.#last?.id === id ? this.#last : undefined;
    if (!entry) return false;
    entry.ranges.push([range[0], range[1]]);
    if (preview) entry.preview = preview;
    this.#entries.set(entry.id, entry);
    return true;
  }

  get lastEntry(): { readonly id: string; readonly kind: EntryKind } | undefined {
    return this.#last;
  }

  /** Ends the turn; its last entry is the boundary as long as nothing follows in the turn. */
  end(status: 'completed' | 'failed' | 'cancelled', at: number): void {
    if (!this.#turn) return;
    this.#turn.status = status;
    if (at > this.#turn.endedAt) this.#turn.endedAt = at;
    this.#settle();
    if (status !== 'completed') this.#dropOpenCalls();
  }

  /** Records what a response used. A later record of the same message replaces the one before. `inTurn`: not off branch. */
  use(record: UsageRecord, inTurn: boolean): void {
    const before = this.#usageOf.get(record.messageId);
    const usage = before ? largest(before, record.usage) : record.usage;
    this.#usageOf.delete(record.messageId);
    this.#usageOf.set(record.messageId, usage);
    this.#usage.set(record.messageId, { ...record, usage });
    this.#total = add(subtract(this.#total, before), usage);
    if (this.#turn && inTurn) {
      this.#turn.usage = add(subtract(this.#turn.usage, before), usage);
      this.#turns.set(this.#turn.id, this.#turn);
    }
  }

  knowsMessage(messageId: string): boolean {
    return this.#usageOf.has(messageId);
  }

  model(name: string): void {
    this.#model = name;
  }

  title(text: string, by: 'agent' | 'user'): void {
    this.#titles = [...this.#titles.filter((title) => title.by !== by), { text, by }];
  }

  failed(): void {
    this.#hasErrors = true;
  }

  /** A line that could not be parsed. */
  skip(): void {
    this.#skipped++;
  }

  /**
   * Forgets the last `count` turns. Only on a fold that began at the start of the transcript.
   * @returns how many entries went.
   */
  dropTurns(count: number): number {
    const ids = [...this.#turns.keys()];
    const prompted = ids.filter((id) => !id.startsWith(IMPLICIT));
    const first = prompted.at(-count) ?? prompted[0];
    const dropped = new Set(first === undefined ? [] : ids.slice(ids.indexOf(first)));
    let entries = 0;
    for (const [id, entry] of this.#entries) {
      if (!dropped.has(entry.turnId)) continue;
      this.#entries.delete(id);
      entries++;
      if (isMessage(entry)) this.#messageCount--;
    }
    for (const [callId, entry] of this.#calls) if (dropped.has(entry.turnId)) this.#calls.delete(callId);
    for (const id of dropped) this.#turns.delete(id);
    this.#turn = [...this.#turns.values()].at(-1);
    this.#last = [...this.#entries.values()].at(-1);
    this.#close();
    return entries;
  }

  /** What came out since the fold began or went on. `mtimeMs`: of the file; `nowMs`: tells whether a turn is running. */
  outcome(mtimeMs: number, nowMs: number): Pick<Scan, 'entries' | 'turns' | 'usage'> {
    const entries = new Map<string, IndexedEntry>();
    for (const [id, entry] of this.#entries) entries.set(id, { ...entry, ranges: [...entry.ranges] });
    const turns = [...this.#turns.values()].map((turn) => indexed(turn));
    const open = this.#turn;
    const alive = this.#updatedAt > 0 ? Math.min(this.#updatedAt, mtimeMs) : mtimeMs;
    if (open?.status === 'running' && nowMs - alive >= RUNNING_FRESH_MS) {
      const last = entries.get(open.lastEntryId);
      const status = last?.kind === 'assistant' ? ('completed' as const) : ('cancelled' as const);
      turns.splice(-1, 1, indexed({ ...open, status }));
      for (const [id, entry] of entries) {
        if (entry.turnId !== open.id) continue;
        if (entry.status === 'in_progress') entries.set(id, { ...entry, status: 'cancelled' });
      }
      const final = entries.get(open.lastEntryId);
      if (final) entries.set(final.id, { ...final, boundary: true });
    }
    return { entries: [...entries.values()], turns, usage: [...this.#usage.values()] };
  }

  totals(offBranch: number): Scan['totals'] {
    const title = this.bestTitle();
    return {
      messageCount: this.#messageCount,
      skipped: this.#skipped,
      offBranch,
      hasErrors: this.#hasErrors,
      updatedAt: this.#updatedAt,
      ...(this.#total && { usage: this.#total }),
      ...(this.#model !== undefined && { model: this.#model }),
      ...(title && { title }),
      ...(this.#preview !== undefined && { preview: this.#preview }),
    };
  }

  bestTitle(): SessionHead['title'] {
    const by = (who: 'agent' | 'user') => this.#titles.find((title) => title.by === who);
    return (
      by('user') ??
      by('agent') ??
      (this.#preview ? { text: oneLine(this.#preview, AUTO_TITLE_LENGTH), by: 'prompt' } : undefined)
    );
  }

  state(): FoldState {
    const recent = [...this.#usageOf].slice(-MAX_RECENT_USAGE);
    return structuredClone({
      ...(this.#turn && { turn: this.#turn }),
      ...(this.#last && { last: this.#last }),
      calls: [...this.#calls],
      recentUsage: recent,
      messageCount: this.#messageCount,
      skipped: this.#skipped,
      hasErrors: this.#hasErrors,
      ...(this.#total && { usage: this.#total }),
      ...(this.#model !== undefined && { model: this.#model }),
      titles: this.#titles,
      ...(this.#preview !== undefined && { preview: this.#preview }),
      updatedAt: this.#updatedAt,
    });
  }

  #newTurn(first: EntryDraft): TurnState {
    const isPrompt = first.kind === 'user';
    return {
      id: isPrompt ? first.id : `${IMPLICIT}${first.id}`,
      prompt: isPrompt ? first.preview : '',
      at: first.at,
      endedAt: first.at,
      status: 'running',
      firstEntryId: first.id,
      lastEntryId: first.id,
      tools: 0,
      files: [],
    };
  }

  #put(draft: EntryDraft): void {
    const turn = this.#turn;
    if (!turn) return;
    const entry: EntryState = {
      id: draft.id,
      turnId: turn.id,
      kind: draft.kind,
      at: draft.at,
      boundary: false,
      ranges: [[draft.range[0], draft.range[1]]],
      preview: draft.preview,
      ...(draft.status && { status: draft.status }),
      ...(draft.block !== undefined && { block: draft.block }),
    };
    if (isMessage(entry)) this.#messageCount++;
    if (this.#last?.turnId === turn.id && this.#last.boundary) {
      this.#last.boundary = false;
      this.#entries.set(this.#last.id, this.#last);
    }
    this.#entries.set(entry.id, entry);
    this.#last = entry;
    turn.lastEntryId = entry.id;
    if (draft.at > turn.endedAt) turn.endedAt = draft.at;
    this.#settle();
  }

  /** Makes the flag of the newest entry fit the state of its turn. */
  #settle(): void {
    const turn = this.#turn;
    if (!turn) return;
    this.#turns.set(turn.id, turn);
    const last = this.#last;
    if (last?.turnId !== turn.id) return;
    const boundary = turn.status !== 'running';
    if (last.boundary === boundary) return;
    last.boundary = boundary;
    this.#entries.set(last.id, last);
  }

  #close(): void {
    if (!this.#turn) return;
    if (this.#turn.status === 'running') this.#turn.status = 'completed';
    this.#settle();
    this.#dropOpenCalls();
  }

  /** Calls of an ended turn got no result; one that comes late is still taken. */
  #dropOpenCalls(): void {
    for (const entry of this.#calls.values()) {
      if (entry.turnId !== this.#turn?.id || entry.status !== 'in_progress') continue;
      entry.status = 'cancelled';
      this.#entries.set(entry.id, entry);
    }
  }
}

function isMessage(entry: { readonly kind: EntryKind }): boolean {
  return entry.kind === 'user' || entry.kind === 'assistant';
}

function indexed(turn: TurnState): IndexedTurn {
  const ended = turn.status !== 'running';
  return {
    id: turn.id,
    prompt: turn.prompt,
    at: turn.at,
    status: turn.status,
    firstEntryId: turn.firstEntryId,
    lastEntryId: turn.lastEntryId,
    tools: turn.tools,
    files: [...turn.files],
    ...(ended && { endedAt: turn.endedAt, boundaryEntryId: turn.lastEntryId }),
    ...(turn.usage && { usage: turn.usage }),
  };
}

const USAGE_KEYS = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const;

function combine(a: Usage | undefined, b: Usage | undefined, how: (x: number, y: number) => number): Usage {
  const sum: Usage = {};
  for (const key of USAGE_KEYS) {
    const x = a?.[key];
    const y = b?.[key];
    if (x !== undefined || y !== undefined) sum[key] = how(x ?? 0, y ?? 0);
  }
  return sum;
}

const add = (a: Usage | undefined, b: Usage) => combine(a, b, (x, y) => x + y);
const subtract = (a: Usage | undefined, b: Usage | undefined) => combine(a, b, (x, y) => Math.max(0, x - y));
const largest = (a: Usage, b: Usage) => combine(a, b, Math.max);
