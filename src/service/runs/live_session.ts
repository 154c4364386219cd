import { setTimeout as sleep } from 'node:timers/promises';
import type { PermissionParams, PermissionResult } from '../../protocol/acp.js';
import type { ElicitationAnswer, ElicitationParams } from '../../protocol/elicitation.js';
import type { AgentConnection, AgentSessionListener, HostMethod } from '../agents/agent_connection.js';
import { parseUpdate, type AgentCommand, type AgentUpdate } from '../agents/updates.js';
import type { Log } from '../log.js';
import type { Client } from '../sessions/client.js';
import type { AgentHost } from './agent_host.js';
import type { RunSession, RunSessions } from './ports.js';

/** The run that hears an agent's updates about a session. */
export interface UpdateSink {
  readonly runId: string;
  /** Who started the turn. */
  readonly owner: Client;
  update(update: AgentUpdate, raw: unknown): void;
  permission(params: PermissionParams, signal: AbortSignal): Promise<PermissionResult>;
  /** `id` becomes that of the inbox's item. */
  elicitation(id: string, params: ElicitationParams, signal: AbortSignal): Promise<ElicitationAnswer>;
}

export interface LiveSessionParts {
  readonly sessions: RunSessions;
  readonly log: Log;
  readonly host: AgentHost;
  /** Forwards a raw update that belongs to no run. */
  forward(sessionId: string, raw: unknown): void;
}

/** A session that is open in a running agent. */
export class LiveSession implements AgentSessionListener {
  /** The run that is going on, if any. */
  sink: UpdateSink | undefined;
  /** Where the session works; undefined until its first run here. */
  workspace: Pick<RunSession, 'cwd' | 'directories'> | undefined;
  /** Text that tells the agent what happened before; goes in front of the next prompt. */
  handover: string | undefined;
  /** Undefined until the agent told them. */
  commands: readonly AgentCommand[] | undefined;
  /** Tokens in the model's context, as last told. */
  usedTokens: number | undefined;
  /** While true, what the agent tells is history that is known already. */
  replaying = false;
  private lastUpdateAt = 0;
  private outOfTurn = 0;

  constructor(
    readonly sessionId: string,
    readonly agentSessionId: string,
    readonly connection: AgentConnection,
    /** As the agent named it. */
    public model: string | undefined,
    private readonly parts: LiveSessionParts,
  ) {}

  update(raw: unknown): void {
    this.lastUpdateAt = Date.now();
    const update = parseUpdate(raw);
    if (update.type === 'commands') this.commands = update.commands;
    else if (update.type === 'usage') this.usedTokens = update.used;
    else if (update.type === 'settings' && update.model !== undefined && update.model !== this.model) {
      this.model = update.model;
      this.parts.sessions.update(this.sessionId, { model: update.model });
    }
    if (this.replaying) return;
    if (update.type === 'info' && update.title !== undefined)
      this.parts.sessions.update(this.sessionId, { agentTitle: update.title });
    if (this.sink) {
      this.sink.update(update, raw);
      return;
    }
    if (update.type !== 'info') this.parts.forward(this.sessionId, raw);
    if (update.type === 'message' || update.type === 'tool' || update.type === 'unknown') {
      this.outOfTurn += 1;
      if (this.outOfTurn === 1)
        this.parts.log.warn('an agent goes on after its turn; that is not kept', {
          sessionId: this.sessionId,
        });
    }
  }

  permission(params: PermissionParams, signal: AbortSignal): Promise<PermissionResult> {
    if (!this.sink) return Promise.resolve({ outcome: { outcome: 'cancelled' } });
    return this.sink.permission({ ...params, sessionId: this.sessionId }, signal);
  }

  request(method: HostMethod, params: unknown, signal: AbortSignal): Promise<unknown> {
    return this.parts.host.answer(this, method, params, signal);
  }

  elicitationComplete(elicitationId: string): void {
    this.parts.host.elicitationComplete(this, elicitationId);
  }

  /** Waits until nothing was told for a while, at most a few seconds. */
  async quiet(ms: number): Promise<void> {
    const end = Date.now() + 20 * ms;
    while (Date.now() - this.lastUpdateAt < ms && Date.now() < end) await sleep(ms);
  }

  /** The agent's commands; waits a little for an agent that did not tell them yet. */
  async knownCommands(ms: number): Promise<readonly AgentCommand[]> {
    const end = Date.now() + ms;
    while (this.commands === undefined && Date.now() < end) await sleep(25);
    return this.commands ?? [];
  }
}
