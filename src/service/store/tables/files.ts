import * as z from 'zod';
import { SourceKind } from '../../../protocol/session.js';
import type { Database } from '../database.js';
import { json } from './columns.js';

const Row = z
  .object({
    path: z.string(),
    source: SourceKind,
    role: z.enum(['session', 'subagent']),
    session: z.string(),
    size: z.number(),
    mtime_ms: z.number(),
    ino: z.string(),
    indexed_offset: z.number(),
    indexed_size: z.number(),
    indexed_mtime_ms: z.number(),
  })
  .transform((row) => ({
    path: row.path,
    source: row.source,
    sessionId: row.session,
    role: row.role,
    size: row.size,
    mtimeMs: row.mtime_ms,
    ino: row.ino,
    offset: row.indexed_offset,
    indexedSize: row.indexed_size,
    indexedMtimeMs: row.indexed_mtime_ms,
  }));

/** A transcript file of another tool, and how far it is indexed. */
export type StoredFile = z.output<typeof Row>;

const State = z.object({ index_state: json(z.unknown()).nullable() });
const STATE = 'index_state';
const COLUMNS = [
  'path',
  'source',
  'role',
  'session',
  'size',
  'mtime_ms',
  'ino',
  'indexed_offset',
  STATE,
  'indexed_size',
  'indexed_mtime_ms',
];
const upsert = (replaced: readonly string[]) =>
  `INSERT INTO source_file (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})
   ON CONFLICT (path) DO UPDATE SET ${replaced.map((name) => `${name} = excluded.${name}`).join(', ')}`;
const PUT = upsert(COLUMNS.slice(1));
const PUT_WITHOUT_STATE = upsert(COLUMNS.slice(1).filter((name) => name !== STATE));

/** Table `source_file`. */
export class FilesTable {
  constructor(private readonly db: Database) {}

  all(): StoredFile[] {
    return this.db.all(Row, `SELECT ${COLUMNS.filter((name) => name !== STATE).join(', ')} FROM source_file`);
  }

  /** What the parser needs to go on: its own, and large. Undefined when there is none. */
  state(path: string): unknown {
    const found = this.db.get(State, `SELECT ${STATE} FROM source_file WHERE path = ?`, [path]);
    return found?.index_state ?? undefined;
  }

  /** The state that is stored for the path stays when none is given; null removes it. */
  put(file: StoredFile, state?: unknown): void {
    this.db.run(state === undefined ? PUT_WITHOUT_STATE : PUT, [
      file.path,
      file.source,
      file.role,
      file.sessionId,
      file.size,
      file.mtimeMs,
      file.ino,
      file.offset,
      state === undefined || state === null ? null : JSON.stringify(state),
      file.indexedSize,
      file.indexedMtimeMs,
    ]);
  }

  remove(path: string): void {
    this.db.run('DELETE FROM source_file WHERE path = ?', [path]);
  }
}
