import { readdir, stat } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import path from 'node:path';
import { foundFile, problemOf } from '../found.js';
import type { FoundFile, UnreadableFile } from '../source.js';

/** How deep sub-agents of sub-agents are looked for below `<session>/subagents`. */
const MAX_DEPTH = 4;

export interface Batch {
  found: FoundFile[];
  unreadable: UnreadableFile[];
}

/** Looks at `<root>/<project>/<session>.jsonl` and the sub-agents beside and below, one batch for each project. */
export async function* discoverClaude(root: string, signal: AbortSignal): AsyncGenerator<Batch> {
  const batch: Batch = { found: [], unreadable: [] };
  const projects = await list(root, batch.unreadable);
  if (batch.unreadable.length > 0) yield batch;
  // A link to a folder that is here anyway shows nothing new.
  const seen = new Set<string>();
  const links = projects.filter((project) => project.isSymbolicLink());
  for (const project of [...projects.filter((one) => one.isDirectory()), ...links]) {
    signal.throwIfAborted();
    const folder = path.join(root, project.name);
    const identity = await folderIdentity(folder);
    if (identity === undefined || seen.has(identity)) continue;
    seen.add(identity);
    const one: Batch = { found: [], unreadable: [] };
    await lookInto(folder, one);
    if (one.found.length > 0 || one.unreadable.length > 0) yield one;
  }
}

async function lookInto(folder: string, batch: Batch): Promise<void> {
  const entries = await list(folder, batch.unreadable);
  await Promise.all(
    entries.map(async (entry) => {
      const file = path.join(folder, entry.name);
      if (entry.name.endsWith('.jsonl')) {
        const sessionId = path.basename(entry.name, '.jsonl');
        await foundFile(
          batch,
          file,
          sessionId.startsWith('agent-') ? { role: 'subagent' } : { role: 'session' },
          sessionId,
        );
      } else if (entry.isDirectory()) {
        await lookForAgents(path.join(file, 'subagents'), entry.name, batch, 0);
      }
    }),
  );
}

async function lookForAgents(
  folder: string,
  parentSessionId: string,
  batch: Batch,
  depth: number,
): Promise<void> {
  if (depth > MAX_DEPTH) return;
  const entries = await list(folder, batch.unreadable);
  for (const entry of entries) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) await lookForAgents(file, parentSessionId, batch, depth + 1);
    else if (entry.name.startsWith('agent-') && entry.name.endsWith('.jsonl')) {
      await foundFile(
        batch,
        file,
        { role: 'subagent', parentSessionId },
        path.basename(entry.name, '.jsonl'),
      );
    }
  }
}

/** The entries of a folder; a missing one has none, one that cannot be read is reported. */
async function list(folder: string, unreadable: UnreadableFile[]): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const problem = problemOf(error);
    if (problem !== undefined) unreadable.push({ path: folder, problem });
    return [];
  }
}

/** Device and inode of a folder or of the one that a link leads to; undefined when it is none. */
async function folderIdentity(folder: string): Promise<string | undefined> {
  try {
    const info = await stat(folder);
    return info.isDirectory() ? `${info.dev}:${info.ino}` : undefined;
  } catch {
    // A link that leads nowhere holds no sessions.
    return undefined;
  }
}
