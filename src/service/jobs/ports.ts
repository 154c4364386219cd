import type { RunSession } from '../runs/ports.js';
import type { SessionChanges } from '../sessions/own_sessions.js';
import type { ServiceJobs } from '../runs/tasks.js';
import type { Client } from '../sessions/client.js';
import type { TurnTexts } from '../sessions/last_turn.js';
import type { SessionRecord } from '../sessions/record.js';

/** A session as small jobs need it. */
export type JobSession = Pick<RunSession, 'id' | 'cwd' | 'source' | 'agent'> &
  Pick<SessionRecord, 'title' | 'turnCount'>;

/** What small jobs use of the sessions. */
export interface JobSessions {
  /** Throws `session_unavailable`: unknown, deleted, or out of the client's scope. */
  resolve(client: Client, sessionId: string): JobSession;
  /** Undefined when none of it is here. */
  lastTurn(sessionId: string): Promise<TurnTexts | undefined>;
  update(sessionId: string, changes: Pick<SessionChanges, 'agentTitle'>): void;
  /** The agent's session is nobody's to see. */
  hide(agent: string, agentSession: string): void;
}

/** Shows jobs as background tasks. */
export type JobTasks = Pick<ServiceJobs, 'run'>;

/** How long small jobs may take, in ms. */
export interface JobTiming {
  readonly followupMs: number;
  readonly titleMs: number;
}

export const defaultTiming: JobTiming = { followupMs: 30_000, titleMs: 60_000 };
