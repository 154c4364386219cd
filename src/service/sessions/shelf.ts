import { sessionUnavailable } from '../../protocol/errors.js';
import type { Book } from './book.js';
import type { Client } from './client.js';
import type { SessionData } from './data.js';
import { isUnfinished, type SessionRecord } from './record.js';
import { folderKey, requireFolder, scopeOf } from './scope.js';

/** Hears of every session that changed, once that is durable. `quiet`: a first reading, nothing happened to it. */
export type RecordListener = (id: string, before: SessionRecord | undefined, quiet: boolean) => void;

interface SaveOptions {
  readonly alongside?: () => void;
  readonly quiet?: boolean;
  /** All of it is read again from a file when a power cut undoes it. */
  readonly repeatable?: boolean;
}

/** The sessions, durable first and then in memory, and the look-up with scope. */
export class Shelf {
  private readonly listeners: RecordListener[] = [];

  constructor(
    readonly book: Book,
    private readonly data: SessionData,
  ) {
    for (const record of data.sessions()) if (!isUnfinished(record)) book.put(record);
  }

  onChange(listener: RecordListener): void {
    this.listeners.push(listener);
  }

  /** Stores a record, together with what `alongside` stores, and then announces it. */
  save(record: SessionRecord, options: SaveOptions = {}): void {
    this.saveAll([record], options);
  }

  saveAll(
    records: readonly SessionRecord[],
    { alongside, quiet = false, repeatable = false }: SaveOptions = {},
  ): void {
    this.data.transaction(
      () => {
        alongside?.();
        for (const record of records) this.data.putSession(record);
      },
      { repeatable },
    );
    const before = records.map(({ id }) => this.book.get(id));
    for (const record of records) this.book.put(record);
    records.forEach(({ id }, index) => {
      this.changed(id, before[index], quiet);
    });
  }

  /** Takes a session out of memory that is gone from the store. */
  forget(id: string): void {
    const before = this.book.get(id);
    this.book.drop(id);
    this.changed(id, before, false);
  }

  /** Whether this client may see the session. */
  sees(client: Client, id: string): boolean {
    const record = this.book.get(id);
    return record !== undefined && scopeOf(client).has(record);
  }

  /**
   * The session, if this client may see it. Unknown, deleted, out of scope or of another folder than `cwd`: all the
   * same `session_unavailable`. A relative `cwd` is `invalid_params`.
   */
  resolve(client: Client, sessionId: string, cwd?: string): SessionRecord {
    const record = this.sees(client, sessionId) ? this.book.get(sessionId) : undefined;
    // What the list told of it is its folder, also when that is none of this machine.
    const isToldFolder = cwd === undefined || cwd === record?.cwd;
    const folder = isToldFolder ? undefined : requireFolder(cwd);
    if (!record) throw sessionUnavailable();
    // A session that does not tell its folder can be asked for by any.
    if (folder !== undefined && record.cwd !== '' && folderKey(record.cwd) !== folder)
      throw sessionUnavailable();
    return record;
  }

  /** The session as it is now. Throws `session_unavailable` when it went meanwhile. */
  current(id: string): SessionRecord {
    const record = this.book.get(id);
    if (!record) throw sessionUnavailable();
    return record;
  }

  private changed(id: string, before: SessionRecord | undefined, quiet: boolean): void {
    for (const listener of this.listeners) listener(id, before, quiet);
  }
}
