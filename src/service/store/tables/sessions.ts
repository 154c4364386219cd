import * as z from 'zod';
import { Usage } from '../../../protocol/entry.js';
import { Parent, SessionKind, SessionState, SourceKind } from '../../../protocol/session.js';
import type { Database } from '../database.js';
import { compact, flag, json, optional } from './columns.js';

const Title = z.object({ text: z.string(), by: z.enum(['prompt', 'agent', 'tool', 'user']) });

const Row = z
  .object({
    id: z.string(),
    source: SourceKind,
    cwd: z.string(),
    title: optional(z.string()),
    title_by: optional(Title.shape.by),
    preview: optional(z.string()),
    created_at: z.number(),
    updated_at: z.number(),
    kind: SessionKind,
    headless: flag,
    state: SessionState,
    archived: flag,
    agent: optional(z.string()),
    agent_session: optional(z.string()),
    model: optional(z.string()),
    parent: optional(z.string()),
    parent_boundary: optional(z.string()),
    parent_relation: optional(Parent.shape.relation),
    message_count: optional(z.number()),
    has_errors: flag,
    unreadable: optional(z.string()),
    empty: flag,
    generation: z.number(),
    revision: z.number(),
    entry_count: z.number(),
    turn_count: z.number(),
    usage: optional(json(Usage)),
    skipped: z.number(),
    off_branch: z.number(),
    deleted_at: optional(z.number()),
    undo_until: optional(z.number()),
    directories: optional(json(z.array(z.string()))),
  })
  .transform((row) => {
    const { title, title_by: by, parent, parent_relation: relation, parent_boundary: boundaryEntryId } = row;
    return compact({
      id: row.id,
      source: row.source,
      cwd: row.cwd,
      title: title === undefined || by === undefined ? undefined : { text: title, by },
      preview: row.preview,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      kind: row.kind,
      headless: row.headless,
      state: row.state,
      archived: row.archived,
      agent: row.agent,
      agentSession: row.agent_session,
      model: row.model,
      parent:
        parent === undefined || relation === undefined
          ? undefined
          : compact({ sessionId: parent, boundaryEntryId, relation }),
      messageCount: row.message_count,
      hasErrors: row.has_errors,
      unreadable: row.unreadable,
      empty: row.empty,
      generation: row.generation,
      revision: row.revision,
      entryCount: row.entry_count,
      turnCount: row.turn_count,
      usage: row.usage,
      skipped: row.skipped,
      offBranch: row.off_branch,
      deletedAt: row.deleted_at,
      undoUntil: row.undo_until,
      directories: row.directories,
    });
  });

/** A session as it is stored. Times are in ms since the epoch. */
export type StoredSession = z.output<typeof Row>;

const columns = [
  'id',
  'source',
  'cwd',
  'title',
  'title_by',
  'preview',
  'created_at',
  'updated_at',
  'kind',
  'headless',
  'state',
  'archived',
  'agent',
  'agent_session',
  'model',
  'parent',
  'parent_boundary',
  'parent_relation',
  'message_count',
  'has_errors',
  'unreadable',
  'empty',
  'generation',
  'revision',
  'entry_count',
  'turn_count',
  'usage',
  'skipped',
  'off_branch',
  'deleted_at',
  'undo_until',
  'directories',
];
const UPSERT = `INSERT INTO session (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
  ON CONFLICT (id) DO UPDATE SET ${columns
    .slice(1)
    .map((name) => `${name} = excluded.${name}`)
    .join(', ')}`;

/** Table `session`, deleted sessions included. Other tables name a session by its short number. */
export class SessionsTable {
  private readonly numbers = new Map<string, number>();

  constructor(private readonly db: Database) {
    const Pair = z.object({ id: z.string(), num: z.number() });
    for (const { id, num } of db.all(Pair, 'SELECT id, num FROM session')) this.numbers.set(id, num);
  }

  all(): StoredSession[] {
    return this.db.all(Row, 'SELECT * FROM session');
  }

  put(session: StoredSession): void {
    this.db.run(UPSERT, [
      session.id,
      session.source,
      session.cwd,
      session.title?.text ?? null,
      session.title?.by ?? null,
      session.preview ?? null,
      session.createdAt,
      session.updatedAt,
      session.kind,
      Number(session.headless),
      session.state,
      Number(session.archived),
      session.agent ?? null,
      session.agentSession ?? null,
      session.model ?? null,
      session.parent?.sessionId ?? null,
      session.parent?.boundaryEntryId ?? null,
      session.parent?.relation ?? null,
      session.messageCount ?? null,
      Number(session.hasErrors),
      session.unreadable ?? null,
      Number(session.empty),
      session.generation,
      session.revision,
      session.entryCount,
      session.turnCount,
      session.usage === undefined ? null : JSON.stringify(session.usage),
      session.skipped,
      session.offBranch,
      session.deletedAt ?? null,
      session.undoUntil ?? null,
      session.directories === undefined ? null : JSON.stringify(session.directories),
    ]);
  }

  /** The number that other tables name it by; undefined when there is no such session. */
  number(id: string): number | undefined {
    const known = this.numbers.get(id);
    if (known !== undefined) return known;
    const found = this.db.get(z.object({ num: z.number() }), 'SELECT num FROM session WHERE id = ?', [
      id,
    ])?.num;
    if (found !== undefined) this.numbers.set(id, found);
    return found;
  }

  /** Forgets the numbers it knows: one that was given in a transaction that failed may be given to another session. */
  forgetNumbers(): void {
    this.numbers.clear();
  }

  /** Like `number`, for writing. Throws when the session was not stored before what hangs on it. */
  require(id: string): number {
    const number = this.number(id);
    if (number === undefined) throw new Error(`no session ${id} in the store`);
    return number;
  }

  remove(id: string): void {
    this.db.run('DELETE FROM session WHERE id = ?', [id]);
    this.numbers.delete(id);
  }
}
