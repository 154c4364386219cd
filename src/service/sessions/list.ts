import type { AcpListParams, AcpListResult } from '../../protocol/acp.js';
import type { ListParams, ListResult } from '../../protocol/aster.js';
import type { SessionKind, SessionRow } from '../../protocol/session.js';
import type { Book } from './book.js';
import type { Client } from './client.js';
import { type Cursors, cursorInvalid, fingerprint, ListCursor } from './cursor.js';
import { type SessionRecord, toRow } from './record.js';
import { folderKey, requireFolder, scopeOf } from './scope.js';
import { fold } from './titles.js';

const PAGE = 50;

interface Filter {
  /** Folder key; the session's folder is this one. */
  readonly cwd?: string | undefined;
  /** Folded words; each must occur. */
  readonly words: readonly string[];
  readonly kinds: readonly SessionKind[];
  readonly headless: 'include' | 'exclude' | 'only';
  readonly archived: 'include' | 'exclude' | 'only';
}

function matches(book: Book, record: SessionRecord, filter: Filter): boolean {
  if (filter.headless !== 'include' && record.headless !== (filter.headless === 'only')) return false;
  if (filter.archived !== 'include' && record.archived !== (filter.archived === 'only')) return false;
  if (filter.kinds.length > 0 && !filter.kinds.includes(record.kind)) return false;
  if (filter.cwd !== undefined && folderKey(record.cwd) !== filter.cwd) return false;
  if (filter.words.length === 0) return true;
  const text = book.searchText(record);
  return filter.words.every((word) => text.includes(word));
}

/** One page of the list. Filter and scope apply before paging: no page but the last is short. */
function page(
  book: Book,
  cursors: Cursors,
  client: Client,
  filter: Filter,
  limit: number,
  cursor: string | undefined,
): { records: SessionRecord[]; nextCursor?: string } {
  const scope = scopeOf(client);
  const print = fingerprint([filter, scope.signature]);
  let index = 0;
  if (cursor !== undefined) {
    const [, of, updatedAt, id] = cursors.open(cursor, ListCursor);
    if (of !== print) throw cursorInvalid();
    index = book.indexAfter(updatedAt, id);
  }
  const records: SessionRecord[] = [];
  const all = book.all();
  for (; index < all.length; index += 1) {
    const record = all[index];
    if (!record || !book.isListed(record) || !matches(book, record, filter) || !scope.has(record)) continue;
    const last = records.at(-1);
    if (records.length === limit && last)
      return { records, nextCursor: cursors.seal(['l', print, last.updatedAt, last.id]) };
    records.push(record);
  }
  return { records };
}

/** `aster/session/list`. Throws `cursor_invalid`, and `invalid_params` for a relative `cwd`. */
export function list(book: Book, cursors: Cursors, client: Client, params: ListParams): ListResult {
  const kind = params._meta?.facets?.kind;
  const filter: Filter = {
    cwd: params.cwd === undefined ? undefined : requireFolder(params.cwd),
    words: fold(params.query ?? '')
      .split(/\s+/u)
      .filter((word) => word !== ''),
    kinds: kind === undefined ? [] : [kind].flat().sort(),
    headless: params.headless ?? 'include',
    archived: params.archived ?? 'exclude',
  };
  const { records, nextCursor } = page(book, cursors, client, filter, params.limit ?? PAGE, params.cursor);
  return {
    sessions: records.map((record) => toRow(record, book.childCount(record.id))),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  };
}

/** The `_meta` of an ACP `SessionInfo`. Empty fields are null, so that a change to nothing can be told. */
export function acpMeta(row: SessionRow): Record<string, unknown> {
  return {
    messageCount: row.messageCount ?? null,
    hasErrors: row.hasErrors,
    kind: row.kind,
    headless: row.headless,
    state: row.state,
    agent: row.agent ?? null,
    parent: row.parent ?? null,
    archived: row.archived,
  };
}

/** `session/list` in the protocol's own shape. Throws like `list`. */
export function acpList(book: Book, cursors: Cursors, client: Client, params: AcpListParams): AcpListResult {
  const cwd = params.cwd ?? undefined;
  const filter: Filter = {
    cwd: cwd === undefined ? undefined : requireFolder(cwd),
    words: [],
    kinds: [],
    headless: 'include',
    archived: params.archived ?? 'exclude',
  };
  const { records, nextCursor } = page(book, cursors, client, filter, PAGE, params.cursor ?? undefined);
  return {
    sessions: records.map((record) => {
      const row = toRow(record, 0);
      return {
        sessionId: row.sessionId,
        cwd: row.cwd === '' ? UNKNOWN_FOLDER : row.cwd,
        ...(row.title === undefined ? {} : { title: row.title }),
        updatedAt: row.updatedAt,
        ...(row.additionalDirectories === undefined
          ? {}
          : { additionalDirectories: row.additionalDirectories }),
        ...(row.archived ? { archived: true } : {}),
        _meta: acpMeta(row),
      };
    }),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  };
}

/** ACP wants an absolute path also for a session whose source does not tell its folder. */
const UNKNOWN_FOLDER = '/';
