import fs from 'node:fs';
import path from 'node:path';
import type { Database as SqlDatabase, Statement } from 'sql.js';
import * as z from 'zod';
import { StoreError, translate } from './errors.js';
import type { HostFiles } from './host_files.js';
import { loadSqlite, type Sqlite } from './sqlite.js';

/** Integers go into INTEGER columns, which keep them whole up to 2^53. */
export type SqlValue = string | number | Uint8Array | null;
export type SqlParams = readonly SqlValue[] | Readonly<Record<string, SqlValue>>;

const MAGIC = 'SQLite format 3\u0000';
const PAGE_BYTES = 8192;
const CACHE_KIB = 16 * 1024;
const MAX_STATEMENTS = 200;

const isList = (params: SqlParams): params is readonly SqlValue[] => Array.isArray(params);

function bound(params: SqlParams): SqlValue[] | Record<string, SqlValue> {
  return isList(params) ? [...params] : { ...params };
}

function connect(sqlite: Sqlite, file: string, readOnly: boolean): SqlDatabase {
  sqlite.files.takeFailure();
  sqlite.files.bind(file, readOnly);
  const sql = new sqlite.api.Database(new Uint8Array(0));
  if (sqlite.files.tookEffect) return sql;
  sql.close();
  throw new Error('SQLite did not open the file on the disk; nothing would be kept.');
}

/** Writes a database beside the real one and looks at its bytes: what is committed must be on the disk. */
function selfTest(sqlite: Sqlite, folder: string): void {
  const file = path.join(folder, `.selftest-${String(process.pid)}.db`);
  const remove = () => {
    for (const suffix of ['', '-wal', '-journal']) fs.rmSync(file + suffix, { force: true });
  };
  try {
    remove();
    const sql = connect(sqlite, file, false);
    try {
      sql.exec("CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('on disk')");
    } finally {
      sql.close();
    }
    const bytes = fs.readFileSync(file).toString('latin1');
    if (!bytes.startsWith(MAGIC) || !bytes.includes('on disk'))
      throw new Error('SQLite says that it wrote, but the bytes are not on the disk.');
  } catch (error) {
    throw translate(error, sqlite.files.takeFailure());
  } finally {
    remove();
  }
}

/** One connection to one SQLite file on the real disk. Everything is synchronous; a committed change is on the disk. */
export class Database {
  private readonly statements = new Map<string, Statement>();
  private depth = 0;
  /** Called before each change and commit; what it throws undoes the transaction. Set by the owner of the lock. */
  beforeCommit: (() => void) | undefined;

  /** True from the first sign of damage on. */
  private sawDamage = false;

  private constructor(
    private readonly sql: SqlDatabase,
    readonly file: string,
    private readonly onlyRead: string | undefined,
    readonly files: HostFiles,
  ) {}

  /**
   * Opens or creates a database. Throws `StoreError` when the file is damaged or the disk does not let it be written.
   * With `onlyRead`, the reason why, it must exist: nothing on the disk changes, and a write throws that reason.
   */
  static async open(options: { file: string; onlyRead?: string; sqlite?: Sqlite }): Promise<Database> {
    const sqlite = options.sqlite ?? (await loadSqlite());
    const { file, onlyRead } = options;
    if (onlyRead === undefined) selfTest(sqlite, path.dirname(file));
    try {
      const sql = connect(sqlite, file, onlyRead !== undefined);
      try {
        const database = new Database(sql, file, onlyRead, sqlite.files);
        database.configure();
        return database;
      } catch (error) {
        sql.close();
        throw error;
      }
    } catch (error) {
      throw translate(error, sqlite.files.takeFailure());
    }
  }

  /** Whether SQLite has found damage in the file since it was opened. */
  get damaged(): boolean {
    return this.sawDamage;
  }

  private configure(): void {
    // Exclusive before anything else: then the WAL needs no shared memory, which the host files do not have.
    this.sql.exec('PRAGMA locking_mode=EXCLUSIVE');
    if (this.onlyRead !== undefined) {
      this.sql.exec(`PRAGMA query_only=1; PRAGMA cache_size=-${String(CACHE_KIB)}`);
      this.sql.exec('SELECT count(*) FROM sqlite_schema');
      return;
    }
    this.sql.exec(`PRAGMA page_size=${String(PAGE_BYTES)}`);
    const mode = this.sql.exec('PRAGMA journal_mode=WAL')[0]?.values[0]?.[0];
    if (mode !== 'wal') throw new Error(`SQLite did not enter WAL mode but ${String(mode)}`);
    this.sql.exec(
      `PRAGMA synchronous=FULL; PRAGMA cache_size=-${String(CACHE_KIB)}; PRAGMA journal_size_limit=67108864;
       PRAGMA wal_autocheckpoint=1000; PRAGMA foreign_keys=OFF`,
    );
  }

  /** Runs a statement that gives no rows; returns how many rows it changed. */
  run(sql: string, params: SqlParams = []): number {
    return this.guard(() => {
      this.mayWrite();
      this.statement(sql).run(bound(params));
      return this.sql.getRowsModified();
    });
  }

  private mayWrite(): void {
    if (this.depth > 0) return;
    const failed = this.files.failedSync(this.file);
    if (failed)
      throw new StoreError(
        'store_read_only',
        `The disk could not save the store (${failed.message}). Check the disk and restart the service.`,
        { cause: failed },
      );
    this.beforeCommit?.();
  }

  /** Runs statements without parameters, separated by semicolons. */
  script(sql: string): void {
    this.guard(() => {
      this.mayWrite();
      this.sql.exec(sql);
    });
  }

  /** The first row, parsed. */
  get<T>(schema: z.ZodType<T>, sql: string, params: SqlParams = []): T | undefined {
    return this.all(schema, sql, params, 1)[0];
  }

  /** All rows, parsed. */
  all<T>(schema: z.ZodType<T>, sql: string, params: SqlParams = [], limit = Infinity): T[] {
    const rows = this.guard(() => {
      const statement = this.statement(sql);
      const found: unknown[] = [];
      try {
        statement.bind(bound(params));
        while (found.length < limit && statement.step()) found.push(statement.getAsObject());
      } finally {
        statement.reset();
      }
      return found;
    });
    return rows.map((row) => schema.parse(row));
  }

  /**
   * All or nothing; durable when it returns. A transaction inside of one is part of it. A `repeatable` one is durable
   * with the next one that is not: a power cut may undo it, never halfway and never out of order. For what is made again
   * from other files.
   */
  transaction<T>(act: () => T, { repeatable = false }: { repeatable?: boolean } = {}): T {
    if (this.depth > 0) return act();
    if (!repeatable) return this.atomic(act);
    this.sql.exec('PRAGMA synchronous=NORMAL');
    try {
      return this.atomic(act);
    } finally {
      this.sql.exec('PRAGMA synchronous=FULL');
    }
  }

  private atomic<T>(act: () => T): T {
    this.run('BEGIN IMMEDIATE');
    this.depth = 1;
    try {
      const result = act();
      this.beforeCommit?.();
      this.run('COMMIT');
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    } finally {
      this.depth = 0;
    }
  }

  /** A full disk makes SQLite undo the transaction by itself; then there is nothing left to roll back. */
  private rollBack(): void {
    try {
      this.sql.exec('ROLLBACK');
    } catch (error) {
      if (!/no transaction is active/i.test(error instanceof Error ? error.message : String(error)))
        throw this.meaning(error);
    }
  }

  /** Moves the log into the database file and empties it. */
  checkpoint(): void {
    this.script('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** `ok`, or what is wrong. Reads the whole file. */
  check(): string {
    const Row = z.object({ quick_check: z.string() });
    return this.all(Row, 'PRAGMA quick_check(5)')
      .map((row) => row.quick_check)
      .join('; ');
  }

  get version(): number {
    return this.get(z.object({ user_version: z.number() }), 'PRAGMA user_version')?.user_version ?? 0;
  }

  set version(value: number) {
    this.script(`PRAGMA user_version=${String(Math.trunc(value))}`);
  }

  close(): void {
    for (const statement of this.statements.values()) statement.free();
    this.statements.clear();
    this.sql.close();
  }

  private statement(sql: string): Statement {
    const known = this.statements.get(sql);
    if (known) {
      // Kept in the order of use, so that the oldest goes first.
      this.statements.delete(sql);
      this.statements.set(sql, known);
      return known;
    }
    const made = this.sql.prepare(sql);
    this.statements.set(sql, made);
    const oldest = this.statements.entries().next().value;
    if (this.statements.size > MAX_STATEMENTS && oldest) {
      oldest[1].free();
      this.statements.delete(oldest[0]);
    }
    return made;
  }

  private guard<T>(act: () => T): T {
    this.files.takeFailure();
    try {
      return act();
    } catch (error) {
      throw this.meaning(error);
    }
  }

  private meaning(error: unknown): unknown {
    const meant = translate(error, this.files.takeFailure());
    if (!(meant instanceof StoreError)) return meant;
    if (meant.code === 'store_corrupt') this.sawDamage = true;
    if (meant.code !== 'store_read_only' || this.onlyRead === undefined) return meant;
    return new StoreError('store_read_only', this.onlyRead, { cause: error });
  }
}
