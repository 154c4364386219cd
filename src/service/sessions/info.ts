import type * as z from 'zod';
import type { SessionDetails } from '../../protocol/session.js';
import type { Client } from './client.js';
import { type Files, isBehind } from './files.js';
import { isUnread } from './imported.js';
import { type SessionRecord, toRow } from './record.js';
import type { RunControl } from './run_control.js';
import { scopeOf } from './scope.js';
import type { Shelf } from './shelf.js';

export type Details = z.infer<typeof SessionDetails>;

/** `aster/session/info`: everything that is known of a session. */
export function info(
  { shelf, files, runs }: { shelf: Shelf; files: Files; runs: RunControl },
  client: Client,
  record: SessionRecord,
): Details {
  const { book } = shelf;
  const scope = scopeOf(client);
  const file = files.holding(record);
  const activeRun = runs.activeRun(record.id);
  return {
    ...toRow(record, book.childCount(record.id)),
    cut: { generation: record.generation, revision: record.revision },
    entryCount: record.entryCount,
    turnCount: record.turnCount,
    ...(record.usage === undefined ? {} : { usage: record.usage }),
    ...(activeRun === undefined ? {} : { activeRun }),
    children: book
      .children(record.id)
      .filter((child) => scope.has(child))
      .map((child) => toRow(child, book.childCount(child.id))),
    sourceInfo: {
      kind: record.source,
      ...(file === undefined ? {} : { path: file.path }),
      skipped: record.skipped,
      offBranch: record.offBranch,
      ...(isUnread(record) ? { unread: true } : {}),
      indexing: file !== undefined && isBehind(file) && record.unreadable === undefined,
    },
    can: runs.can(client, record),
  };
}
