import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Store } from '../../src/service/store/store.js';
import type { EntryToStore } from '../../src/service/store/tables/entries.js';
import type { StoredSession } from '../../src/service/store/tables/sessions.js';

/** A folder of this test alone, with what is mounted in it; `dispose` removes all. */
export class StorePlace {
  readonly root = fs.realpathSync.native(fs.mkdtempSync(path.join(os.tmpdir(), 'deck-store-')));
  private readonly mounts: string[] = [];
  private readonly stores: Store[] = [];

  get dir(): string {
    return path.join(this.root, 'store');
  }

  get file(): string {
    return path.join(this.dir, 'store-v1.db');
  }

  /** Opens the store, which must not be another process's. */
  async open(dir = this.dir): Promise<Store> {
    const store = await Store.open(dir);
    if (!(store instanceof Store)) throw new Error(`process ${store.owner.pid} has the store`);
    this.stores.push(store);
    return store;
  }

  /** A disk of its own of this size; undefined where mounting is not allowed. */
  disk(size: string): string | undefined {
    const folder = path.join(this.root, `disk-${this.mounts.length}`);
    fs.mkdirSync(folder);
    if (!mount('-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder)) return undefined;
    this.mounts.push(folder);
    return folder;
  }

  /** Makes a disk larger or smaller. */
  resize(disk: string, size: string): void {
    execFileSync('mount', ['-o', `remount,size=${size}`, disk]);
  }

  dispose(): void {
    for (const store of this.stores) store.close();
    for (const folder of this.mounts) execFileSync('umount', ['--lazy', folder]);
    fs.rmSync(this.root, { recursive: true, force: true });
  }
}

/** True when it was allowed. */
export function mount(...args: string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A session of ours with nothing in it. */
export function aSession(id: string, changes: Partial<StoredSession> = {}): StoredSession {
  return {
    id,
    source: 'deck',
    cwd: '/work/project',
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000,
    kind: 'build',
    headless: false,
    state: 'idle',
    archived: false,
    hasErrors: false,
    empty: false,
    generation: 1,
    revision: 0,
    entryCount: 0,
    turnCount: 0,
    skipped: 0,
    offBranch: 0,
    ...changes,
  };
}

/** An entry of ours with a text. */
export function anEntry(ordinal: number, text = `text ${ordinal}`): EntryToStore {
  return {
    id: `entry-${ordinal}`,
    ordinal,
    turnId: 'turn-1',
    kind: 'assistant',
    at: 1_700_000_000_000 + ordinal,
    boundary: false,
    preview: text.slice(0, 20),
    revision: ordinal + 1,
    place: { in: 'store', body: { kind: 'assistant', content: [{ type: 'text', text }] } },
  };
}
