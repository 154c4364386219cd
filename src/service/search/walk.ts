import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finder, FinderLimits, Hits } from './finder.js';
import { IgnoreRules } from './gitignore.js';
import { isSearchable, type Place } from './place.js';

/** Files that are read at the same time. */
const PARALLEL = 8;

interface Folder {
  readonly path: string;
  readonly rules: IgnoreRules;
}

/** Finds files by walking the folder, for where no ripgrep is at hand. For one search: it walks once. */
export class Walk implements Finder {
  private listed: Promise<readonly string[]> | undefined;

  constructor(
    private readonly place: Place,
    private readonly limits: FinderLimits,
  ) {}

  list(signal: AbortSignal): Promise<readonly string[]> {
    this.listed ??= this.walk(signal);
    return this.listed;
  }

  async hits(needles: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Hits>> {
    const found = new Map<string, Hits>();
    if (needles.length === 0) return found;
    const pattern = new RegExp(needles.map(escape).join('|'), 'giu');
    const files = await this.list(signal);
    let next = 0;
    let read = 0;
    const lane = async () => {
      for (let file = files[next++]; file !== undefined; file = files[next++]) {
        if (signal.aborted || read >= this.limits.bytes) return;
        const text = await this.place.read(file);
        read += text?.length ?? 0;
        if (text === undefined) continue;
        const hits = count(text, pattern);
        if (hits.size > 0) found.set(file, hits);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, lane));
    return found;
  }

  private async walk(signal: AbortSignal): Promise<readonly string[]> {
    const { root } = this.place;
    const files: string[] = [];
    const folders: Folder[] = [{ path: '', rules: await IgnoreRules.above(root) }];
    // Near files first: they are what is left when the time is over.
    for (const { path, rules: above } of folders) {
      if (signal.aborted || files.length >= this.limits.files) break;
      const rules = await above.in(root, path);
      for (const entry of await this.entries(path)) {
        const child = path === '' ? entry.name : `${path}/${entry.name}`;
        if (!isSearchable(child)) continue;
        if (entry.isDirectory()) {
          if (!rules.ignores(`${child}/`)) folders.push({ path: child, rules });
        } else if (entry.isFile() && !rules.ignores(child)) files.push(child);
      }
    }
    return files.slice(0, this.limits.files);
  }

  private async entries(path: string) {
    try {
      const entries = await readdir(join(this.place.root, path), { withFileTypes: true });
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch {
      // Not for us to enter, or gone: nothing is found in it.
      return [];
    }
  }
}

const escape = (needle: string) => needle.replaceAll(/[$()*+.?[\\\]^{|}]/gu, '\\$&');

function count(text: string, pattern: RegExp): Hits {
  const hits = new Map<string, number>();
  for (const [found] of text.matchAll(pattern)) {
    const needle = found.toLowerCase();
    hits.set(needle, (hits.get(needle) ?? 0) + 1);
  }
  return hits;
}
