import type { InboxItem, PermissionItem } from '../../protocol/inbox.js';
import { plainLine } from '../format.js';

/** What an item asks, in the agent's own words; pure, so that it is tested without an editor. */

/** One line: what the agent wants to do, or what it says. Empty when it says nothing. */
export function headline(item: InboxItem): string {
  switch (item.kind) {
    case 'permission':
      return plainLine(item.title) || plainLine(item.tool.command ?? '') || (placesOf(item)[0] ?? '');
    case 'form':
    case 'url':
    case 'failed':
      return plainLine(item.message);
  }
}

/** The paths a permission is about, with lines, each once. */
export function placesOf({ tool }: PermissionItem): string[] {
  const named = tool.locations.map(({ path, line }) =>
    line === undefined ? path : `${path}:${String(line)}`,
  );
  const changed = tool.diffs.map(({ path }) => path);
  const known = new Set(tool.locations.map(({ path }) => path));
  return [...new Set([...named, ...changed.filter((path) => !known.has(path))])].map(plainLine);
}

/** What stands behind the headline: the command and the paths, as far as the headline does not have them. */
export function particulars(item: InboxItem): string[] {
  if (item.kind === 'url') return [plainLine(item.url)];
  if (item.kind !== 'permission') return [];
  const head = headline(item);
  const command = item.tool.command ?? '';
  return [...(plainLine(command) === '' ? [] : [command]), ...placesOf(item)].filter(
    (part) => !head.includes(plainLine(part)),
  );
}
