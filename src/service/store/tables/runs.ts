import * as z from 'zod';
import type { Database } from '../database.js';
import type { SessionsTable } from './sessions.js';
import { flag, json, optional } from './columns.js';
import { InterjectionState } from '../../../protocol/deck.js';
import { BackgroundTaskKind, BackgroundTaskStatus } from '../../../protocol/tasks.js';

const RunKind = z.enum(['prompt', 'interjection', 'compaction']);

const RunRow = z
  .object({
    id: z.string(),
    session: z.string(),
    turn: z.string(),
    kind: RunKind,
    agent: z.string(),
    started_at: z.number(),
  })
  .transform((row) => ({
    id: row.id,
    sessionId: row.session,
    turnId: row.turn,
    kind: row.kind,
    agent: row.agent,
    startedAt: row.started_at,
  }));
/** A run that was begun. Times are in ms since the epoch. */
export type StoredRun = z.output<typeof RunRow>;

const InterjectionRow = z
  .object({
    id: z.string(),
    session: z.string(),
    run: optional(z.string()),
    text: z.string(),
    state: InterjectionState,
    created_at: z.number(),
    updated_at: z.number(),
  })
  .transform((row) => ({
    id: row.id,
    sessionId: row.session,
    runId: row.run,
    text: row.text,
    state: row.state,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
export type StoredInterjection = z.output<typeof InterjectionRow>;

const PermissionRow = z
  .object({
    id: z.string(),
    session: z.string(),
    run: z.string(),
    entry: z.string(),
    request: json(z.unknown()),
    created_at: z.number(),
  })
  .transform((row) => ({
    id: row.id,
    runId: row.run,
    sessionId: row.session,
    entryId: row.entry,
    request: row.request,
    createdAt: row.created_at,
  }));
/** A question that an agent asked; `request` is the question as it asked it. */
export type StoredPermission = z.output<typeof PermissionRow>;

const InboxRow = z
  .object({ session: z.string(), kind: z.enum(['question', 'failed']), closed: flag })
  .transform((row) => ({ sessionId: row.session, kind: row.kind, closed: row.closed }));

const FailedRow = RunRow.in
  .extend({ error: optional(z.string()), ended_at: optional(z.number()) })
  .transform((row) => ({
    id: row.id,
    sessionId: row.session,
    error: row.error,
    endedAt: row.ended_at ?? row.started_at,
  }));
/** A run that failed and was not looked at yet. */
export type StoredFailure = z.output<typeof FailedRow>;

const TaskRow = z
  .object({
    id: z.string(),
    session: z.string(),
    kind: BackgroundTaskKind,
    title: z.string(),
    status: BackgroundTaskStatus,
    started_at: z.number(),
    ended_at: optional(z.number()),
    result: optional(z.string()),
    output_tail: optional(z.string()),
  })
  .transform((row) => ({
    id: row.id,
    sessionId: row.session,
    kind: row.kind,
    title: row.title,
    status: row.status,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    result: row.result,
    outputTail: row.output_tail,
  }));
export type StoredTask = z.output<typeof TaskRow>;

interface Tokens {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly reasoning?: number | undefined;
}

const Fact = z.object({ value: json(z.unknown()) });
type Optional<T, K extends keyof T> = Omit<T, K> & { [P in K]?: T[P] | undefined };

const named = (table: string, columns: string, where: string) =>
  `SELECT session.id AS session, ${columns} FROM ${table} JOIN session ON session.num = ${table}.session WHERE ${where}`;
const RUN = 'run.id AS id, turn, run.kind AS kind, run.agent AS agent, started_at';
const INTERJECTION =
  'interjection.id AS id, run, text, interjection.state AS state, interjection.created_at AS created_at, interjection.updated_at AS updated_at';
const TASK =
  'task.id AS id, task.kind AS kind, task.title AS title, task.status AS status, started_at, ended_at, result, output_tail';
const PERMISSION = 'permission.id AS id, run, entry, request, permission.created_at AS created_at';

/** Tables `run`, `interjection`, `permission`, `compaction`, `usage_record`, `task` and `session_fact`. Each call is durable when it returns. */
export class RunTables {
  constructor(
    private readonly db: Database,
    private readonly sessions: SessionsTable,
  ) {}

  addRun(run: StoredRun): void {
    this.db.run(
      `INSERT INTO run (id, session, turn, kind, agent, status, started_at) VALUES (?, ?, ?, ?, ?, 'running', ?)`,
      [run.id, this.sessions.require(run.sessionId), run.turnId, run.kind, run.agent, run.startedAt],
    );
  }

  endRun(
    id: string,
    end: {
      status: 'completed' | 'failed' | 'cancelled';
      stopReason?: string;
      error?: string;
      endedAt: number;
    },
  ): void {
    this.db.run('UPDATE run SET status = ?, stop_reason = ?, error = ?, ended_at = ? WHERE id = ?', [
      end.status,
      end.stopReason ?? null,
      end.error ?? null,
      end.endedAt,
      id,
    ]);
  }

  /** Runs without an end: while the service starts, those of one that died. */
  openRuns(): StoredRun[] {
    return this.db.all(RunRow, named('run', RUN, `run.status = 'running'`));
  }

  /** Runs that failed and were not dismissed, newest first. */
  failedRuns(limit: number): StoredFailure[] {
    const where = `run.status = 'failed' AND run.dismissed_at IS NULL ORDER BY run.started_at DESC LIMIT ?`;
    return this.db.all(FailedRow, named('run', `${RUN}, error, ended_at`, where), [limit]);
  }

  /** Somebody has seen that the run failed, or a later one of its session made that old news. */
  dismissRun(id: string, at: number): void {
    this.db.run('UPDATE run SET dismissed_at = ? WHERE id = ?', [at, id]);
  }

  /** A JSON value that the runs remember of a session; undefined when there is none. */
  sessionFact(sessionId: string, key: string): unknown {
    const session = this.sessions.number(sessionId);
    if (session === undefined) return undefined;
    return this.db.get(Fact, 'SELECT value FROM session_fact WHERE session = ? AND key = ?', [session, key])
      ?.value;
  }

  putSessionFact(sessionId: string, key: string, value: unknown): void {
    this.db.run('INSERT OR REPLACE INTO session_fact VALUES (?, ?, ?)', [
      this.sessions.require(sessionId),
      key,
      JSON.stringify(value ?? null),
    ]);
  }

  /** Adds a background task, or replaces it. */
  putTask(task: Optional<StoredTask, 'endedAt' | 'result' | 'outputTail'>): void {
    this.db.run('INSERT OR REPLACE INTO task VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)', [
      task.id,
      this.sessions.require(task.sessionId),
      task.kind,
      task.title,
      task.status,
      task.startedAt,
      task.endedAt ?? null,
      task.result ?? null,
      task.outputTail ?? null,
    ]);
  }

  /** Newest first; of all sessions when `sessionId` is absent. */
  tasks(limit: number, sessionId?: string): StoredTask[] {
    const where = sessionId === undefined ? '1' : 'session.id = ?';
    return this.db.all(
      TaskRow,
      `${named('task', TASK, where)} ORDER BY started_at DESC, task.id DESC LIMIT ?`,
      [...(sessionId === undefined ? [] : [sessionId]), limit],
    );
  }

  /** Tasks without an end: while the service starts, those of one that died. */
  openTasks(): StoredTask[] {
    return this.db.all(TaskRow, named('task', TASK, `task.status = 'running'`));
  }

  /** Removes all but the newest `keep` ended tasks of a session; the ids of those that went. */
  trimTasks(sessionId: string, keep: number): string[] {
    const session = this.sessions.number(sessionId);
    if (session === undefined) return [];
    const old = this.db.all(
      z.object({ id: z.string() }),
      `SELECT id FROM task WHERE session = ? AND status <> 'running' ORDER BY started_at DESC, id DESC LIMIT -1 OFFSET ?`,
      [session, keep],
    );
    for (const { id } of old) this.db.run('DELETE FROM task WHERE id = ?', [id]);
    return old.map(({ id }) => id);
  }

  /** When runs on a session went on; an open one has no end. */
  runWindows(sessionId: string): { startedAt: number; endedAt?: number | undefined }[] {
    const session = this.sessions.number(sessionId);
    if (session === undefined) return [];
    const Window = z
      .object({ started_at: z.number(), ended_at: optional(z.number()) })
      .transform((row) => ({ startedAt: row.started_at, endedAt: row.ended_at }));
    return this.db.all(Window, 'SELECT started_at, ended_at FROM run WHERE session = ? ORDER BY started_at', [
      session,
    ]);
  }

  addInterjection(row: Omit<StoredInterjection, 'runId'> & { readonly runId?: string | undefined }): void {
    this.db.run('INSERT INTO interjection VALUES (?, ?, ?, ?, ?, ?, ?)', [
      row.id,
      this.sessions.require(row.sessionId),
      row.runId ?? null,
      row.text,
      row.state,
      row.createdAt,
      row.updatedAt,
    ]);
  }

  changeInterjection(
    id: string,
    change: { state: StoredInterjection['state']; runId?: string; updatedAt: number },
  ): void {
    this.db.run('UPDATE interjection SET state = ?, run = coalesce(?, run), updated_at = ? WHERE id = ?', [
      change.state,
      change.runId ?? null,
      change.updatedAt,
      id,
    ]);
  }

  interjection(id: string): StoredInterjection | undefined {
    return this.db.get(InterjectionRow, named('interjection', INTERJECTION, 'interjection.id = ?'), [id]);
  }

  /** In the order in which they came; of all sessions when `sessionId` is absent. */
  interjections(states: readonly StoredInterjection['state'][], sessionId?: string): StoredInterjection[] {
    const where = [`interjection.state IN (${states.map(() => '?').join(', ')})`];
    if (sessionId !== undefined) where.push('session.id = ?');
    return this.db.all(
      InterjectionRow,
      `${named('interjection', INTERJECTION, where.join(' AND '))} ORDER BY interjection.created_at, interjection.rowid`,
      [...states, ...(sessionId === undefined ? [] : [sessionId])],
    );
  }

  addPermission(row: StoredPermission): void {
    this.db.run(
      'INSERT INTO permission (id, session, run, entry, request, created_at) VALUES (?, ?, ?, ?, ?, ?)',
      [
        row.id,
        this.sessions.require(row.sessionId),
        row.runId,
        row.entryId,
        JSON.stringify(row.request ?? null),
        row.createdAt,
      ],
    );
  }

  /** `optionId` absent: cancelled or expired. */
  endPermission(id: string, end: { optionId?: string; endedAt: number }): void {
    this.db.run('UPDATE permission SET option = ?, ended_at = ? WHERE id = ?', [
      end.optionId ?? null,
      end.endedAt,
      id,
    ]);
  }

  /** What is known of a question that was asked, or of a run that failed. */
  inboxRow(id: string): z.output<typeof InboxRow> | undefined {
    const question = named(
      'permission',
      `'question' AS kind, permission.ended_at IS NOT NULL AS closed`,
      'permission.id = ?',
    );
    const failed = named(
      'run',
      `'failed' AS kind, run.dismissed_at IS NOT NULL AS closed`,
      `run.id = ? AND run.status = 'failed'`,
    );
    return this.db.get(InboxRow, `${question} UNION ALL ${failed}`, [id, id]);
  }

  openPermissions(): StoredPermission[] {
    return this.db.all(PermissionRow, named('permission', PERMISSION, 'permission.ended_at IS NULL'));
  }

  addCompaction(row: {
    id: string;
    sessionId: string;
    runId: string;
    entryId: string;
    startedAt: number;
  }): void {
    this.db.run(
      `INSERT INTO compaction (id, session, run, entry, status, started_at) VALUES (?, ?, ?, ?, 'running', ?)`,
      [row.id, this.sessions.require(row.sessionId), row.runId, row.entryId, row.startedAt],
    );
  }

  endCompaction(
    id: string,
    end: {
      status: 'completed' | 'failed' | 'cancelled';
      tokensBefore?: number;
      tokensAfter?: number;
      error?: string;
      endedAt: number;
    },
  ): void {
    this.db.run(
      'UPDATE compaction SET status = ?, tokens_before = ?, tokens_after = ?, error = ?, ended_at = ? WHERE id = ?',
      [end.status, end.tokensBefore ?? null, end.tokensAfter ?? null, end.error ?? null, end.endedAt, id],
    );
  }

  /** The tokens of one response; a second time for the same message changes nothing. */
  addUsage(row: {
    sessionId: string;
    messageId: string;
    agent?: string | undefined;
    model?: string | undefined;
    at: number;
    usage: Tokens;
    elapsedMs?: number | undefined;
  }): void {
    this.db.run('INSERT OR IGNORE INTO usage_record VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', [
      this.sessions.require(row.sessionId),
      row.messageId,
      row.agent ?? null,
      row.model ?? null,
      row.at,
      row.usage.input ?? null,
      row.usage.output ?? null,
      row.usage.cacheRead ?? null,
      row.usage.cacheWrite ?? null,
      row.usage.reasoning ?? null,
      row.elapsedMs ?? null,
    ]);
  }
}
