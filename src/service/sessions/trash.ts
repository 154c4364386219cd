import { createHash } from 'node:crypto';
import { createReadStream, constants } from 'node:fs';
import {
  copyFile,
  cp,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { DomainError } from '../../protocol/errors.js';

const MANIFEST = 'manifest.json';
/** Ends the name of a copy that is not whole yet. */
const PART = '.deck-part';
const Manifest = z.object({
  version: z.literal(1),
  sessionId: z.string(),
  deletedAt: z.number(),
  /** `name` in the trash folder of what was at `path`. */
  items: z.array(z.object({ path: z.string(), name: z.string() })),
});
type Manifest = z.infer<typeof Manifest>;
/** What was at `path` is at `place` in the trash. */
interface Item {
  readonly path: string;
  readonly place: string;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** What to tell of a move that failed: a full disk is something that the person can mend. */
const failure = (error: unknown): unknown =>
  ['ENOSPC', 'EDQUOT'].includes(codeOf(error))
    ? new DomainError('store_full', 'The disk is full. Free some space; nothing was moved.')
    : error;

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some platforms cannot sync a folder.
    if (!['EPERM', 'EINVAL', 'EISDIR', 'EBADF'].includes(codeOf(error))) throw error;
  } finally {
    await handle.close();
  }
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) if (chunk instanceof Uint8Array) hash.update(chunk);
  return hash.digest('hex');
}

async function filesBelow(folder: string, prefix = ''): Promise<string[]> {
  const items = await readdir(join(folder, prefix), { withFileTypes: true });
  const files: string[] = [];
  for (const item of items) {
    const name = join(prefix, item.name);
    if (item.isDirectory()) files.push(...(await filesBelow(folder, name)));
    else files.push(name);
  }
  return files;
}

/** To another disk: the copy is under its name, and the original goes, only when it is on the disk and the same. */
async function moveByCopy(from: string, target: string): Promise<void> {
  const info = await lstat(from);
  const to = `${target}${PART}`;
  await rm(to, { recursive: true, force: true });
  try {
    if (info.isDirectory()) {
      await cp(from, to, {
        recursive: true,
        errorOnExist: true,
        force: false,
        preserveTimestamps: true,
        verbatimSymlinks: true,
      });
      for (const name of await filesBelow(from)) await checkCopy(join(from, name), join(to, name));
    } else {
      await copyFile(from, to, constants.COPYFILE_EXCL);
      await utimes(to, info.atime, info.mtime);
      await checkCopy(from, to);
    }
    await rename(to, target);
    await sync(dirname(target));
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    throw error;
  }
  await rm(from, { recursive: true });
}

async function checkCopy(from: string, to: string): Promise<void> {
  if (!(await stat(from)).isFile()) return;
  await sync(to);
  if ((await digest(from)) !== (await digest(to))) throw new Error('the copy differs from the original');
}

/** Moves a file or folder with its times; never over something that is there. */
async function move(from: string, to: string): Promise<void> {
  const info = await lstat(from);
  if (info.isFile()) {
    try {
      // Unlike a rename, a link does not replace what is there.
      await link(from, to);
      await unlink(from);
      return;
    } catch (error) {
      if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') throw error;
      if (codeOf(error) === 'EXDEV') return moveByCopy(from, to);
    }
  }
  if (await exists(to)) throw Object.assign(new Error(`${to} is there already`), { code: 'EEXIST' });
  try {
    await rename(from, to);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    await moveByCopy(from, to);
  }
}

const safeName = (sessionId: string) =>
  /^[\w-][\w.-]{0,99}$/.test(sessionId)
    ? sessionId
    : createHash('sha256').update(sessionId).digest('hex').slice(0, 32);

/** Whether all that is at `a` is at `b` too: what a move leaves that was cut short while it removed the original. */
async function isRestOf(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([lstat(a), lstat(b)]);
  if (one.isDirectory() && other.isDirectory()) {
    for (const name of await filesBelow(a))
      if (!(await exists(join(b, name))) || !(await isRestOf(join(a, name), join(b, name)))) return false;
    return true;
  }
  if (!one.isFile() || !other.isFile()) return false;
  if (one.dev === other.dev && one.ino === other.ino) return true;
  return one.size === other.size && (await digest(a)) === (await digest(b));
}

/** Deleted sessions' files of other tools: moved byte for byte, and back. One folder a deletion, with a manifest. */
export class Trash {
  constructor(
    /** `<store>/trash` */
    private readonly folder: string,
  ) {}

  /**
   * Moves files and folders into the trash; those that are not there are left out. Returns the name of the deletion.
   * When one cannot be moved, all are back in their places and the call rejects.
   */
  async put(sessionId: string, paths: readonly string[], now: number): Promise<string> {
    const name = `${safeName(sessionId)}.${now.toString(36)}`;
    const folder = join(this.folder, name);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw failure(error);
    }
    const present: string[] = [];
    for (const path of paths) if (await exists(path)) present.push(path);
    const items = present.map((path, index) => ({ path, name: String(index) }));
    const manifest: Manifest = { version: 1, sessionId, deletedAt: now, items };
    try {
      await writeFile(join(folder, MANIFEST), JSON.stringify(manifest, undefined, 2), { flush: true });
      await sync(folder);
    } catch (error) {
      await this.purge(name);
      throw failure(error);
    }
    try {
      for (const item of items) await move(item.path, join(folder, item.name));
      await sync(folder);
    } catch (error) {
      await this.restore(name);
      await this.purge(name);
      throw failure(error);
    }
    return name;
  }

  /**
   * Moves everything back to where it was; the deletion's folder stays until `purge`. Throws `target_exists` before
   * anything is moved when a place is taken; when a move fails, what was moved goes back into the trash. Goes on where
   * a move was cut short.
   */
  async restore(name: string): Promise<void> {
    const waiting: Item[] = [];
    for (const item of await this.items(name)) {
      const { path, place } = item;
      if (!(await exists(place))) continue;
      if (!(await exists(path))) waiting.push(item);
      else if (await isRestOf(path, place)) {
        await rm(path, { recursive: true });
        waiting.push(item);
      } else if (!(await isRestOf(place, path)))
        throw new DomainError('target_exists', `There is something else at ${path} now.`, { path });
    }
    const moved: Item[] = [];
    try {
      for (const item of waiting) {
        await mkdir(dirname(item.path), { recursive: true });
        await move(item.place, item.path);
        moved.push(item);
        await sync(dirname(item.path));
      }
    } catch (error) {
      await this.takeBack(moved);
      throw failure(error);
    }
  }

  /** Moves what was restored into the trash again. */
  async withdraw(name: string): Promise<void> {
    const moved: Item[] = [];
    for (const item of await this.items(name)) if (!(await exists(item.place))) moved.push(item);
    await this.takeBack(moved);
  }

  /** Whether a restoring was begun and not ended: some of it is at its place again. */
  async isBegun(name: string): Promise<boolean> {
    for (const { path, place } of await this.items(name))
      if ((await exists(path)) && (!(await exists(place)) || (await isRestOf(place, path)))) return true;
    return false;
  }

  private async takeBack(items: readonly Item[]): Promise<void> {
    for (const { path, place } of [...items].reverse()) if (await exists(path)) await move(path, place);
  }

  /** The paths that would be put back. */
  async paths(name: string): Promise<string[]> {
    return (await this.items(name)).map(({ path }) => path);
  }

  /** Removes a deletion's files for good. */
  async purge(name: string): Promise<void> {
    await rm(join(this.folder, name), { recursive: true, force: true });
  }

  /** The deletions that are there. */
  async names(): Promise<string[]> {
    try {
      return await readdir(this.folder);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  private async items(name: string): Promise<Item[]> {
    const folder = join(this.folder, name);
    const text = await readFile(join(folder, MANIFEST), 'utf8');
    const { items } = Manifest.parse(JSON.parse(text));
    return items.map((item) => ({ path: item.path, place: join(folder, item.name) }));
  }
}
