import { watch, type FSWatcher } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** Receives what the watcher sees. */
export interface WatchListener {
  /** These transcript files came, grew or went. */
  changed(paths: readonly string[]): void;
  /** Something changed that only a look at the folders tells. */
  rescan(): void;
}

export interface WatchOptions {
  /** Changes are collected for this long, in milliseconds. */
  readonly debounceMs: number;
  /** How often folders are looked at where they cannot be watched, in milliseconds. */
  readonly pollMs: number;
  /** Not more folders than this are watched. */
  readonly maxFolders: number;
}

const DEFAULTS: WatchOptions = { debounceMs: 200, pollMs: 60_000, maxFolders: 2000 };
/** `<root>/<project>/<session>/subagents` and `<root>/<year>/<month>/<day>` */
const MAX_DEPTH = 3;
/** These systems watch a whole tree with one watcher. */
const WHOLE_TREES = process.platform === 'darwin' || process.platform === 'win32';

/**
 * Follows the folders of the sources. Folders are watched, not files: tools have 10,000 files and chokidar would watch
 * and stat each one. Where watching fails or its limits are reached, `rescan` comes at a slow pace instead, and the
 * listener compares sizes and times.
 */
export class SourceWatcher {
  readonly #listener: WatchListener;
  readonly #options: WatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #changed = new Set<string>();
  #rescan = false;
  #flush: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(listener: WatchListener, options: Partial<WatchOptions> = {}) {
    this.#listener = listener;
    this.#options = { ...DEFAULTS, ...options };
  }

  /** True when some folder cannot be watched and is looked at from time to time. */
  get polling(): boolean {
    return this.#poll !== undefined;
  }

  /** Begins to watch; resolves when everything that is there is watched. A missing root is waited for. */
  async start(roots: readonly string[]): Promise<void> {
    for (const root of roots) await this.#root(root);
  }

  close(): void {
    this.#closed = true;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    clearTimeout(this.#flush);
    clearInterval(this.#poll);
    this.#flush = undefined;
    this.#poll = undefined;
  }

  /**
   * Watches a root, and the folder that it is in or will be in: a root that goes, moves away or comes with its parents
   * is seen there.
   */
  async #root(root: string): Promise<void> {
    if (this.#closed) return;
    let parent = path.dirname(root);
    while (parent !== path.dirname(parent) && !(await isFolder(parent))) parent = path.dirname(parent);
    const next = path.join(parent, path.relative(parent, root).split(path.sep)[0] ?? '');
    const names = [null, path.basename(next), path.basename(parent)];
    this.#watch(`\0${root}`, parent, (name, event) => {
      if (event === 'rename' && names.includes(name)) void this.#rootChanged(root);
    });
    if (await isFolder(root)) await this.#tree(root, 0);
    // It came before its parent was watched.
    else if (await isFolder(next)) await this.#root(root);
  }

  async #rootChanged(root: string): Promise<void> {
    this.#forget(root);
    await this.#root(root);
    this.#note(undefined);
  }

  async #tree(folder: string, depth: number): Promise<void> {
    if (this.#closed || this.#watchers.has(folder)) return;
    if (this.#watchers.size >= this.#options.maxFolders) {
      this.#startPolling();
      return;
    }
    this.#watch(folder, folder, (name) => this.#seen(folder, name, depth));
    if (WHOLE_TREES || depth >= MAX_DEPTH) return;
    for (const name of await foldersIn(folder)) await this.#tree(path.join(folder, name), depth + 1);
  }

  #seen(folder: string, name: string | null, depth: number): void {
    if (name === null) {
      this.#note(undefined);
    } else if (name.endsWith('.jsonl')) {
      this.#note(path.join(folder, name));
    } else if (!path.basename(name).includes('.')) {
      void this.#folderChanged(folder, path.join(folder, name), depth);
    }
  }

  /** A folder may have come (with files in it already), gone, or been replaced by one of the same name. */
  async #folderChanged(folder: string, inner: string, depth: number): Promise<void> {
    if (!(await isFolder(folder))) {
      // A root that went is waited for where its parent is watched.
      this.#forget(folder);
      this.#note(undefined);
      return;
    }
    if (WHOLE_TREES || depth >= MAX_DEPTH) return;
    const known = this.#watchers.has(inner);
    this.#forget(inner);
    const there = await isFolder(inner);
    if (there) await this.#tree(inner, depth + 1);
    if (there || known) this.#note(undefined);
  }

  #forget(folder: string): void {
    for (const [key, watcher] of this.#watchers) {
      if (key !== folder && !key.startsWith(folder + path.sep)) continue;
      watcher.close();
      this.#watchers.delete(key);
    }
  }

  #watch(key: string, folder: string, seen: (name: string | null, event: string) => void): void {
    if (this.#closed) return;
    try {
      const watcher = watch(folder, { persistent: false, recursive: WHOLE_TREES && key === folder });
      this.#watchers.get(key)?.close();
      this.#watchers.set(key, watcher);
      watcher.on('change', (event, name) => seen(typeof name === 'string' ? name : null, event));
      watcher.on('error', () => {
        // The folder went (Windows says so as an error) or the system has no more watchers.
        watcher.close();
        if (this.#watchers.get(key) === watcher) this.#watchers.delete(key);
        this.#startPolling();
        this.#note(undefined);
      });
    } catch {
      // ENOSPC, EMFILE, or a file system that cannot be watched.
      this.#startPolling();
    }
  }

  #startPolling(): void {
    if (this.#closed || this.#poll) return;
    this.#poll = setInterval(() => this.#listener.rescan(), this.#options.pollMs).unref();
  }

  #note(file: string | undefined): void {
    if (this.#closed) return;
    if (file === undefined) this.#rescan = true;
    else this.#changed.add(file);
    this.#flush ??= setTimeout(() => {
      this.#flush = undefined;
      const paths = [...this.#changed];
      const rescan = this.#rescan;
      this.#changed.clear();
      this.#rescan = false;
      if (rescan) this.#listener.rescan();
      if (paths.length > 0) this.#listener.changed(paths);
    }, this.#options.debounceMs).unref();
  }
}

async function isFolder(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory();
  } catch {
    // What cannot be looked at cannot be watched either; `discover` reports it.
    return false;
  }
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch {
    // As above.
    return [];
  }
}
