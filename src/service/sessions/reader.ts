import type { Entry } from '../../protocol/entry.js';
import { cutEntry } from './content.js';
import type { EntryRecord, SessionData, TurnRecord } from './data.js';
import type { Files } from './files.js';
import type { Indexer } from './indexer.js';
import type { SessionRecord } from './record.js';
import type { Renderer } from './render.js';
import type { Shelf } from './shelf.js';

/** Longest wait for the index of a session that was never read, and for news of one that was, in ms. */
const FIRST_INDEX_MS = 20_000;
const FRESHEN_MS = 400;
const REPLAY_BATCH = 100;

/** Reads entries of a session: the rows, then what they say. */
export class Reader {
  constructor(
    private readonly data: SessionData,
    private readonly shelf: Shelf,
    private readonly files: Files,
    private readonly indexer: Indexer,
    private readonly renderer: Renderer,
  ) {}

  /** Reads what is new in the session's file, or goes on without it when that takes too long. */
  async freshen(record: SessionRecord, signal?: AbortSignal): Promise<void> {
    const file = this.files.holding(record);
    if (!file) return;
    const isKnown = file.indexedSize >= 0;
    let stopWaiting: () => void = () => undefined;
    const patience = new Promise<void>((resolve) => (stopWaiting = resolve));
    const timer = setTimeout(stopWaiting, isKnown ? FRESHEN_MS : FIRST_INDEX_MS);
    signal?.addEventListener('abort', stopWaiting, { once: true });
    await Promise.race([this.indexer.urgent(file.path), patience]);
    clearTimeout(timer);
    signal?.removeEventListener('abort', stopWaiting);
    signal?.throwIfAborted();
  }

  /** The entries of some rows, whole. */
  whole(record: SessionRecord, rows: readonly EntryRecord[]): Promise<Entry[]> {
    const turns = new Map<string, TurnRecord | undefined>();
    for (const { turnId } of rows)
      if (!turns.has(turnId)) turns.set(turnId, this.data.turn(record.id, record.generation, turnId));
    return this.renderer.render(record, rows, (id) => turns.get(id));
  }

  /** The entries of some rows as they go out. */
  async entries(record: SessionRecord, rows: readonly EntryRecord[]): Promise<Entry[]> {
    return (await this.whole(record, rows)).map(cutEntry);
  }

  /** Entries by id as they go out; those that are gone are left out. */
  byIds(sessionId: string, ids: readonly string[]): Promise<Entry[]> {
    const record = this.shelf.book.get(sessionId);
    if (!record) return Promise.resolve([]);
    const rows = ids.flatMap((id) => this.data.entry(sessionId, record.generation, id) ?? []);
    return this.entries(record, rows);
  }

  /**
   * All entries, whole and ascending, in batches. Ends early when the history is rewritten meanwhile. `atEnd` is called
   * at the very moment up to which everything is part of the replay, also in the turn that runs then.
   */
  async *replay(sessionId: string, atEnd: () => void = () => undefined): AsyncGenerator<Entry[]> {
    await this.freshen(this.shelf.current(sessionId));
    const { generation } = this.shelf.current(sessionId);
    let from = 0;
    for (;;) {
      const record = this.shelf.book.get(sessionId);
      if (record?.generation !== generation) return;
      const open = this.openFrom(record);
      if (from >= open) {
        const rows = this.data.entries(sessionId, generation, from, record.entryCount - from);
        atEnd();
        for (let start = 0; start < rows.length; start += REPLAY_BATCH)
          yield await this.whole(record, rows.slice(start, start + REPLAY_BATCH));
        return;
      }
      const limit = Math.min(REPLAY_BATCH, open - from);
      yield await this.whole(record, this.data.entries(sessionId, generation, from, limit));
      from += limit;
    }
  }

  /** The place from which on entries can still change: the start of the turn that runs, or the end. */
  private openFrom({ id, generation, turnCount, entryCount }: SessionRecord): number {
    const [last] = this.data.turns(id, generation, turnCount, 1);
    return last?.own === true && last.status === 'running' ? last.firstOrdinal : entryCount;
  }
}
