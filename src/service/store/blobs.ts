import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { refused } from './errors.js';

const name = /^[0-9a-f]{64}$/;

/** Large contents beside the database, named by their sha256: written once, never changed. */
export class Blobs {
  constructor(private readonly folder: string) {}

  /** Keeps the bytes; durable when it returns. Returns their sha256. Throws `StoreError` when the disk refuses. */
  put(bytes: Uint8Array): string {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = this.file(sha256);
    if (fs.existsSync(file)) return sha256;
    const folder = path.dirname(file);
    const made = fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    // A file is not safe before its folder is, and that one's folder.
    if (made !== undefined)
      for (let at = folder; at !== path.dirname(made); at = path.dirname(at)) syncFolder(path.dirname(at));
    const temporary = path.join(folder, `.${randomUUID()}`);
    try {
      const fd = fs.openSync(temporary, 'wx', 0o600);
      try {
        fs.writeFileSync(fd, bytes);
        fs.fsyncSync(fd);
      } finally {
        fs.closeSync(fd);
      }
      fs.renameSync(temporary, file);
      syncFolder(folder);
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      throw refused(error) ?? error;
    }
    return sha256;
  }

  /** Bytes from `offset` on, at most `length`; undefined when there is no such blob. */
  read(sha256: string, offset = 0, length = Infinity): Uint8Array | undefined {
    const size = this.size(sha256);
    if (size === undefined) return undefined;
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - offset)));
    const fd = fs.openSync(this.file(sha256), 'r');
    try {
      let done = 0;
      while (done < bytes.length) {
        const got = fs.readSync(fd, bytes, done, bytes.length - done, offset + done);
        if (got === 0) break;
        done += got;
      }
      return bytes.subarray(0, done);
    } finally {
      fs.closeSync(fd);
    }
  }

  /** In bytes; undefined when there is no such blob. */
  size(sha256: string): number | undefined {
    return name.test(sha256) ? fs.statSync(this.file(sha256), { throwIfNoEntry: false })?.size : undefined;
  }

  private file(sha256: string): string {
    return path.join(this.folder, sha256.slice(0, 2), sha256);
  }
}

/** Makes new names in a folder durable; Windows cannot and need not. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
