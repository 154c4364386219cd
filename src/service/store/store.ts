import fs from 'node:fs';
import path from 'node:path';
import { Backups } from './backup.js';
import { Ballast } from './ballast.js';
import { Blobs } from './blobs.js';
import { Database } from './database.js';
import { StoreError, StoreNewerError } from './errors.js';
import { type Owner, OwnerLock } from './lock.js';
import { migrate } from './migrations.js';
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
    try {
      fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
    } catch (error) {
      if (!fs.existsSync(dir)) throw error;
    }
    let lock: OwnerLock | { owner: Owner };
    try {
      lock = OwnerLock.acquire(dir);
    } catch (error) {
      return Store.openReadOnly(dir, `The folder ${dir} cannot be written (${text(error)}).`);
    }
    if (!(lock instanceof OwnerLock)) return lock;
    try {
      return await Store.openOwned(dir, lock);
    } catch (error) {
      if (
        !(error instanceof StoreNewerError) &&
        !(error instanceof StoreError && error.code !== 'store_corrupt')
      ) {
        lock.release();
        throw error;
      }
      return await Store.openReadOnly(dir, error.message, lock).catch((second: unknown) => {
        lock.release();
        throw second;
      });
    }
  }

  private static async openOwned(dir: string, lock: OwnerLock): Promise<Store> {
    const file = path.join(dir, FILE);
    const mark = path.join(dir, OPEN_MARK);
    const backups = new Backups(path.join(dir, 'backup'), file);
    const unclean = fs.existsSync(mark);
    let repaired: string | undefined;
    let db: Database;
    try {
      db = await openChecked(file, unclean);
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'store_corrupt')) throw error;
      repaired = await restore(file, backups);
      db = await openChecked(file, false);
    }
    try {
      db.beforeCommit = () => {
        if (!lock.held())
          throw new StoreError(
            'store_read_only',
            'Another process took the store over. Restart the service.',
          );
      };
      migrate(db, () => backups.make(db));
      fs.writeFileSync(mark, String(process.pid), { mode: 0o600 });
    } catch (error) {
      db.close();
      throw error;
    }
    new Ballast(dir).fill();
    const mode = { readOnly: false, ...(repaired === undefined ? {} : { repaired }) };
    return new Store(dir, mode, db, backups, lock);
  }

  private static async openReadOnly(dir: string, reason: string, lock?: OwnerLock): Promise<Store> {
    const file = path.join(dir, FILE);
    if (!fs.existsSync(file))
      throw new StoreError('store_read_only', `${reason} There is no store in it that could be read.`);
    const db = await Database.open({ file, readOnly: true });
    const mode = { readOnly: true, reason };
    return new Store(dir, mode, db, new Backups(path.join(dir, 'backup'), file), lock);
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
    try {
      if (!this.mode.readOnly) this.db.checkpoint();
      this.db.close();
      if (!this.mode.readOnly) fs.rmSync(path.join(this.dir, OPEN_MARK), { force: true });
    } finally {
      this.lock?.release();
    }
  }
}

async function openChecked(file: string, check: boolean): Promise<Database> {
  const db = await Database.open({ file });
  const verdict = check ? db.check() : 'ok';
  if (verdict === 'ok') return db;
  db.close();
  throw new StoreError('store_corrupt', `The store is damaged: ${verdict}`);
}

/** Puts the damaged file aside, for good, and the newest good backup in its place. Says what it did. */
async function restore(file: string, backups: Backups): Promise<string> {
  const aside = `${file}.damaged-${new Date().toISOString().replaceAll(':', '-')}`;
  for (const suffix of ['', '-wal', '-journal'])
    if (fs.existsSync(file + suffix)) fs.renameSync(file + suffix, aside + suffix);
  for (const backup of backups.list()) {
    fs.copyFileSync(backup, file, fs.constants.COPYFILE_FICLONE);
    try {
      (await openChecked(file, true)).close();
      return `The store was damaged. It is kept as ${path.basename(aside)}; the backup ${path.basename(backup)} took its place.`;
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'store_corrupt')) throw error;
      fs.rmSync(file, { force: true });
    }
  }
  return `The store was damaged and there was no good backup. It is kept as ${path.basename(aside)}; a new one was made. Sessions of other tools are read anew.`;
}

const text = (error: unknown) => (error instanceof Error ? error.message : String(error));
