import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk';
import { isWithin } from '../sessions/scope.js';
import type { RunSession } from './ports.js';

/**
 * Where the path really is, symlinks resolved; what is missing of it stays as it is written. Rejects with a
 * `RequestError` when it is not absolute, or not inside the session's folders.
 */
export async function pathInside(
  workspace: Pick<RunSession, 'cwd' | 'directories'>,
  path: string,
): Promise<string> {
  if (!isAbsolute(path) || path.includes('\0'))
    throw RequestError.invalidParams({ path }, 'the path must be absolute');
  const real = await realPath(normalize(path));
  const roots = await Promise.all([workspace.cwd, ...(workspace.directories ?? [])].map(realPath));
  if (roots.some((root) => isWithin(real, root))) return real;
  throw RequestError.invalidParams({ path }, `this path is outside of the folders of the session: ${path}`);
}

async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw unreadable(path, error);
  }
  // A link that leads nowhere yet could lead anywhere when it is followed.
  if (await isLink(path)) throw RequestError.invalidParams({ path }, `this is a broken link: ${path}`);
  const parent = dirname(path);
  return parent === path ? path : join(await realPath(parent), basename(path));
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw unreadable(path, error);
  }
}

/** What the agent hears of a file that the system refuses. */
export function unreadable(path: string, error: unknown): RequestError {
  if (codeOf(error) === 'ENOENT') return RequestError.resourceNotFound(path);
  return RequestError.invalidParams({ path }, error instanceof Error ? error.message : String(error));
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
