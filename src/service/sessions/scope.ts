import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { DomainError } from '../../protocol/errors.js';
import type { SourceKind } from '../../protocol/session.js';
import type { Client } from './client.js';

/** Longest time that a resolved symlink is believed, in ms. */
const RESOLVED_FOR = 60_000;
const MAX_RESOLVED = 20_000;
const foldsCase = process.platform === 'win32' || process.platform === 'darwin';

const resolved = new Map<string, { readonly key: string; readonly until: number }>();

/** The real path of the longest part that exists, and the rest as it is written. */
function realPath(path: string): string {
  const missing: string[] = [];
  for (let existing = path; ; existing = dirname(existing)) {
    try {
      return join(realpathSync.native(existing), ...missing);
    } catch {
      // Not there, or not for us to see: its parent decides.
      if (dirname(existing) === existing) return path;
      missing.unshift(basename(existing));
    }
  }
}

/**
 * What two paths of one folder have in common: symlinks resolved, no trailing slash, lower case where the platform
 * does not tell case apart. For comparing only, never for opening. Empty for the empty path.
 */
export function folderKey(path: string): string {
  if (!isAbsolute(path)) return '';
  const now = Date.now();
  const known = resolved.get(path);
  if (known && known.until > now) return known.key;
  const real = realPath(resolve(path));
  const key = foldsCase ? real.toLowerCase() : real;
  if (resolved.size >= MAX_RESOLVED) resolved.clear();
  resolved.set(path, { key, until: now + RESOLVED_FOR });
  return key;
}

/** The folder's key, or `invalid_params` naming `field` when the path is not absolute. */
export function requireFolder(path: string, field = 'cwd'): string {
  if (!isAbsolute(path) || path.includes('\0'))
    throw new DomainError('invalid_params', `${field} must be an absolute path.`, { field });
  return folderKey(path);
}

/** Whether `key` is the folder `root` or lies below it; both as `folderKey` gives them. */
export function isWithin(key: string, root: string): boolean {
  if (key === root) return true;
  return key.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** What a client may see: sessions of its folders, from sources that it did not leave out. */
export interface Scope {
  /** Whether a session may be seen. One without a folder is seen by `allFolders` only. */
  has(session: { readonly cwd: string; readonly source: SourceKind }): boolean;
  /** Changes when the scope does; part of a list cursor's filter. */
  readonly signature: string;
}

/** The client's scope now. A request can narrow it, never widen it. */
export function scopeOf(client: Client): Scope {
  const { allFolders, workspaces, config } = client.options;
  const leftOut = Object.entries(config.sources ?? {}).flatMap(([name, shown]) => (shown ? [] : [name]));
  const roots = allFolders ? ['*'] : workspaces.map(folderKey).filter((root) => root !== '');
  return {
    has: ({ cwd, source }) => {
      if (leftOut.includes(source)) return false;
      if (allFolders) return true;
      const key = folderKey(cwd);
      return key !== '' && roots.some((root) => isWithin(key, root));
    },
    signature: JSON.stringify([[...roots].sort(), leftOut.sort()]),
  };
}
