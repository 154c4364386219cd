import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { foundFile, problemOf } from '../found.js';
import type { FoundFile, UnreadableFile } from '../source.js';

export interface Batch {
  found: FoundFile[];
  unreadable: UnreadableFile[];
}

/** The session's id is the end of `rollout-<time>-<uuid>.jsonl`; newer versions compress old ones. */
const ROLLOUT = /^rollout-.*?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl(\.zst)?$/i;

/** year / month / day */
const MAX_DEPTH = 3;

/** The id in the name of a rollout; undefined when it is none. */
export function idOfRollout(name: string): string | undefined {
  return ROLLOUT.exec(name)?.[1]?.toLowerCase();
}

/** Looks at a folder of rollouts and the date folders below it, one batch for each folder, newest first. */
export async function* discoverCodex(root: string, signal: AbortSignal, depth = 0): AsyncGenerator<Batch> {
  signal.throwIfAborted();
  const batch: Batch = { found: [], unreadable: [] };
  const entries = await list(root, batch.unreadable);
  const plain = new Set(entries.map((entry) => entry.name));
  const folders: string[] = [];
  await Promise.all(
    entries.map(async (entry) => {
      const file = path.join(root, entry.name);
      if (entry.isDirectory()) folders.push(entry.name);
      const sessionId = idOfRollout(entry.name);
      if (sessionId === undefined || entry.isDirectory()) return;
      if (entry.name.endsWith('.zst') && plain.has(entry.name.slice(0, -'.zst'.length))) return;
      await foundFile(batch, file, { role: 'session' }, sessionId);
    }),
  );
  if (batch.found.length > 0 || batch.unreadable.length > 0) yield batch;
  if (depth >= MAX_DEPTH) return;
  for (const folder of folders.sort().reverse()) {
    yield* discoverCodex(path.join(root, folder), signal, depth + 1);
  }
}

async function list(folder: string, unreadable: UnreadableFile[]): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const problem = problemOf(error);
    if (problem !== undefined) unreadable.push({ path: folder, problem });
    return [];
  }
}
