import { v7 as uuid } from 'uuid';
import type { EntryDraft } from './transcript.js';
import type { EntryRecord, SessionData, TurnRecord } from './data.js';
import type { SessionRecord } from './record.js';
import type { Shelf } from './shelf.js';
import { oneLine, shorten, titleFromPrompt } from './titles.js';
import { countMessages, mergeFiles, PREVIEW, type Publish, textOf, toRecord } from './transcripts.js';

/** A turn as an agent replayed it; at least one entry, the prompt first if there was one. */
export interface ImportedTurn {
  readonly entries: readonly EntryDraft[];
}

/** Whether a session was listed by its agent and its history is still there. */
export const isUnread = (session: Pick<SessionRecord, 'source' | 'entryCount'>): boolean =>
  session.source === 'agent' && session.entryCount === 0;

/** Takes in the history of a session that its agent listed: all of it becomes visible at once, or nothing. */
export class Imported {
  private entryCount = 0;
  private turnCount = 0;
  private messageCount = 0;
  private hasErrors = false;
  private firstPrompt: string | undefined;

  private constructor(
    private readonly data: SessionData,
    private readonly shelf: Shelf,
    private readonly publish: Publish,
    private readonly session: SessionRecord,
  ) {}

  /** Undefined when the session is not unread. What an earlier attempt left behind goes. */
  static async begin(
    data: SessionData,
    shelf: Shelf,
    publish: Publish,
    sessionId: string,
  ): Promise<Imported | undefined> {
    const session = shelf.current(sessionId);
    if (!isUnread(session)) return undefined;
    await data.removeOtherGenerations(sessionId, -1);
    return new Imported(data, shelf, publish, session);
  }

  /** ISO 8601: when the session was last changed, as far as its agent told. */
  get at(): string {
    return new Date(this.session.updatedAt).toISOString();
  }

  get isEmpty(): boolean {
    return this.entryCount === 0;
  }

  /** Stores a turn; it is not visible until `finish`. */
  add({ entries }: ImportedTurn): void {
    const { data, session } = this;
    const [first] = entries;
    const last = entries.at(-1);
    if (!first || !last) return;
    const text = first.kind === 'user' ? textOf(first) : '';
    this.firstPrompt ??= isInjected(text) ? undefined : text;
    const turn: TurnRecord = {
      id: uuid(),
      number: this.turnCount + 1,
      prompt: shorten(oneLine(text.slice(0, 10_000)), PREVIEW),
      at: Date.parse(first.at),
      status: 'completed',
      firstOrdinal: this.entryCount,
      lastOrdinal: this.entryCount + entries.length - 1,
      boundaryEntryId: last.id,
      tools: entries.filter(({ kind }) => kind === 'tool').length,
      files: mergeFiles([], entries),
      own: false,
    };
    const rows = entries.map((draft, index): EntryRecord => {
      const ordinal = turn.firstOrdinal + index;
      return toRecord(draft, { ordinal, turnId: turn.id, revision: 1, boundary: draft === last });
    });
    data.transaction(
      () => {
        data.putEntries(session.id, session.generation, rows);
        data.putTurns(session.id, session.generation, [turn]);
      },
      { repeatable: true },
    );
    this.turnCount += 1;
    this.entryCount += entries.length;
    this.messageCount += countMessages(rows);
    this.hasErrors ||= rows.some(({ status }) => status === 'failed');
  }

  /** Durable, then announced. Does nothing when the session is not unread any more. Throws `session_unavailable`. */
  finish(source: 'deck' | 'agent'): void {
    const before = this.shelf.current(this.session.id);
    if (!isUnread(before) || this.entryCount === 0) return;
    const prompt = this.firstPrompt ?? '';
    const preview = before.preview ?? (shorten(oneLine(prompt.slice(0, 10_000)), PREVIEW) || undefined);
    const titled = titleFromPrompt(prompt);
    const title =
      before.title ?? (titled === undefined ? undefined : ({ text: titled, by: 'prompt' } as const));
    const after: SessionRecord = {
      ...before,
      source,
      revision: before.revision + 1,
      entryCount: this.entryCount,
      turnCount: this.turnCount,
      messageCount: this.messageCount,
      hasErrors: before.hasErrors || this.hasErrors,
      ...(preview === undefined ? {} : { preview }),
      ...(title === undefined ? {} : { title }),
    };
    this.shelf.save(after, { quiet: true });
    this.publish(after.id, {
      baseRevision: before.revision,
      cut: { generation: after.generation, revision: after.revision },
      total: after.entryCount,
      appended: [],
      replaced: [],
      rewritten: true,
    });
  }
}

/** Tools put context of their own in front of a person's words, in tags; it is no title. */
const isInjected = (prompt: string): boolean => prompt === '' || /^\s*<[a-z][\w-]*>/u.test(prompt);
