import assert from 'node:assert/strict';
import { appendFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SourceWatcher, type WatchOptions } from '../../../src/service/sources/watch.js';
import { inFolder } from './tools.js';

async function watching(
  run: (root: string, seen: { paths: Set<string>; rescans: number }, watcher: SourceWatcher) => Promise<void>,
  options: Partial<WatchOptions> = {},
  prepare = (root: string): Promise<unknown> => mkdir(root, { recursive: true }),
): Promise<void> {
  await inFolder(async (dir) => {
    const root = path.join(dir, 'tool', 'projects');
    await prepare(root);
    const seen = { paths: new Set<string>(), rescans: 0 };
    const watcher = new SourceWatcher(
      {
        changed: (paths) => paths.forEach((one) => seen.paths.add(one)),
        rescan: () => seen.rescans++,
      },
      { debounceMs: 20, ...options },
    );
    try {
      await watcher.start([root]);
      await run(root, seen, watcher);
    } finally {
      watcher.close();
    }
  });
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const end = Date.now() + 5000;
  while (!holds()) {
    if (Date.now() > end) assert.fail(`did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('The watcher of the sources', () => {
  it('tells files that grow, come and go', () =>
    watching(
      async (root, seen) => {
        const old = path.join(root, 'p', 'a.jsonl');
        await appendFile(old, 'x\n');
        await until('growth', () => seen.paths.has(old));
        const fresh = path.join(root, 'p', 'b.jsonl');
        await writeFile(fresh, 'x\n');
        await until('creation', () => seen.paths.has(fresh));
        seen.paths.clear();
        await rm(old);
        await until('removal', () => seen.paths.has(old));
        await writeFile(path.join(root, 'p', 'notes.txt'), 'x');
        await new Promise((resolve) => setTimeout(resolve, 80));
        assert.deepEqual([...seen.paths], [old]);
      },
      {},
      async (root) => {
        await mkdir(path.join(root, 'p'), { recursive: true });
        await writeFile(path.join(root, 'p', 'a.jsonl'), '');
      },
    ));

  it('follows folders that come later, and what is in them', () =>
    watching(async (root, seen) => {
      const deep = path.join(root, 'q', 'session', 'subagents');
      await mkdir(deep, { recursive: true });
      await until('rescan', () => seen.rescans > 0);
      const file = path.join(deep, 'agent-1.jsonl');
      await until('a change in the new folder', () => {
        void appendFile(file, 'x\n');
        return seen.paths.has(file);
      });
    }));

  it('waits for a root that is not there', () =>
    watching(
      async (root, seen) => {
        await mkdir(path.dirname(root), { recursive: true });
        await new Promise((resolve) => setTimeout(resolve, 50));
        await mkdir(root);
        await until('rescan', () => seen.rescans > 0);
        const file = path.join(root, 'a.jsonl');
        await until('a change', () => {
          void appendFile(file, 'x\n');
          return seen.paths.has(file);
        });
      },
      {},
      () => Promise.resolve(),
    ));

  it('goes on when folders, the root or its parent go and come again', () =>
    watching(
      async (root, seen) => {
        const parent = path.dirname(root);
        const away = (folder: string) => rename(folder, `${folder}-${String(Date.now())}`);
        const removed = (folder: string) => rm(folder, { recursive: true });
        for (const [gone, go] of [
          [path.join(root, 'p'), removed],
          [root, removed],
          [root, away],
          [parent, removed],
          [parent, away],
        ] as const) {
          await go(gone);
          await until('rescan', () => seen.rescans > 0);
          seen.rescans = 0;
          await mkdir(path.join(root, 'p'), { recursive: true });
          await until('rescan of the new one', () => seen.rescans > 0);
          const file = path.join(root, 'p', 'a.jsonl');
          seen.paths.clear();
          await until('a change', () => {
            void appendFile(file, 'x\n');
            return seen.paths.has(file);
          });
          seen.rescans = 0;
        }
      },
      {},
      (root) => mkdir(path.join(root, 'p'), { recursive: true }),
    ));

  it('looks from time to time where it may not watch all', () =>
    watching(
      async (_root, seen, watcher) => {
        assert.equal(watcher.polling, true);
        await until('rescan', () => seen.rescans >= 2);
      },
      { maxFolders: 2, pollMs: 30 },
      async (root) => {
        for (const name of ['a', 'b', 'c']) await mkdir(path.join(root, name), { recursive: true });
      },
    ));

  it('does not look from time to time where it watches all', () =>
    watching(
      async (_root, seen, watcher) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        assert.deepEqual([watcher.polling, seen.rescans], [false, 0]);
      },
      { pollMs: 20 },
    ));
});
