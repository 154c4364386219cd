import fs from 'node:fs';
import path from 'node:path';
import { syncFolder } from './blobs.js';
import type { Database } from './database.js';

const KEEP = 3;
const DAY_MS = 24 * 60 * 60 * 1000;
const UNFINISHED = '.unfinished';
const namePattern = /^store-.*\.db$/;

/** Copies of the database in a folder beside it, the newest few. */
export class Backups {
  constructor(
    private readonly folder: string,
    private readonly file: string,
  ) {}

  /** Newest first. */
  list(): string[] {
    if (!fs.existsSync(this.folder)) return [];
    return fs
      .readdirSync(this.folder)
      .filter((name) => namePattern.test(name))
      .sort()
      .reverse()
      .map((name) => path.join(this.folder, name));
  }

  /** Copies the database, whole and consistent: its log is moved into it first. */
  make(database: Database): void {
    fs.mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    database.checkpoint();
    const name = `store-${new Date().toISOString().replaceAll(':', '-')}.db`;
    const temporary = path.join(this.folder, UNFINISHED);
    try {
      fs.copyFileSync(this.file, temporary, fs.constants.COPYFILE_FICLONE);
      const fd = fs.openSync(temporary, 'r+');
      try {
        fs.fsyncSync(fd);
      } finally {
        fs.closeSync(fd);
      }
      fs.renameSync(temporary, path.join(this.folder, name));
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      throw error;
    }
    syncFolder(this.folder);
    for (const old of this.list().slice(KEEP)) fs.rmSync(old, { force: true });
  }

  /** Makes one when the newest is older than a day. */
  makeIfDue(database: Database, now = Date.now()): void {
    const newest = this.list()[0];
    if (newest === undefined || now - fs.statSync(newest).mtimeMs >= DAY_MS) this.make(database);
  }
}
