import fs from 'node:fs';
import path from 'node:path';

type Step =
  | { readonly what: 'acknowledge'; readonly ordinal: number }
  | { readonly what: 'create' | 'sync' | 'remove'; readonly file: string }
  | { readonly what: 'write'; readonly file: string; readonly at: number; readonly bytes: Buffer }
  | { readonly what: 'truncate'; readonly file: string; readonly size: number };
type Change = Extract<Step, { what: 'write' | 'truncate' }>;

/** What is safely on the disk, and what came after. */
interface FileState {
  bytes: Uint8Array;
  unsynced: Change[];
}

const SECTOR = 512;

/**
 * Records what is done to the files of a folder, and rebuilds them as a power cut at any moment could have left them:
 * of what was not synced each sector may be there or not. Files come and go in order.
 */
export class DiskTrace {
  private readonly steps: Step[] = [];
  private readonly files = new Map<number, string>();
  private readonly real = {
    openSync: fs.openSync,
    writeSync: fs.writeSync,
    ftruncateSync: fs.ftruncateSync,
    fdatasyncSync: fs.fdatasyncSync,
    unlinkSync: fs.unlinkSync,
    closeSync: fs.closeSync,
  };

  constructor(private readonly folder: string) {}

  get length(): number {
    return this.steps.length;
  }

  /** Everything up to `ordinal` was acknowledged. */
  acknowledge(ordinal: number): void {
    this.steps.push({ what: 'acknowledge', ordinal });
  }

  /** Records until `stop`: stands between Node's calls and who calls them, who must take them from `fs` itself. */
  start(): void {
    const { real, steps, files } = this;
    const isOurs = (file: fs.PathLike) => String(file).startsWith(this.folder + path.sep);
    fs.openSync = (file, flags, mode) => {
      const isNew = !fs.existsSync(file);
      const fd = real.openSync(file, flags, mode);
      if (isOurs(file)) {
        files.set(fd, String(file));
        if (isNew) steps.push({ what: 'create', file: String(file) });
      }
      return fd;
    };
    const write = (fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => {
      const written = real.writeSync(fd, bytes, offset, length, position);
      const file = files.get(fd);
      if (file !== undefined) {
        const copy = Buffer.from(bytes.subarray(offset, offset + written));
        steps.push({ what: 'write', file, at: position, bytes: copy });
      }
      return written;
    };
    Reflect.set(fs, 'writeSync', write);
    fs.ftruncateSync = (fd, size) => {
      real.ftruncateSync(fd, size);
      const file = files.get(fd);
      if (file !== undefined) steps.push({ what: 'truncate', file, size: size ?? 0 });
    };
    fs.fdatasyncSync = (fd) => {
      real.fdatasyncSync(fd);
      const file = files.get(fd);
      if (file !== undefined) steps.push({ what: 'sync', file });
    };
    fs.unlinkSync = (file) => {
      real.unlinkSync(file);
      if (isOurs(file)) steps.push({ what: 'remove', file: String(file) });
    };
    fs.closeSync = (fd) => {
      files.delete(fd);
      real.closeSync(fd);
    };
  }

  stop(): void {
    Object.assign(fs, this.real);
  }

  /** Writes the files as they were after `count` steps into `target`; each unsynced sector is lost with chance `loss`. */
  cut(count: number, loss: number, random: () => number, target: string): { acknowledged: number } {
    let acknowledged = -1;
    const disk = new Map<string, FileState>();
    const file = (name: string) => {
      const known: FileState = disk.get(name) ?? { bytes: Buffer.alloc(0), unsynced: [] };
      disk.set(name, known);
      return known;
    };
    for (const step of this.steps.slice(0, count)) {
      if (step.what === 'acknowledge') acknowledged = step.ordinal;
      else if (step.what === 'create') disk.set(step.file, { bytes: Buffer.alloc(0), unsynced: [] });
      else if (step.what === 'remove') disk.delete(step.file);
      else if (step.what === 'write' || step.what === 'truncate') file(step.file).unsynced.push(step);
      else {
        const one = file(step.file);
        for (const change of one.unsynced) one.bytes = apply(one.bytes, change, () => false);
        one.unsynced = [];
      }
    }
    for (const [name, { bytes, unsynced }] of disk) {
      const left = unsynced.reduce<Uint8Array>(
        (all, change) => apply(all, change, () => random() < loss),
        bytes,
      );
      fs.writeFileSync(path.join(target, path.basename(name)), left);
    }
    return { acknowledged };
  }
}

function apply(bytes: Uint8Array, change: Change, isLost: () => boolean): Uint8Array {
  if (change.what === 'truncate') return isLost() ? bytes : resized(bytes, change.size);
  let result: Uint8Array = Buffer.from(bytes);
  for (let from = 0; from < change.bytes.length; from += SECTOR) {
    if (isLost()) continue;
    const sector = change.bytes.subarray(from, from + SECTOR);
    const end = change.at + from + sector.length;
    if (end > result.length) result = resized(result, end);
    result.set(sector, change.at + from);
  }
  return result;
}

function resized(bytes: Uint8Array, size: number): Uint8Array {
  const result = new Uint8Array(size);
  result.set(bytes.subarray(0, size));
  return result;
}
