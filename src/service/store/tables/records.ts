import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import * as z from 'zod';
import type { Database } from '../database.js';
import { EntriesTable, type EntryToStore, type StoredEntry } from './entries.js';
import { FilesTable, type StoredFile } from './files.js';
import { json } from './columns.js';
import { type RunTables } from './runs.js';
import { type SessionsTable, type StoredSession } from './sessions.js';
import { type StoredTurn, TurnsTable, type TurnToStore } from './turns.js';

/** Rows removed at once; more would make others wait. */
const STEP = 2000;

const TrashRow = z
  .object({ session: z.string(), name: z.string(), deleted_at: z.number(), undo_until: z.number() })
  .transform((row) => ({
    sessionId: row.session,
    name: row.name,
    deletedAt: row.deleted_at,
    undoUntil: row.undo_until,
  }));
/** A deletion; `name` is its folder in the trash. */
export type StoredTrash = z.output<typeof TrashRow>;

const OperationRow = z.object({
  method: z.string(),
  fingerprint: z.string(),
  result: json(z.unknown()),
  at: z.number(),
});
/** The recorded answer to an operation; `fingerprint` is of its params. */
export type StoredOperation = z.output<typeof OperationRow>;

/** What the rules of sessions keep. Each call is durable when it returns, or with the transaction around it. */
export class SessionRecords {
  private readonly entryRows: EntriesTable;
  private readonly turnRows: TurnsTable;
  private readonly fileRows: FilesTable;

  constructor(
    private readonly db: Database,
    private readonly sessionRows: SessionsTable,
    private readonly runs: RunTables,
  ) {
    this.entryRows = new EntriesTable(db, sessionRows);
    this.turnRows = new TurnsTable(db, sessionRows);
    this.fileRows = new FilesTable(db);
  }

  /** Runs `work` in one transaction; nested calls join it. */
  transaction<T>(work: () => T, options: { repeatable?: boolean } = {}): T {
    try {
      return this.db.transaction(work, options);
    } catch (error) {
      this.sessionRows.forgetNumbers();
      throw error;
    }
  }

  getMeta(key: string): string | undefined {
    return this.db.get(z.object({ value: z.string() }), 'SELECT value FROM meta WHERE key = ?', [key])?.value;
  }

  setMeta(key: string, value: string): void {
    this.db.run('INSERT OR REPLACE INTO meta VALUES (?, ?)', [key, value]);
  }

  /** All, deleted ones too. */
  sessions(): StoredSession[] {
    return this.sessionRows.all();
  }

  putSession(session: StoredSession): void {
    this.sessionRows.put(session);
  }

  /** A session and all that hangs on it, in steps that do not make others wait. */
  async removeSession(id: string): Promise<void> {
    const session = this.sessionRows.number(id);
    if (session === undefined) return;
    for (const table of ['entry', 'turn', 'run', 'interjection', 'permission', 'compaction', 'task'])
      await this.removeRows(table, 'session = ?', [session]);
    this.db.transaction(() => {
      this.db.run('DELETE FROM usage_record WHERE session = ?', [session]);
      this.db.run('DELETE FROM session_fact WHERE session = ?', [session]);
      this.db.run('DELETE FROM source_file WHERE session = ?', [id]);
      this.db.run('DELETE FROM trash WHERE session = ?', [id]);
      this.sessionRows.remove(id);
    });
  }

  files(): StoredFile[] {
    return this.fileRows.all();
  }

  /** What the parser of a file needs to go on where the index ends; undefined when there is none. */
  fileState(path: string): unknown {
    return this.fileRows.state(path);
  }

  /** The state that is stored for the path stays when none is given; null removes it. */
  putFile(file: StoredFile, state?: unknown): void {
    this.fileRows.put(file, state);
  }

  removeFile(path: string): void {
    this.fileRows.remove(path);
  }

  /** Rows from ordinal `from` on, ascending. */
  entries(sessionId: string, generation: number, from: number, limit: number): StoredEntry[] {
    return this.entryRows.page(sessionId, generation, from, limit);
  }

  entry(sessionId: string, generation: number, id: string): StoredEntry | undefined {
    return this.entryRows.byId(sessionId, generation, id);
  }

  putEntries(sessionId: string, generation: number, entries: readonly EntryToStore[]): void {
    this.db.transaction(() => this.entryRows.put(sessionId, generation, entries));
  }

  /** The highest revision of the rows up to and with `ordinal`. */
  revisionUpTo(sessionId: string, generation: number, ordinal: number): number {
    return this.entryRows.revisionUpTo(sessionId, generation, ordinal);
  }

  turns(sessionId: string, generation: number, from: number, limit: number): StoredTurn[] {
    return this.turnRows.page(sessionId, generation, from, limit);
  }

  turn(sessionId: string, generation: number, id: string): StoredTurn | undefined {
    return this.turnRows.byId(sessionId, generation, id);
  }

  putTurns(sessionId: string, generation: number, turns: readonly TurnToStore[]): void {
    this.db.transaction(() => this.turnRows.put(sessionId, generation, turns));
  }

  /** Rows of another generation than this one, in steps that do not make others wait. */
  async removeOtherGenerations(sessionId: string, generation: number): Promise<void> {
    const session = this.sessionRows.number(sessionId);
    if (session === undefined) return;
    for (const table of ['entry', 'turn'])
      await this.removeRows(table, 'session = ? AND generation <> ?', [session, generation]);
  }

  /** Tokens of responses; one that is known changes nothing. */
  putUsage(
    sessionId: string,
    records: readonly {
      readonly messageId: string;
      readonly model?: string;
      readonly at: number;
      readonly usage: Parameters<RunTables['addUsage']>[0]['usage'];
    }[],
  ): void {
    this.db.transaction(() => {
      for (const record of records) this.runs.addUsage({ ...record, sessionId });
    });
  }

  /** When our own runs on a session went on; an open one has no end. */
  runWindows(sessionId: string): { startedAt: number; endedAt?: number | undefined }[] {
    return this.runs.runWindows(sessionId);
  }

  trash(): StoredTrash[] {
    return this.db.all(TrashRow, 'SELECT * FROM trash');
  }

  putTrash(record: StoredTrash): void {
    this.db.run('INSERT OR REPLACE INTO trash VALUES (?, ?, ?, ?)', [
      record.name,
      record.sessionId,
      record.deletedAt,
      record.undoUntil,
    ]);
  }

  removeTrash(name: string): void {
    this.db.run('DELETE FROM trash WHERE name = ?', [name]);
  }

  operation(id: string): StoredOperation | undefined {
    return this.db.get(OperationRow, 'SELECT method, fingerprint, result, at FROM operation WHERE id = ?', [
      id,
    ]);
  }

  putOperation(id: string, record: StoredOperation): void {
    this.db.run('INSERT OR REPLACE INTO operation VALUES (?, ?, ?, ?, ?)', [
      id,
      record.method,
      record.fingerprint,
      JSON.stringify(record.result ?? null),
      record.at,
    ]);
  }

  /** Those older than `before`, ms. */
  removeOperations(before: number): void {
    this.db.run('DELETE FROM operation WHERE at < ?', [before]);
  }

  private async removeRows(
    table: string,
    where: string,
    params: readonly (string | number)[],
  ): Promise<void> {
    const sql = `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${where} LIMIT ${String(STEP)})`;
    while (this.db.run(sql, params) > 0) await turnOfTheLoop();
  }
}
