import { v7 as uuid } from 'uuid';
import type {
  BackgroundTasksParams,
  BackgroundTasksResult,
  CancelSubagentParams,
  StopTaskParams,
} from '../../protocol/aster.js';
import { BACKGROUND_TASKS_SCHEMA } from '../../protocol/aster.js';
import { DomainError } from '../../protocol/errors.js';
import type { BackgroundTask, SessionTask } from '../../protocol/tasks.js';
import type { Log } from '../log.js';
import type { TaskRules } from '../parts.js';
import type { Client, Clients } from '../sessions/client.js';
import { scopeOf } from '../sessions/scope.js';
import type { RunSession, RunSessions, RunStore, TaskRow } from './ports.js';
import { RunningTask, type TaskStart } from './running_task.js';

export interface TasksParts {
  readonly store: RunStore;
  readonly sessions: Pick<RunSessions, 'resolve'>;
  readonly clients: Clients;
  readonly log: Log;
}

/** Jobs of the service itself, shown as background tasks. */
export interface ServiceJobs {
  /**
   * Shows `work` as a task while it goes on, of a session or of none. A person can stop it: then `signal` aborts and
   * `work` should end soon. Settles as `work` does.
   */
  run<T>(
    title: string,
    sessionId: string | undefined,
    work: (signal: AbortSignal) => Promise<T>,
    kind?: 'service' | 'memory_extraction',
  ): Promise<T>;
}

/** Ended tasks that are kept of a session, and of the service without one. */
const MAX_ENDED = 200;
/** Tasks that `deck/tasks` looks at. */
const MAX_LISTED = 500;
/** Between two announcements of one task, in ms. */
const ANNOUNCE_MS = 250;
const DIED = 'The session service ended while this was running.';

const unavailable = () => new DomainError('task_unavailable', 'This background task is not available.');

/** Work that outlives its turn: sub-agents, commands in terminals, jobs of the service. */
export class Tasks implements TaskRules, ServiceJobs {
  private readonly running = new Map<string, RunningTask>();
  /** Jobs without a session that have ended, oldest first: the store only knows tasks of sessions. */
  private readonly endedJobs = new Map<string, RunningTask>();
  /** Other names of sub-agents that have ended, oldest first. */
  private readonly endedNames = new Map<string, string>();
  private readonly announcing = new Map<string, NodeJS.Timeout>();

  constructor(private readonly parts: TasksParts) {}

  /** Tasks that are running. */
  get activeCount(): number {
    return this.running.size;
  }

  /** Ends what a service that died left open. Call once, before anything else. */
  recover(): void {
    for (const task of this.parts.store.openTasks())
      try {
        this.parts.store.putTask({ ...task, status: 'failed', endedAt: Date.now(), result: DIED });
      } catch (error) {
        this.parts.log.error('could not recover a background task', error);
      }
  }

  /** Shows work as a task until its `end`. */
  start(start: TaskStart): RunningTask {
    const task = new RunningTask(uuid(), start, {
      changed: (changed) => this.announceSoon(changed),
      ended: (ended) => this.ended(ended),
    });
    this.running.set(task.id, task);
    this.save(task);
    this.announce(task);
    return task;
  }

  async run<T>(
    title: string,
    sessionId: string | undefined,
    work: (signal: AbortSignal) => Promise<T>,
    kind: 'service' | 'memory_extraction' = 'service',
  ): Promise<T> {
    const controller = new AbortController();
    const task = this.start({
      kind,
      title,
      sessionId,
      stop: async () => {
        controller.abort();
        await task.over;
        return true;
      },
    });
    try {
      const value = await work(controller.signal);
      task.end('completed');
      return value;
    } catch (error) {
      task.end(
        controller.signal.aborted ? 'cancelled' : 'failed',
        error instanceof Error ? error.message : String(error),
      );
      throw error;
    }
  }

  ofSession(client: Client, params: BackgroundTasksParams): BackgroundTasksResult {
    const { id } = this.parts.sessions.resolve(client, params.sessionId, params.cwd);
    const tasks = this.known(MAX_LISTED, id).map(({ task }) => task);
    return { schema: BACKGROUND_TASKS_SCHEMA, operationId: params.operationId, tasks };
  }

  /** Throws `session_unavailable`, `task_unavailable`, `not_supported`. */
  async stop(client: Client, params: StopTaskParams): Promise<{ stopped: boolean }> {
    const { id } = this.parts.sessions.resolve(client, params.sessionId, params.cwd);
    const task = this.running.get(params.taskId);
    if (task?.sessionId === id) return { stopped: await task.stop() };
    // In a listing, so that what has been forgotten is unknown here too.
    if (!this.known(MAX_LISTED, id).some((one) => one.task.taskId === params.taskId)) throw unavailable();
    return { stopped: false };
  }

  /** Throws `session_unavailable`, `task_unavailable`, `not_supported`. */
  async cancelSubagent(client: Client, params: CancelSubagentParams): Promise<{ cancelled: boolean }> {
    const { subagentId, sessionId } = params;
    const only = sessionId === undefined ? undefined : this.parts.sessions.resolve(client, sessionId).id;
    const mayBe = (id: string | undefined) =>
      id !== undefined && (only === undefined ? this.sees(client, id) : id === only);
    for (const task of this.running.values())
      if (task.kind === 'subagent' && task.isCalled(subagentId) && mayBe(task.sessionId))
        return { cancelled: await task.stop() };
    const taskId = this.endedNames.get(subagentId) ?? subagentId;
    const ended = this.parts.store
      .tasks(MAX_LISTED, only)
      .find(({ id, kind, sessionId: of }) => id === taskId && kind === 'subagent' && mayBe(of));
    if (!ended) throw unavailable();
    return { cancelled: false };
  }

  list(client: Client): { tasks: SessionTask[] } {
    const seen = new Map<string, boolean>();
    const sees = (sessionId: string) => {
      const known = seen.get(sessionId) ?? this.sees(client, sessionId);
      seen.set(sessionId, known);
      return known;
    };
    const tasks = this.known(MAX_LISTED).flatMap(({ sessionId, task }) =>
      sessionId === undefined ? [task] : sees(sessionId) ? [{ ...task, sessionId }] : [],
    );
    return { tasks };
  }

  /** The session was deleted; who saw it hears that its tasks are not there any more. */
  sessionGone(session: RunSession): void {
    const removed = this.known(MAX_LISTED, session.id).map(({ task }) => task.taskId);
    if (removed.length === 0) return;
    for (const client of this.parts.clients)
      if (scopeOf(client).has(session)) client.notify('deck/tasks/changed', { upserted: [], removed });
  }

  /** The session is there again, and so are its tasks. */
  sessionBack(sessionId: string): void {
    const upserted = this.known(MAX_LISTED, sessionId).map(({ task }) => ({ ...task, sessionId }));
    if (upserted.length === 0) return;
    for (const client of this.parts.clients)
      if (this.sees(client, sessionId)) client.notify('deck/tasks/changed', { upserted, removed: [] });
  }

  /** Running and ended ones, newest first. */
  private known(
    limit: number,
    sessionId?: string,
  ): { sessionId: string | undefined; task: BackgroundTask }[] {
    const stored = this.parts.store.tasks(limit, sessionId);
    const inStore = new Set(stored.map(({ id }) => id));
    const here = [...this.running.values(), ...this.endedJobs.values()].filter(
      (task) => !inStore.has(task.id) && (sessionId === undefined || task.sessionId === sessionId),
    );
    return [
      ...here.map((task) => ({ sessionId: task.sessionId, task: task.view() })),
      ...stored.map((row) => ({
        sessionId: row.sessionId,
        task: this.running.get(row.id)?.view() ?? viewOf(row),
      })),
    ].sort((a, b) =>
      a.task.startedAt < b.task.startedAt ? 1 : a.task.startedAt > b.task.startedAt ? -1 : 0,
    );
  }

  private ended(task: RunningTask): void {
    this.running.delete(task.id);
    this.save(task);
    if (task.sessionId === undefined) this.endedJobs.set(task.id, task);
    for (const name of task.names) this.endedNames.set(name, task.id);
    forgetOldest(this.endedNames, MAX_LISTED);
    const removed = [...forgetOldest(this.endedJobs, MAX_ENDED), ...this.trim(task.sessionId)];
    this.announce(task, removed);
  }

  /** A store that does not take it leaves the task in memory only: the work itself goes on. */
  private save(task: RunningTask): void {
    if (task.sessionId === undefined) return;
    try {
      this.parts.store.putTask(task.row(task.sessionId));
    } catch (error) {
      this.parts.log.warn('a background task could not be saved', { task: task.title, error: String(error) });
    }
  }

  private trim(sessionId: string | undefined): string[] {
    if (sessionId === undefined) return [];
    try {
      return this.parts.store.trimTasks(sessionId, MAX_ENDED);
    } catch (error) {
      this.parts.log.warn('old background tasks could not be removed', { sessionId, error: String(error) });
      return [];
    }
  }

  private announceSoon(task: RunningTask): void {
    if (this.announcing.has(task.id)) return;
    this.announcing.set(task.id, setTimeout(() => this.announce(task), ANNOUNCE_MS).unref());
  }

  private announce(task: RunningTask, removed: string[] = []): void {
    clearTimeout(this.announcing.get(task.id));
    this.announcing.delete(task.id);
    const { sessionId } = task;
    const upserted = [{ ...task.view(), ...(sessionId === undefined ? {} : { sessionId }) }];
    try {
      for (const client of this.parts.clients)
        if (sessionId === undefined || this.sees(client, sessionId))
          client.notify('deck/tasks/changed', { upserted, removed });
    } catch (error) {
      // Nobody waits for this: it would end the service.
      this.parts.log.error('a background task could not be announced', error);
    }
  }

  private sees(client: Client, sessionId: string): boolean {
    try {
      this.parts.sessions.resolve(client, sessionId);
      return true;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'session_unavailable') return false;
      throw error;
    }
  }
}

function viewOf({
  id,
  kind,
  title,
  status,
  startedAt,
  endedAt,
  result,
  outputTail,
}: TaskRow): BackgroundTask {
  return {
    taskId: id,
    kind,
    title,
    status,
    startedAt: new Date(startedAt).toISOString(),
    ...(endedAt === undefined ? {} : { endedAt: new Date(endedAt).toISOString() }),
    ...(result === undefined ? {} : { result }),
    ...(outputTail === undefined ? {} : { outputTail }),
  };
}

/** Removes the first of the map until no more than `max` are left, and gives their keys. */
function forgetOldest(map: Map<string, unknown>, max: number): string[] {
  const oldest = [...map.keys()].slice(0, Math.max(0, map.size - max));
  for (const key of oldest) map.delete(key);
  return oldest;
}
