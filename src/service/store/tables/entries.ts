import * as z from 'zod';
import { Entry, EntryKind } from '../../../protocol/entry.js';
import type { Database } from '../database.js';
import { compact, flag, json, optional } from './columns.js';
import type { SessionsTable } from './sessions.js';

const Body = Entry.omit({
  id: true,
  ordinal: true,
  turnId: true,
  turn: true,
  at: true,
  boundary: true,
  replay: true,
  truncated: true,
  turnUsage: true,
  turnDurationMs: true,
});
const Ranges = z.array(z.tuple([z.number(), z.number()]));

const Row = z
  .object({
    ordinal: z.number(),
    id: z.string(),
    turn: z.string(),
    kind: EntryKind,
    at: z.number(),
    status: optional(Entry.shape.status.unwrap()),
    boundary: flag,
    revision: z.number(),
    body: json(Body).nullable(),
    ranges: json(Ranges).nullable(),
    block: optional(z.number()),
    preview: z.string(),
  })
  .transform((row) =>
    compact({
      id: row.id,
      ordinal: row.ordinal,
      turnId: row.turn,
      kind: row.kind,
      at: row.at,
      status: row.status,
      boundary: row.boundary,
      preview: row.preview,
      revision: row.revision,
      place: place(row),
    }),
  );

/** Where an entry's content is: at ranges of the session's file, or here as JSON. */
type Place =
  | { in: 'file'; ranges: z.output<typeof Ranges>; block?: number | undefined }
  | { in: 'store'; body: z.output<typeof Body> };

function place(row: {
  body: z.output<typeof Body> | null;
  ranges: z.output<typeof Ranges> | null;
  block: number | undefined;
}): Place {
  if (row.body !== null) return { in: 'store', body: row.body };
  return { in: 'file', ranges: row.ranges ?? [], block: row.block };
}

/** One row of a transcript. */
export type StoredEntry = z.output<typeof Row>;

/** What may be written: ranges need not be mutable. */
export type EntryToStore = Omit<StoredEntry, 'place'> & {
  readonly place:
    | {
        readonly in: 'file';
        readonly ranges: readonly (readonly [number, number])[];
        readonly block?: number | undefined;
      }
    | { readonly in: 'store'; readonly body: z.output<typeof Body> };
};

const COLUMNS = 'ordinal, id, turn, kind, at, status, boundary, revision, body, ranges, block, preview';
const WHOLE = 'session = ? AND generation = ?';

/** Table `entry`. Rows of several generations stand beside each other until the older ones are removed. */
export class EntriesTable {
  constructor(
    private readonly db: Database,
    private readonly sessions: SessionsTable,
  ) {}

  /** Rows from `from` on, ascending. */
  page(sessionId: string, generation: number, from: number, limit: number): StoredEntry[] {
    const session = this.sessions.number(sessionId);
    if (session === undefined) return [];
    return this.db.all(
      Row,
      `SELECT ${COLUMNS} FROM entry WHERE ${WHOLE} AND ordinal >= ? ORDER BY ordinal LIMIT ?`,
      [session, generation, from, limit],
    );
  }

  byId(sessionId: string, generation: number, id: string): StoredEntry | undefined {
    const session = this.sessions.number(sessionId);
    if (session === undefined) return undefined;
    return this.db.get(Row, `SELECT ${COLUMNS} FROM entry WHERE ${WHOLE} AND id = ?`, [
      session,
      generation,
      id,
    ]);
  }

  /** New rows, and known ones (same id or ordinal) in place of the old. */
  put(sessionId: string, generation: number, entries: readonly EntryToStore[]): void {
    const session = this.sessions.require(sessionId);
    for (const entry of entries) {
      const { place } = entry;
      this.db.run(
        `INSERT OR REPLACE INTO entry (session, generation, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          session,
          generation,
          entry.ordinal,
          entry.id,
          entry.turnId,
          entry.kind,
          entry.at,
          entry.status ?? null,
          Number(entry.boundary),
          entry.revision,
          place.in === 'store' ? JSON.stringify(place.body) : null,
          place.in === 'file' ? JSON.stringify(place.ranges) : null,
          place.in === 'file' ? (place.block ?? null) : null,
          entry.preview,
        ],
      );
    }
  }

  /** The highest revision among the rows up to and with `ordinal`; 0 when there are none. */
  revisionUpTo(sessionId: string, generation: number, ordinal: number): number {
    const session = this.sessions.number(sessionId);
    if (session === undefined) return 0;
    const found = this.db.get(
      z.object({ revision: z.number().nullable() }),
      `SELECT max(revision) AS revision FROM entry WHERE ${WHOLE} AND ordinal <= ?`,
      [session, generation, ordinal],
    );
    return found?.revision ?? 0;
  }
}
