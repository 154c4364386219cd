import { v7 as uuid } from 'uuid';
import type { Entry, Usage } from '../../protocol/entry.js';
import { DomainError } from '../../protocol/errors.js';
import type { EntryBody } from '../sources/source.js';
import type { EntryRecord, SessionData, TurnRecord } from './data.js';
import type { SessionRecord } from './record.js';
import type { Shelf } from './shelf.js';
import { oneLine, shorten, titleFromPrompt } from './titles.js';
import type { EntryDraft, TranscriptWriter } from './transcript.js';
import type { TranscriptChange } from './watchers.js';

/** Characters of a preview. */
export const PREVIEW = 200;
const MAX_FILES = 500;
const changesFiles = new Set(['edit', 'delete', 'move']);

/** Tells the watchers of a transcript what changed in it. */
export type Publish = (sessionId: string, change: TranscriptChange) => void;

/** Entries that we write ourselves: those of the turns that an agent runs for us. */
export class Transcripts implements TranscriptWriter {
  constructor(
    private readonly data: SessionData,
    private readonly shelf: Shelf,
    private readonly publish: Publish,
  ) {}

  beginTurn(sessionId: string, prompt: EntryDraft): { turnId: string } {
    const session = this.shelf.current(sessionId);
    const [last] = this.data.turns(sessionId, session.generation, session.turnCount, 1);
    if (last?.own === true && last.status === 'running')
      throw new DomainError('turn_in_progress', 'A turn is running in this session.');
    const revision = session.revision + 1;
    const at = Date.parse(prompt.at);
    const text = textOf(prompt);
    const turn: TurnRecord = {
      id: uuid(),
      number: session.turnCount + 1,
      prompt: shorten(oneLine(text.slice(0, 10_000)), PREVIEW),
      at,
      status: 'running',
      firstOrdinal: session.entryCount,
      lastOrdinal: session.entryCount,
      tools: 0,
      files: [],
      own: true,
    };
    const row = toRecord(prompt, { ordinal: session.entryCount, turnId: turn.id, revision, boundary: false });
    const title = session.title ?? titled(titleFromPrompt(text));
    const preview = session.preview ?? (turn.prompt === '' ? undefined : turn.prompt);
    this.commit(
      session,
      {
        ...session,
        revision,
        entryCount: session.entryCount + 1,
        turnCount: turn.number,
        messageCount: (session.messageCount ?? 0) + countMessages([row]),
        updatedAt: Math.max(session.updatedAt, at),
        empty: false,
        ...(title === undefined ? {} : { title }),
        ...(preview === undefined ? {} : { preview }),
      },
      [row],
      turn,
      { appended: [row.id], replaced: [] },
    );
    return { turnId: turn.id };
  }

  write(sessionId: string, turnId: string, entries: readonly EntryDraft[]): void {
    if (entries.length === 0) return;
    const session = this.shelf.current(sessionId);
    const turn = this.turn(session, turnId);
    const revision = session.revision + 1;
    const rows = new Map<string, EntryRecord>();
    const appended: string[] = [];
    let next = session.entryCount;
    for (const draft of entries) {
      const known = rows.get(draft.id) ?? this.data.entry(sessionId, session.generation, draft.id);
      const place = known
        ? { ordinal: known.ordinal, turnId: known.turnId, revision, boundary: known.boundary }
        : { ordinal: next, turnId, revision, boundary: false };
      if (!known) {
        next += 1;
        appended.push(draft.id);
      }
      rows.set(draft.id, toRecord(draft, place));
    }
    const fresh = appended.flatMap((id) => rows.get(id) ?? []);
    const now = Date.now();
    this.commit(
      session,
      {
        ...session,
        revision,
        entryCount: next,
        messageCount: (session.messageCount ?? 0) + countMessages(fresh),
        hasErrors: session.hasErrors || [...rows.values()].some(({ status }) => status === 'failed'),
        updatedAt: Math.max(session.updatedAt, now),
      },
      [...rows.values()],
      {
        ...turn,
        lastOrdinal: appended.length > 0 ? next - 1 : turn.lastOrdinal,
        tools: turn.tools + fresh.filter(({ kind }) => kind === 'tool').length,
        files: mergeFiles(turn.files, entries),
      },
      { appended, replaced: [...rows.keys()].filter((id) => !appended.includes(id)) },
    );
  }

  endTurn(sessionId: string, turnId: string, end: Parameters<TranscriptWriter['endTurn']>[2]): void {
    const session = this.shelf.current(sessionId);
    const turn = this.turn(session, turnId);
    const revision = session.revision + 1;
    const last = this.lastOf(session, turn);
    const endedAt = Date.now();
    this.commit(
      session,
      {
        ...session,
        revision,
        updatedAt: Math.max(session.updatedAt, endedAt),
        hasErrors: session.hasErrors || end.status === 'failed',
        ...(end.usage ? { usage: addUsage(session.usage, end.usage) } : {}),
      },
      last ? [{ ...last, boundary: true, revision }] : [],
      {
        ...turn,
        status: end.status,
        endedAt,
        ...(last ? { boundaryEntryId: last.id } : {}),
        ...(end.usage ? { usage: addUsage(turn.usage, end.usage) } : {}),
      },
      { appended: [], replaced: last ? [last.id] : [] },
    );
  }

  private turn(session: SessionRecord, turnId: string): TurnRecord {
    const turn = this.data.turn(session.id, session.generation, turnId);
    if (!turn) throw new Error('this turn is not in the transcript');
    return turn;
  }

  private lastOf(session: SessionRecord, turn: TurnRecord): EntryRecord | undefined {
    return this.data.entries(session.id, session.generation, turn.lastOrdinal, 1)[0];
  }

  private commit(
    before: SessionRecord,
    after: SessionRecord,
    rows: readonly EntryRecord[],
    turn: TurnRecord,
    names: Pick<TranscriptChange, 'appended' | 'replaced'>,
  ): void {
    this.shelf.save(after, {
      alongside: () => {
        this.data.putEntries(after.id, after.generation, rows);
        this.data.putTurns(after.id, after.generation, [turn]);
      },
    });
    this.publish(after.id, {
      baseRevision: before.revision,
      cut: { generation: after.generation, revision: after.revision },
      total: after.entryCount,
      ...names,
    });
  }
}

/** The row of an entry of ours. */
export function toRecord(
  draft: EntryDraft,
  place: Pick<EntryRecord, 'ordinal' | 'turnId' | 'revision' | 'boundary'>,
): EntryRecord {
  const { id, at, ...body } = draft;
  const text = textOf(draft) || (draft.tool?.title ?? '');
  return {
    ...place,
    id,
    kind: draft.kind,
    at: Date.parse(at),
    ...(draft.status === undefined ? {} : { status: draft.status }),
    preview: shorten(oneLine(text.slice(0, 10_000)), PREVIEW),
    place: { in: 'store', body },
  };
}

/** The text of an entry, without images and links. */
export function textOf(body: Pick<EntryBody, 'content'>): string {
  return body.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

const titled = (text: string | undefined) =>
  text === undefined ? undefined : ({ text, by: 'prompt' } as const);

/** Prompts and answers among some entries. */
export function countMessages(rows: readonly { readonly kind: Entry['kind'] }[]): number {
  return rows.filter(({ kind }) => kind === 'user' || kind === 'assistant').length;
}

/** The files that a turn changed, with those of further entries. */
export function mergeFiles(known: readonly string[], drafts: readonly EntryDraft[]): string[] {
  const files = new Set(known);
  for (const { tool } of drafts) {
    for (const { path } of tool?.diffs ?? []) files.add(path);
    if (tool && changesFiles.has(tool.kind)) for (const { path } of tool.locations ?? []) files.add(path);
  }
  return [...files].slice(0, MAX_FILES);
}

/** Sums; what neither tells stays absent. */
export function addUsage(a: Usage | undefined, b: Usage): Usage {
  const sum: Usage = { ...a };
  for (const key of ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const) {
    const value = b[key];
    if (value !== undefined) sum[key] = (sum[key] ?? 0) + value;
  }
  return sum;
}
