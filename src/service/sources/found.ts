import { lstat, stat } from 'node:fs/promises';
import type { FoundFile, UnreadableFile } from './source.js';

/**
 * Looks at a file and adds it to a batch: found, or unreadable with the reason. Links are followed. A file that is
 * gone is neither.
 */
export async function foundFile(
  batch: { found: FoundFile[]; unreadable: UnreadableFile[] },
  path: string,
  role: Pick<FoundFile, 'role' | 'parentSessionId'>,
  sessionId: string,
): Promise<void> {
  try {
    const info = await stat(path);
    if (!info.isFile()) {
      batch.unreadable.push({ path, problem: 'It is not a file' });
      return;
    }
    const { size, mtimeMs, dev, ino } = info;
    batch.found.push({ path, size, mtimeMs, ino: `${dev}:${ino}`, sessionId, ...role });
  } catch (error) {
    const problem = problemOf(error) ?? ((await isLink(path)) ? 'The link leads nowhere' : undefined);
    if (problem !== undefined) batch.unreadable.push({ path, problem });
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (problemOf(error) === undefined) return false;
    throw error;
  }
}

/** Why a file or folder cannot be read, for people; undefined when it is just not there. */
export function problemOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return undefined;
    case 'EACCES':
    case 'EPERM':
      return 'No permission to read it';
    case 'ELOOP':
      return 'Its links lead in a circle';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
