import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';

/** Who owns a store. `start` tells a process from a later one with the same id, where the platform has it. */
const Owner = z.object({ pid: z.number().int(), start: z.string().nullable() });
export type Owner = z.infer<typeof Owner>;

const namePattern = /^owner\.(\d+)$/;
const MAX_TRIES = 200;
/** A file without links is not whole at once; until it is this old it may be a living owner's. */
const SETTLE_MS = 2000;
const WAIT_MS = 50;

/** Boot-relative start time of a process on Linux; null elsewhere, or when there is no such process. */
function startOf(pid: number | 'self'): string | null {
  try {
    const stat = fs.readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'zombie' : (fields[19] ?? null);
  } catch {
    // Not Linux, or the process has gone; the signal below tells which.
    return null;
  }
}

function isAlive(owner: Owner): boolean {
  if (owner.pid <= 0) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it is there and belongs to somebody else.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  const start = startOf(owner.pid);
  return owner.start === null || start === null || start === owner.start;
}

function generations(folder: string): number[] {
  return fs
    .readdirSync(folder)
    .flatMap((name) => namePattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

/** Undefined when the file has gone or is not whole, as after a power cut; then it owns nothing. */
function readOwner(file: string): Owner | undefined {
  try {
    return Owner.parse(JSON.parse(fs.readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Whether a file that cannot be read may still be in the making; where links exist it is whole from the start. */
function isSettling(file: string): boolean {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) < SETTLE_MS;
}

const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);

const temporaryIn = (folder: string) => path.join(folder, `.owner-${randomUUID()}`);

const hasCode = (error: unknown, ...codes: string[]) =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** Gives a finished file its name, only if the name is free. */
function claim(temporary: string, name: string): boolean {
  try {
    fs.linkSync(temporary, name);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    if (!hasCode(error, 'EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'UNKNOWN')) throw error;
  }
  // A file system without links: an exclusive copy claims the name just as well.
  try {
    fs.copyFileSync(temporary, name, fs.constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/**
 * The single owner of a store: `owner.<generation>` in its folder, written once and never changed. A new owner takes the
 * next generation when the one before is dead, so two that find the same dead owner cannot both win.
 */
export class OwnerLock {
  private released = false;

  private constructor(
    private readonly folder: string,
    readonly generation: number,
  ) {}

  /** Takes the lock of a folder, or tells who has it. Throws when the folder cannot be written. */
  static acquire(folder: string): OwnerLock | { owner: Owner } {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const newest = generations(folder)[0] ?? 0;
      if (newest > 0) {
        const file = path.join(folder, `owner.${String(newest)}`);
        const owner = readOwner(file);
        if (owner && isAlive(owner)) return { owner };
        if (!owner && isSettling(file)) {
          pause();
          continue;
        }
      }
      const lock = OwnerLock.take(folder, newest + 1);
      if (lock) return lock;
    }
    throw new Error(`The lock of ${folder} is taken again and again by others.`);
  }

  private static take(folder: string, generation: number): OwnerLock | undefined {
    const temporary = temporaryIn(folder);
    const me: Owner = { pid: process.pid, start: startOf('self') };
    fs.writeFileSync(temporary, JSON.stringify(me), { mode: 0o600 });
    try {
      if (!claim(temporary, path.join(folder, `owner.${String(generation)}`))) return undefined;
    } finally {
      fs.rmSync(temporary, { force: true });
    }
    const lock = new OwnerLock(folder, generation);
    const all = generations(folder);
    if (all[0] !== generation) {
      fs.rmSync(lock.file, { force: true });
      return undefined;
    }
    for (const older of all)
      if (older < generation) fs.rmSync(path.join(folder, `owner.${String(older)}`), { force: true });
    return lock;
  }

  /** Whether it is still ours: checked before each commit, so that a lost lock cannot write. */
  held(): boolean {
    return (
      !this.released &&
      fs.existsSync(this.file) &&
      !fs.existsSync(path.join(this.folder, `owner.${String(this.generation + 1)}`))
    );
  }

  /** Gives it up. The file stays, owned by nobody: a generation is never used twice, however slow a contender is. */
  release(): void {
    if (!this.held()) return;
    this.released = true;
    const temporary = temporaryIn(this.folder);
    const nobody: Owner = { pid: 0, start: null };
    try {
      fs.writeFileSync(temporary, JSON.stringify(nobody), { mode: 0o600 });
      fs.renameSync(temporary, this.file);
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      // A disk that takes no file at all: this process is about to end, and a dead owner owns nothing.
      if (!hasCode(error, 'ENOSPC', 'EDQUOT', 'EROFS')) throw error;
    }
  }

  private get file(): string {
    return path.join(this.folder, `owner.${String(this.generation)}`);
  }
}
