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
    index_state: json(z.unknown()).nullable(),
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
    state: row.index_state ?? undefined,
    indexedSize: row.indexed_size,
    indexedMtimeMs: row.indexed_mtime_ms,
  }));

/** A transcript file of another tool, and how far it is indexed. `state` is the parser's own. */
export type StoredFile = z.output<typeof Row>;

/** Table `source_file`. */
export class FilesTable {
  constructor(private readonly db: Database) {}

  all(): StoredFile[] {
    return this.db.all(Row, 'SELECT * FROM source_file');
  }

  put(file: Omit<StoredFile, 'state'> & { readonly state?: unknown }): void {
    this.db.run('INSERT OR REPLACE INTO source_file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', [
      file.path,
      file.source,
      file.role,
      file.sessionId,
      file.size,
      file.mtimeMs,
      file.ino,
      file.offset,
      file.state === undefined ? null : JSON.stringify(file.state),
      file.indexedSize,
      file.indexedMtimeMs,
    ]);
  }

  remove(path: string): void {
    this.db.run('DELETE FROM source_file WHERE path = ?', [path]);
  }
}
