import { setTimeout as sleep } from 'node:timers/promises';
import type { PermissionParams, PermissionResult } from '../../protocol/acp.js';
import type { ElicitationAnswer, ElicitationParams } from '../../protocol/elicitation.js';
import type { AvailableCommand } from '../../protocol/controls.js';
import type { AgentConnection, AgentSessionListener, HostMethod } from '../agents/agent_connection.js';
import {
  announcedByClaude,
  announcedByUpdate,
  announcedInAnswer,
  modelIn,
  withAllOptions,
  type Announced,
} from '../agents/announced.js';
import { parseUpdate, type AgentUpdate } from '../agents/updates.js';
import type { Log } from '../log.js';
import type { Client } from '../sessions/client.js';
import type { AgentHost } from './agent_host.js';
import type { AgentWork } from './agent_work.js';
import { catalogueOf, type Catalogue } from './catalogue.js';
import type { History } from './import.js';
import type { McpServer } from './mcp_servers.js';
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
  readonly work: AgentWork;
  /** Forwards a raw update that belongs to no run. */
  forward(sessionId: string, raw: unknown): void;
  /** What the agent announced about an open session may have changed. */
  announced(live: LiveSession): void;
}

/** A session that is open in a running agent. */
export class LiveSession implements AgentSessionListener {
  /** The run that is going on, if any. */
  sink: UpdateSink | undefined;
  /** Where the session works; undefined until its first run here. */
  workspace: Pick<RunSession, 'cwd' | 'directories'> | undefined;
  /** Text that tells the agent what happened before; goes in front of the next prompt. */
  handover: string | undefined;
  /** What the transcript is to say of that, until it has said it. */
  handoverNotice: { readonly severity: 'info' | 'warning'; readonly text: string } | undefined;
  /** What the agent said about what can be chosen, so far. */
  announced: Announced = {};
  /** Those that it was given when the session was opened. */
  mcpServers: readonly McpServer[] = [];
  /** Tokens in the model's context, as last told. */
  usedTokens: number | undefined;
  /** While true, what the agent tells is history that is known already, unless `history` takes it in. */
  replaying = false;
  history: History | undefined;
  private isOpen = false;
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
    if (update.type === 'usage') this.usedTokens = update.used;
    const said = announcedByUpdate(raw, this.announced);
    if (said) this.take(said);
    const told = said?.configOptions ? withAllOptions(raw, this.announced) : raw;
    if (this.replaying) {
      this.history?.update(update, raw);
      return;
    }
    if (update.type === 'info' && update.title !== undefined)
      this.parts.sessions.update(this.sessionId, { agentTitle: update.title });
    this.parts.work.heard(this, update);
    if (this.sink) {
      this.sink.update(update, told);
      return;
    }
    if (update.type !== 'info' && update.type !== 'subagent') this.parts.forward(this.sessionId, told);
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

  claudeMessage(message: unknown): void {
    const said = announcedByClaude(message, this.announced);
    if (said) this.take(said);
  }

  /** Takes in the agent's answer to the request that opened the session. */
  opened(answer: unknown): void {
    this.isOpen = true;
    this.take(announcedInAnswer(answer));
  }

  /** Takes in what the agent announced, on top of what it said before. */
  take(said: Announced): void {
    this.announced = { ...this.announced, ...said };
    const model = modelIn(this.announced);
    if (model !== undefined && model !== this.model) {
      this.model = model;
      this.parts.sessions.update(this.sessionId, { model });
    }
    if (this.isOpen) this.parts.announced(this);
  }

  /** Undefined until the agent told them. */
  get commands(): readonly AvailableCommand[] | undefined {
    return this.announced.commands;
  }

  catalogue(): Catalogue {
    const { capabilities, spec } = this.connection;
    const { announced, mcpServers } = this;
    return catalogueOf({ announced, mcpServers, capabilities, agentTitle: spec.title });
  }

  /** Waits until nothing was told for a while, at most a few seconds. */
  async quiet(ms: number): Promise<void> {
    const end = Date.now() + 20 * ms;
    while (Date.now() - this.lastUpdateAt < ms && Date.now() < end) await sleep(ms);
  }

  /** Waits until the whole history was told, also by an agent that begins after it has answered. */
  async told(history: History, ms: number): Promise<void> {
    const end = Date.now() + 10 * ms;
    while (history.count === 0 && Date.now() < end) await sleep(ms / 2);
    if (history.count > 0) await this.quiet(ms);
  }

  /** The agent's commands; waits a little for an agent that did not tell them yet. */
  async knownCommands(ms: number): Promise<readonly AvailableCommand[]> {
    const end = Date.now() + ms;
    while (this.commands === undefined && Date.now() < end) await sleep(25);
    return this.commands ?? [];
  }
}
