import * as z from 'zod';
import { Turn, Usage } from '../../../protocol/entry.js';
import type { Database } from '../database.js';
import { compact, flag, json, optional } from './columns.js';
import type { SessionsTable } from './sessions.js';

const Row = z
  .object({
    number: z.number(),
    id: z.string(),
    prompt: z.string(),
    at: z.number(),
    ended_at: optional(z.number()),
    status: Turn.shape.status,
    first_ordinal: z.number(),
    last_ordinal: z.number(),
    boundary: optional(z.string()),
    tools: z.number(),
    files: json(z.array(z.string())),
    usage: optional(json(Usage)),
    own: flag,
  })
  .transform((row) =>
    compact({
      id: row.id,
      number: row.number,
      prompt: row.prompt,
      at: row.at,
      endedAt: row.ended_at,
      status: row.status,
      firstOrdinal: row.first_ordinal,
      lastOrdinal: row.last_ordinal,
      boundaryEntryId: row.boundary,
      tools: row.tools,
      files: row.files,
      usage: row.usage,
      own: row.own,
    }),
  );

/** A turn of a transcript; `number` is 1-based and dense. */
export type StoredTurn = z.output<typeof Row>;
export type TurnToStore = Omit<StoredTurn, 'files' | 'endedAt' | 'boundaryEntryId' | 'usage'> & {
  readonly files: readonly string[];
  readonly endedAt?: number | undefined;
  readonly boundaryEntryId?: string | undefined;
  readonly usage?: z.output<typeof Usage> | undefined;
};

const COLUMNS =
  'number, id, prompt, at, ended_at, status, first_ordinal, last_ordinal, boundary, tools, files, usage, own';

/** Table `turn`. */
export class TurnsTable {
  constructor(
    private readonly db: Database,
    private readonly sessions: SessionsTable,
  ) {}

  /** Turns from number `from` on, ascending. */
  page(sessionId: string, generation: number, from: number, limit: number): StoredTurn[] {
    const session = this.sessions.number(sessionId);
    if (session === undefined) return [];
    return this.db.all(
      Row,
      `SELECT ${COLUMNS} FROM turn WHERE session = ? AND generation = ? AND number >= ? ORDER BY number LIMIT ?`,
      [session, generation, from, limit],
    );
  }

  byId(sessionId: string, generation: number, id: string): StoredTurn | undefined {
    const session = this.sessions.number(sessionId);
    if (session === undefined) return undefined;
    return this.db.get(Row, `SELECT ${COLUMNS} FROM turn WHERE session = ? AND generation = ? AND id = ?`, [
      session,
      generation,
      id,
    ]);
  }

  put(sessionId: string, generation: number, turns: readonly TurnToStore[]): void {
    const session = this.sessions.require(sessionId);
    for (const turn of turns)
      this.db.run(
        `INSERT OR REPLACE INTO turn (session, generation, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          session,
          generation,
          turn.number,
          turn.id,
          turn.prompt,
          turn.at,
          turn.endedAt ?? null,
          turn.status,
          turn.firstOrdinal,
          turn.lastOrdinal,
          turn.boundaryEntryId ?? null,
          turn.tools,
          JSON.stringify(turn.files),
          turn.usage === undefined ? null : JSON.stringify(turn.usage),
          Number(turn.own),
        ],
      );
  }
}
