import type { Interjection } from '../../protocol/deck.js';
import type { Entry, Usage } from '../../protocol/entry.js';
import type { Parent, SessionKind, SourceKind } from '../../protocol/session.js';
import type { BackgroundTask } from '../../protocol/tasks.js';
import type { Client } from '../sessions/client.js';
import type { ForkPoint } from '../sessions/fork_point.js';
import type { Imported } from '../sessions/imported.js';
import type { SessionChanges } from '../sessions/own_sessions.js';
import type { TranscriptWriter } from '../sessions/transcript.js';

/** What the runs need to know of a session. */
export interface RunSession {
  readonly id: string;
  /** Absolute. */
  readonly cwd: string;
  readonly source: SourceKind;
  /** Id of the agent it is bound to. */
  readonly agent?: string | undefined;
  /** The agent's own id of it; for a session that a tool left on disk, that tool's id. */
  readonly agentSession?: string | undefined;
  readonly generation: number;
  readonly entryCount: number;
  readonly parent?: Parent | undefined;
  /** Further roots of its workspace, absolute. */
  readonly directories?: readonly string[] | undefined;
}

/** What the runs use of the sessions. */
export interface RunSessions {
  /** Throws `session_unavailable`: unknown, deleted, out of the client's scope, another directory than `cwd`. */
  resolve(client: Client, sessionId: string, cwd?: string): RunSession;
  create(session: {
    cwd: string;
    agent: string;
    agentSession: string;
    kind: SessionKind;
    headless: boolean;
  }): RunSession;
  update(sessionId: string, changes: SessionChanges): void;
  /** Whether the client follows the session's transcript. */
  isWatching(client: Client, sessionId: string): boolean;
  readonly writer: TranscriptWriter;
  /** For the history of a session that its agent listed; undefined when it is here. */
  importing(sessionId: string): Promise<Imported | undefined>;
  /** Where a fork branched off; undefined when its agent cannot know. */
  forkPoint(sessionId: string): Promise<ForkPoint | undefined>;
  /** All entries, ascending. */
  replay(sessionId: string): AsyncIterable<Entry[]>;
}

export type InterjectionState = Interjection['state'];

export type RunKind = 'prompt' | 'interjection' | 'compaction';
export type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled';

/** A run as the store keeps it. Times are milliseconds since the epoch. */
export interface RunRow {
  readonly id: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly kind: RunKind;
  readonly agent: string;
  readonly startedAt: number;
}

/** Hears of the turns that are run here. Must not throw. */
export interface TurnListener {
  began(sessionId: string): void;
  /** `owner` is who asked for the turn; it may have gone since. */
  ended(
    sessionId: string,
    end: { readonly status: RunEnd['status']; readonly kind: RunKind; readonly owner: Client },
  ): void;
}

export interface RunEnd {
  readonly status: Exclude<RunStatus, 'running'>;
  readonly stopReason?: string;
  readonly error?: string;
  readonly endedAt: number;
}

export interface InterjectionRow {
  readonly id: string;
  readonly sessionId: string;
  readonly runId?: string | undefined;
  readonly text: string;
  readonly state: InterjectionState;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A question that an agent asked: a permission, a form or an address. */
export interface PermissionRow {
  readonly id: string;
  readonly runId: string;
  readonly sessionId: string;
  readonly entryId: string;
  /** JSON of the question as the agent asked it. */
  readonly request: unknown;
  readonly createdAt: number;
}

export interface InboxRow {
  readonly sessionId: string;
  readonly kind: 'question' | 'failed';
  /** Answered, expired or dismissed. */
  readonly closed: boolean;
}

export interface FailureRow {
  readonly id: string;
  readonly sessionId: string;
  readonly error?: string | undefined;
  readonly endedAt: number;
}

/** A background task as the store keeps it. */
export interface TaskRow {
  readonly id: string;
  readonly sessionId: string;
  readonly kind: BackgroundTask['kind'];
  readonly title: string;
  readonly status: BackgroundTask['status'];
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  readonly result?: string | undefined;
  readonly outputTail?: string | undefined;
}

export interface CompactionEnd {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
  readonly error?: string;
  readonly endedAt: number;
}

/** What the runs keep in the store. Every call is durable when it returns. */
export interface RunStore {
  addRun(run: RunRow): void;
  endRun(id: string, end: RunEnd): void;
  /** Runs that no end was written for: those of a service that died. */
  openRuns(): RunRow[];
  /** Runs that failed and were not dismissed, newest first. */
  failedRuns(limit: number): FailureRow[];
  dismissRun(id: string, at: number): void;
  /** A JSON value that is remembered of a session; undefined when there is none. */
  sessionFact(sessionId: string, key: string): unknown;
  putSessionFact(sessionId: string, key: string, value: unknown): void;
  /** Adds a background task, or replaces it. */
  putTask(task: TaskRow): void;
  /** Newest first; of all sessions when `sessionId` is absent. */
  tasks(limit: number, sessionId?: string): TaskRow[];
  /** Tasks of a service that died. */
  openTasks(): TaskRow[];
  /** Removes all but the newest `keep` ended tasks of a session; the ids of those that went. */
  trimTasks(sessionId: string, keep: number): string[];
  addInterjection(row: InterjectionRow): void;
  changeInterjection(
    id: string,
    change: { state: InterjectionState; runId?: string; updatedAt: number },
  ): void;
  interjection(id: string): InterjectionRow | undefined;
  /** In the order in which they came; of all sessions when `sessionId` is absent. */
  interjections(states: readonly InterjectionState[], sessionId?: string): InterjectionRow[];
  addPermission(row: PermissionRow): void;
  /** `optionId` is the answer; absent: cancelled or expired. */
  endPermission(id: string, end: { optionId?: string; endedAt: number }): void;
  openPermissions(): PermissionRow[];
  /** What is known of an item of the inbox: a question that was asked, or a run that failed. */
  inboxRow(id: string): InboxRow | undefined;
  addCompaction(row: {
    id: string;
    sessionId: string;
    runId: string;
    entryId: string;
    startedAt: number;
  }): void;
  endCompaction(id: string, end: CompactionEnd): void;
  /** Records the tokens of one response, once for each `messageId`. */
  addUsage(row: {
    sessionId: string;
    messageId: string;
    agent: string;
    model?: string | undefined;
    at: number;
    usage: Usage;
    elapsedMs: number;
  }): void;
}
