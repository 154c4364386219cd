import { DomainError } from '../../protocol/errors.js';
import type { Client } from './client.js';
import { requireFolder, scopeOf } from './scope.js';

const FIELD = 'additionalDirectories';

/**
 * Further roots of a session's workspace as a client names them, the whole list each time: none named means none.
 * Throws `invalid_params` for a relative one and `forbidden` for one out of the client's scope.
 */
export function requireDirectories(client: Client, paths: readonly string[] | null | undefined): string[] {
  const scope = scopeOf(client);
  const directories = new Map<string, string>();
  for (const path of paths ?? []) {
    const key = requireFolder(path, FIELD);
    if (!scope.has({ cwd: path, source: 'deck' }))
      throw new DomainError('forbidden', 'This folder is outside of those that were opened here.', {
        field: FIELD,
      });
    if (!directories.has(key)) directories.set(key, path);
  }
  return [...directories.values()];
}
