import type * as z from 'zod';
import type { Status } from '../../protocol/deck.js';
import { titleOf } from '../agents/registry.js';
import type { Book } from './book.js';
import type { Client } from './client.js';
import type { Files } from './files.js';
import { scopeOf } from './scope.js';

/** `deck/status` for a client: counts are of what it can see. */
export function statusOf(
  client: Client,
  of: {
    readonly version: string;
    readonly book: Book;
    readonly files: Files;
    readonly listReady: boolean;
    readonly isIndexing: boolean;
    readonly unreadable: number;
    readonly store: {
      readonly dir: string;
      readonly mode: { readonly readOnly: boolean; readonly reason?: string };
    };
  },
): z.infer<typeof Status> {
  const { book, files, store } = of;
  const scope = scopeOf(client);
  const counts = { total: 0, running: 0, needsInput: 0 };
  for (const record of book.all()) {
    if (!book.isListed(record) || record.archived || !scope.has(record)) continue;
    counts.total += 1;
    if (record.state === 'running') counts.running += 1;
    if (record.state === 'needs_input') counts.needsInput += 1;
  }
  const { agents = {}, defaultAgent } = client.options.config;
  const ids = Object.keys(agents);
  return {
    version: of.version,
    pid: process.pid,
    listReady: of.listReady,
    indexing: { active: of.isIndexing, ...files.progress() },
    unreadable: of.unreadable,
    store: {
      path: store.dir,
      readOnly: store.mode.readOnly,
      ...(store.mode.reason === undefined ? {} : { reason: store.mode.reason }),
    },
    counts,
    agents: ids.map((id) => ({
      id,
      title: titleOf(id, agents[id]),
      default: defaultAgent === undefined ? ids.length === 1 : id === defaultAgent,
    })),
  };
}
