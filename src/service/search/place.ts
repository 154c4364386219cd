import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isSecret } from './secrets.js';

/** Folders that are never searched, whatever the rules say: large, and of other people. */
export const LEFT_OUT = ['node_modules', '.git'] as const;
const leftOut = new Set<string>(LEFT_OUT);

/** Larger files are no text that a person wrote. Bytes. */
export const MAX_FILE_BYTES = 1024 * 1024;
/** So much of a file tells whether it is text. */
const SNIFFED_BYTES = 8000;

/** Whether a search may show the file with that relative path. Hidden ones, and those in hidden folders, it may not. */
export function isSearchable(path: string): boolean {
  const segments = path.split('/');
  if (segments.some((segment) => segment.startsWith('.') || leftOut.has(segment))) return false;
  return path !== '' && !isSecret(path);
}

/** A folder that is searched, by its real path: nothing outside of it is read, also not through a symlink. */
export class Place {
  private constructor(
    /** Absolute, symlinks resolved. */
    readonly root: string,
  ) {}

  /** Throws when the folder is not there or cannot be entered. */
  static async at(cwd: string): Promise<Place> {
    return new Place(await realpath(cwd));
  }

  /**
   * The first `maxBytes` of a file as text. Undefined for what is no text, no regular file, larger than a search reads,
   * not to be shown, gone, unreadable, or reached through a symlink.
   */
  async read(path: string, maxBytes = MAX_FILE_BYTES): Promise<string | undefined> {
    if (!isSearchable(path)) return undefined;
    const full = join(this.root, ...path.split('/'));
    try {
      if (!full.startsWith(this.root.endsWith(sep) ? this.root : this.root + sep)) return undefined;
      if ((await realpath(full)) !== full) return undefined;
      const file = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const { size } = await file.stat().then((stat) => (stat.isFile() ? stat : { size: Infinity }));
        if (size > MAX_FILE_BYTES) return undefined;
        const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, maxBytes)), 0);
        const bytes = buffer.subarray(0, bytesRead);
        return bytes.subarray(0, SNIFFED_BYTES).includes(0) ? undefined : bytes.toString('utf8');
      } finally {
        await file.close();
      }
    } catch {
      // Went meanwhile, or not for us to read: no result.
      return undefined;
    }
  }
}
