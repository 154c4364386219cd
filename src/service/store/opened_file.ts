import fs from 'node:fs';

/** What a file's `struct stat` is filled from. */
export interface FileStat {
  readonly mode: number;
  readonly size: number;
  readonly ino: number;
  readonly dev: number;
  readonly mtimeMs: number;
}

/** A file that SQLite has open. Positions and lengths are in bytes; errors carry the platform's `code`. */
export interface OpenedFile {
  stat(): FileStat;
  /** Fills a part of `into`; fewer bytes than asked for only at the end of the file. */
  read(into: Uint8Array, offset: number, length: number, position: number): number;
  /** Writes all of it or throws. */
  write(from: Uint8Array, offset: number, length: number, position: number): void;
  truncate(size: number): void;
  sync(): void;
  close(): void;
}

const isInterrupted = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EINTR';

/** Makes one call of the platform again when a signal interrupted it before it did anything. */
function uninterrupted<T>(call: () => T): T {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (!isInterrupted(error)) throw error;
    }
  }
}

/** A file on the disk. */
export class DiskFile implements OpenedFile {
  constructor(private readonly fd: number) {}

  stat(): FileStat {
    return fs.fstatSync(this.fd);
  }

  read(into: Uint8Array, offset: number, length: number, position: number): number {
    let done = 0;
    while (done < length) {
      const at = done;
      const got = uninterrupted(() => fs.readSync(this.fd, into, offset + at, length - at, position + at));
      if (got === 0) break;
      done += got;
    }
    return done;
  }

  write(from: Uint8Array, offset: number, length: number, position: number): void {
    let done = 0;
    while (done < length) {
      const at = done;
      done += uninterrupted(() => fs.writeSync(this.fd, from, offset + at, length - at, position + at));
    }
  }

  truncate(size: number): void {
    uninterrupted(() => fs.ftruncateSync(this.fd, size));
  }

  sync(): void {
    uninterrupted(() => fs.fdatasyncSync(this.fd));
  }

  close(): void {
    try {
      fs.closeSync(this.fd);
    } catch (error) {
      // It is closed all the same, and its number may be another file's by now: never twice.
      if (!isInterrupted(error)) throw error;
    }
  }
}

/** A log beside a database that is only read: it begins with the bytes on the disk, and no change reaches them. */
export class MemoryFile implements OpenedFile {
  private readonly changedAt = Date.now();

  constructor(private bytes: Buffer) {}

  stat(): FileStat {
    return {
      mode: fs.constants.S_IFREG | 0o600,
      size: this.bytes.length,
      ino: 1,
      dev: 1,
      mtimeMs: this.changedAt,
    };
  }

  read(into: Uint8Array, offset: number, length: number, position: number): number {
    const part = this.bytes.subarray(position, position + length);
    into.set(part, offset);
    return part.length;
  }

  write(from: Uint8Array, offset: number, length: number, position: number): void {
    if (position + length > this.bytes.length) this.truncate(position + length);
    this.bytes.set(from.subarray(offset, offset + length), position);
  }

  truncate(size: number): void {
    const resized = Buffer.alloc(size);
    this.bytes.copy(resized, 0, 0, Math.min(size, this.bytes.length));
    this.bytes = resized;
  }

  sync(): void {
    // Memory has nothing to wait for.
  }

  close(): void {
    // The bytes stay with the overlay until the database is closed.
  }
}

/** The logs of one database that is only read. */
export class MemoryLogs {
  private readonly files = new Map<string, MemoryFile>();
  private readonly removed = new Set<string>();

  /** The log, made when `create`; throws ENOENT when it is not there. */
  open(file: string, create: boolean): MemoryFile {
    const known = this.files.get(file);
    if (known) return known;
    if (!create && !this.has(file))
      throw Object.assign(new Error(`no such file: ${file}`), { code: 'ENOENT' });
    const bytes = this.has(file) ? fs.readFileSync(file) : Buffer.alloc(0);
    const made = new MemoryFile(bytes);
    this.files.set(file, made);
    this.removed.delete(file);
    return made;
  }

  has(file: string): boolean {
    return this.files.has(file) || (!this.removed.has(file) && fs.existsSync(file));
  }

  remove(file: string): void {
    this.files.delete(file);
    this.removed.add(file);
  }
}
