import type { FollowupParams, FollowupResult } from '../../protocol/aster.js';
import { DomainError } from '../../protocol/errors.js';
import type { AgentPool } from '../agents/agent_pool.js';
import type { Log } from '../log.js';
import type { JobRules } from '../parts.js';
import type { TurnListener } from '../runs/ports.js';
import type { Client, Clients } from '../sessions/client.js';
import { Followups } from './followups.js';
import { Models } from './models.js';
import { defaultTiming, type JobSessions, type JobTasks, type JobTiming } from './ports.js';
import { SideSessions } from './side_session.js';
import { Titles } from './titles.js';

export interface JobsParts {
  readonly sessions: JobSessions;
  readonly agents: AgentPool;
  readonly clients: Clients;
  readonly tasks: JobTasks;
  readonly turns: { onTurn(listener: TurnListener): void };
  /** Of the service; holds the keys of endpoints. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly timing?: Partial<JobTiming>;
}

/** Small jobs for a model: follow-ups and titles. Off unless a client's settings say otherwise. */
export class Jobs implements JobRules {
  private readonly followupsOf: Followups;
  private readonly titles: Titles;

  constructor(parts: JobsParts) {
    const { sessions, agents, clients, tasks, turns, env, log } = parts;
    const { followupMs, titleMs } = { ...defaultTiming, ...parts.timing };
    const side = new SideSessions({ agents, log, hide: (agent, id) => sessions.hide(agent, id) });
    const models = new Models({ clients, side, env, log, sees: (client, id) => sees(sessions, client, id) });
    this.followupsOf = new Followups({ sessions, models, log, timeoutMs: followupMs });
    this.titles = new Titles({ sessions, models, tasks, log, timeoutMs: titleMs });
    turns.onTurn({
      began: (sessionId) => this.followupsOf.abort(sessionId),
      ended: (sessionId, end) => void this.titles.turnEnded(sessionId, end),
    });
  }

  /** `aster/followup/generate`; see `Followups.suggest`. */
  async followups(client: Client, params: FollowupParams, signal: AbortSignal): Promise<FollowupResult> {
    return { suggestions: await this.followupsOf.suggest(client, params, signal) };
  }

  /** Ends what is being asked. */
  stop(): void {
    this.followupsOf.abort();
    this.titles.stop();
  }
}

function sees(sessions: JobSessions, client: Client, sessionId: string): boolean {
  try {
    sessions.resolve(client, sessionId);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'session_unavailable') return false;
    throw error;
  }
}
