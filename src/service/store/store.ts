import fs from 'node:fs';
import path from 'node:path';
import { Backups } from './backup.js';
import { Ballast } from './ballast.js';
import { Blobs, syncFolder } from './blobs.js';
import { Database } from './database.js';
import { refused, StoreError, StoreNewerError } from './errors.js';
import { type Owner, OwnerLock } from './lock.js';
import { migrate, SCHEMA_VERSION } from './migrations.js';
import { SessionRecords } from './tables/records.js';
import { RunTables } from './tables/runs.js';
import { SessionsTable } from './tables/sessions.js';

const FILE = 'store-v1.db';
/** There while a service has the store open; found at a start, the last one did not end cleanly. */
const OPEN_MARK = 'open';

/** How a store was opened. */
export interface StoreMode {
  readonly readOnly: boolean;
  /** Why it is read-only, and what the user can do. */
  readonly reason?: string;
  /** What was repaired at opening, for the log and the user. */
  readonly repaired?: string;
}

/** The service's data: one SQLite file, blobs beside it, and the lock of its one owner. */
export class Store {
  readonly records: SessionRecords;
  readonly runs: RunTables;
  readonly blobs: Blobs;
  private closed = false;

  private constructor(
    readonly dir: string,
    readonly mode: StoreMode,
    private readonly db: Database,
    private readonly backups: Backups,
    private readonly lock: OwnerLock | undefined,
  ) {
    const sessions = new SessionsTable(db);
    this.runs = new RunTables(db, sessions);
    this.records = new SessionRecords(db, sessions, this.runs);
    this.blobs = new Blobs(path.join(dir, 'blobs'));
  }

  /**
   * Opens or creates the store in a folder. Another living owner is answered with its process. A store that cannot be
   * written (its disk, or a newer version's schema) is opened for reading; a damaged one is put aside and the newest
   * good backup takes its place. Throws `StoreError` when it cannot even be read.
   */
  static async open(dir: string): Promise<Store | { owner: Owner }> {
    makeFolder(dir);
    const found = fs.statSync(path.join(dir, FILE), { throwIfNoEntry: false });
    if (found && !found.isFile())
      throw new StoreError(
        'store_corrupt',
        `${path.join(dir, FILE)} is a folder where a file is expected. Move it away and restart the service.`,
      );
    let lock: OwnerLock | undefined;
    try {
      const taken = await withRoom(dir, () => OwnerLock.acquire(dir));
      if (!(taken instanceof OwnerLock)) return taken;
      lock = taken;
      return await withRoom(dir, () => Store.openOwned(dir, taken));
    } catch (error) {
      const meant = refused(error) ?? error;
      const readable = meant instanceof StoreNewerError || isRefusal(meant);
      try {
        if (!readable) throw error;
        return await Store.openReadOnly(dir, meant.message, lock);
      } catch (second) {
        lock?.release();
        throw second;
      }
    }
  }

  private static async openOwned(dir: string, lock: OwnerLock): Promise<Store> {
    try {
      return await Store.openWritable(dir, lock);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const repaired = await restore(path.join(dir, FILE), backupsOf(dir));
      return Store.openWritable(dir, lock, repaired);
    }
  }

  private static async openWritable(dir: string, lock: OwnerLock, repaired?: string): Promise<Store> {
    const file = path.join(dir, FILE);
    const mark = path.join(dir, OPEN_MARK);
    if (fs.statSync(file, { throwIfNoEntry: false })?.size === 0)
      throw new StoreError('store_corrupt', 'The file of the store is empty.');
    await refuseNewer(file);
    const db = await openChecked(file, fs.existsSync(mark));
    try {
      db.beforeCommit = () => {
        if (!lock.held())
          throw new StoreError(
            'store_read_only',
            'Another process took the store over. Restart the service.',
          );
      };
      const backups = backupsOf(dir);
      migrate(db, () => backups.make(db));
      // Durable, since a power cut is what it is to tell of.
      fs.writeFileSync(mark, String(process.pid), { mode: 0o600, flush: true });
      syncFolder(dir);
      new Ballast(dir).fill();
      const mode = { readOnly: false, ...(repaired === undefined ? {} : { repaired }) };
      return new Store(dir, mode, db, backups, lock);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  private static async openReadOnly(dir: string, reason: string, lock?: OwnerLock): Promise<Store> {
    const file = path.join(dir, FILE);
    if (!fs.existsSync(file))
      throw new StoreError('store_read_only', `${reason} There is no store in ${dir} that could be read.`);
    const db = await Database.open({ file, onlyRead: reason });
    try {
      if (db.version < SCHEMA_VERSION)
        throw new StoreError(
          'store_read_only',
          `${reason} The store is of an older version and must be written once before it can be read.`,
        );
      return new Store(dir, { readOnly: true, reason }, db, backupsOf(dir), lock);
    } catch (error) {
      db.close();
      if (error instanceof StoreError) throw error;
      throw new StoreError('store_read_only', `${reason} This version cannot read it.`, { cause: error });
    }
  }

  /** False once another process took the store over, or its folder went: whatever is written now would be lost. */
  get isOurs(): boolean {
    return this.lock === undefined || this.lock.held();
  }

  /** Makes the daily backup when it is due. Cheap otherwise. */
  maintain(): void {
    if (!this.mode.readOnly) this.backups.makeIfDue(this.db);
  }

  /** Frees what is kept for a full disk, so that deleting can make room. True when there was something to free. */
  freeBallast(): boolean {
    return new Ballast(this.dir).drop();
  }

  /** Moves everything into the one file, closes it and gives the lock up. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    // Closing writes to the file; it is another's when the lock was lost.
    if (this.lock && !this.lock.held()) return;
    try {
      this.db.close();
      // Left behind by a damaged store, so that the next start looks at all of it and repairs it.
      if (!this.mode.readOnly && !this.db.damaged) fs.rmSync(path.join(this.dir, OPEN_MARK), { force: true });
    } finally {
      this.lock?.release();
    }
  }
}

const backupsOf = (dir: string) => new Backups(path.join(dir, 'backup'), path.join(dir, FILE));
const isDamage = (error: unknown) => error instanceof StoreError && error.code === 'store_corrupt';
const isRefusal = (error: unknown): error is StoreError =>
  error instanceof StoreError && (error.code === 'store_full' || error.code === 'store_read_only');

function makeFolder(dir: string): void {
  try {
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (fs.existsSync(dir) && fs.statSync(dir).isDirectory()) return;
    const text = error instanceof Error ? error.message : String(error);
    throw new StoreError(
      'store_read_only',
      `The folder ${dir} for the store cannot be made (${text}). Choose another one or make it writable.`,
      { cause: error },
    );
  }
}

/** Runs `act`; on a full disk once more, with the room that was kept for this. */
async function withRoom<T>(dir: string, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const meant = refused(error) ?? error;
    if (!(meant instanceof StoreError && meant.code === 'store_full' && new Ballast(dir).drop())) throw error;
    return await act();
  }
}

/** Looks at the schema without changing a byte. Throws `StoreNewerError`. */
async function refuseNewer(file: string): Promise<void> {
  if (!fs.existsSync(file)) return;
  let db: Database;
  try {
    db = await Database.open({ file, onlyRead: 'The store is only looked at.' });
  } catch (error) {
    // Killed while it was made, SQLite has to undo something first; opening it for writing does.
    if (isRefusal(error)) return;
    throw error;
  }
  try {
    if (db.version > SCHEMA_VERSION) throw new StoreNewerError(db.version, SCHEMA_VERSION);
  } finally {
    db.close();
  }
}

async function openChecked(file: string, check: boolean): Promise<Database> {
  const db = await Database.open({ file });
  try {
    const verdict = check ? db.check() : 'ok';
    if (verdict !== 'ok') throw new StoreError('store_corrupt', `The store is damaged: ${verdict}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Puts the damaged file aside, for good, and the newest good backup in its place. Says what it did. */
async function restore(file: string, backups: Backups): Promise<string> {
  const aside = `${file}.damaged-${new Date().toISOString().replaceAll(':', '-')}`;
  const copy = `${file}.restored`;
  const good = await goodBackup(backups, copy);
  // The log first: it must not be taken for that of the file that comes.
  for (const suffix of ['-wal', '-journal', ''])
    if (fs.existsSync(file + suffix)) fs.renameSync(file + suffix, aside + suffix);
  if (good !== undefined) fs.renameSync(copy, file);
  syncFolder(path.dirname(file));
  const kept = `The store was damaged. It is kept as ${path.basename(aside)}`;
  return good === undefined
    ? `${kept}; there was no good backup, so a new one was made. Sessions of other tools are read anew.`
    : `${kept}; the backup ${path.basename(good)} took its place.`;
}

/** Copies the newest backup that is whole; undefined when there is none. */
async function goodBackup(backups: Backups, copy: string): Promise<string | undefined> {
  for (const backup of backups.list()) {
    try {
      fs.copyFileSync(backup, copy, fs.constants.COPYFILE_FICLONE);
      (await openChecked(copy, true)).close();
      return backup;
    } catch (error) {
      for (const suffix of ['', '-wal', '-journal']) fs.rmSync(copy + suffix, { force: true });
      if (!isDamage(error)) throw error;
    }
  }
  return undefined;
}
