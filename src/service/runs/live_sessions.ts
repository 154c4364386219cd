import { access } from 'node:fs/promises';
import * as z from 'zod';
import { DomainError } from '../../protocol/errors.js';
import type { AgentConnection } from '../agents/agent_connection.js';
import { specKey, type AgentPool } from '../agents/agent_pool.js';
import type { AgentSpec } from '../agents/agent_process.js';
import { isUnread } from '../sessions/imported.js';
import { announcedInAnswer, isLegacyModel, modelIn } from '../agents/announced.js';
import { isAgentOf } from './agent_choice.js';
import { fulfil, wishesIn, wishesOf } from './choices.js';
import { Handover } from './handover.js';
import { History } from './import.js';
import { LiveSession, type LiveSessionParts } from './live_session.js';
import type { McpServer, McpServers } from './mcp_servers.js';
import { openParams, type Place } from './open_params.js';
import type { RunSession } from './ports.js';
import type { RunTiming } from './timing.js';
import type { KeptTooling } from './tooling_book.js';

export interface LiveSessionsParts extends LiveSessionParts {
  readonly agents: AgentPool;
  readonly timing: RunTiming;
  readonly mcpServers: McpServers;
  /** What was announced of a session before. */
  remembered(sessionId: string): KeptTooling;
}

/** A live session and the promise that its agent is not ended for idleness until `release`. */
export interface OpenedSession {
  readonly live: LiveSession;
  readonly release: () => void;
}

/** A session that an agent has begun. */
export interface NewAgentSession {
  readonly agentSession: string;
  readonly model: string | undefined;
  /** The whole answer to `session/new`. */
  readonly answer: unknown;
}

const SessionAnswer = z.looseObject({ sessionId: z.string().min(1) });
const NOT_FOUND = -32002;

/** The sessions that are open in an agent, each at most once. */
export class LiveSessions {
  private readonly live = new Map<string, { readonly key: string; readonly session: LiveSession }>();
  private readonly opening = new Map<string, Promise<LiveSession>>();

  constructor(private readonly parts: LiveSessionsParts) {}

  get(sessionId: string): LiveSession | undefined {
    const known = this.live.get(sessionId)?.session;
    return known?.connection.alive ? known : undefined;
  }

  /**
   * Opens a session in its agent: the one that is open already, else resumed, loaded (the replay is dropped), or begun
   * anew with what happened before in `handover`. `exceptTurn` is the turn that is being started. Throws
   * `agent_unavailable`, `agent_failed`, or `not_supported` when the agent can continue nothing.
   */
  async open(session: RunSession, spec: AgentSpec, exceptTurn?: string): Promise<OpenedSession> {
    await mustExist(session.cwd);
    const lease = await this.parts.agents.lease(spec);
    try {
      const key = specKey(spec);
      const known = this.live.get(session.id);
      if (known?.key === key && known.session.connection === lease.connection)
        return { live: known.session, release: lease.release };
      if (known) this.forget(session.id);
      let opening = this.opening.get(session.id);
      if (!opening) {
        opening = this.start(session, lease.connection, exceptTurn).finally(() =>
          this.opening.delete(session.id),
        );
        this.opening.set(session.id, opening);
      }
      const live = await opening;
      this.keep(key, live);
      return { live, release: lease.release };
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  /**
   * Begins a session in an agent, then has `create` make ours with the agent's id of it, so that a failure leaves
   * nothing behind. Throws like `open`.
   */
  async begin(
    spec: AgentSpec,
    place: Place,
    mcpServers: readonly McpServer[],
    create: (begun: NewAgentSession) => string,
  ): Promise<string> {
    await mustExist(place.cwd);
    const lease = await this.parts.agents.lease(spec);
    try {
      const begun = await this.newAgentSession(lease.connection, place, mcpServers);
      const sessionId = create(begun);
      this.parts.mcpServers.give(sessionId, mcpServers);
      const live = this.attach(sessionId, begun.agentSession, lease.connection, begun.model);
      live.opened(begun.answer);
      this.keep(specKey(spec), live);
      await fulfil(live, wishesOf(spec), this.parts.timing.chooseMs, this.parts.log);
      return sessionId;
    } finally {
      lease.release();
    }
  }

  /** Closes the session in its agent, where the agent can, and forgets it. It can be opened again. */
  async close(sessionId: string): Promise<void> {
    const live = this.get(sessionId);
    this.forget(sessionId);
    if (!live?.connection.capabilities.close) return;
    try {
      await live.connection.request(
        'session/close',
        { sessionId: live.agentSessionId },
        this.parts.timing.steeringMs,
      );
    } catch (error) {
      // The agent keeps some memory; the session is closed for us all the same.
      this.parts.log.info('an agent did not close a session', {
        agent: live.connection.spec.id,
        error: String(error),
      });
    }
  }

  private forget(sessionId: string): void {
    const known = this.live.get(sessionId)?.session;
    known?.connection.detach(known.agentSessionId, known);
    this.live.delete(sessionId);
  }

  private keep(key: string, live: LiveSession): void {
    if (this.live.get(live.sessionId)?.session === live) return;
    this.live.set(live.sessionId, { key, session: live });
    void live.connection.closed.then(() => {
      if (this.live.get(live.sessionId)?.session === live) this.live.delete(live.sessionId);
    });
  }

  private async start(
    session: RunSession,
    connection: AgentConnection,
    exceptTurn: string | undefined,
  ): Promise<LiveSession> {
    const continued = await this.continueKnown(session, connection);
    if (continued) return continued;
    const { mcpServers, timing, log } = this.parts;
    const before = this.chosenBefore(session);
    const servers = mcpServers.of(session.id);
    const forked = await this.forkNatively(session, connection, servers);
    const { agentSession, model, answer } =
      forked ?? (await this.newAgentSession(connection, session, servers));
    const live = this.attach(session.id, agentSession, connection, model, forked !== undefined);
    live.opened(answer);
    await fulfil(live, wishesIn(before), timing.chooseMs, log);
    if (forked) {
      // Some agents replay what they fork.
      await live.quiet(timing.quietMs);
      live.replaying = false;
    } else await this.handOver(live, session, exceptTurn);
    this.parts.sessions.update(session.id, {
      agent: connection.spec.id,
      agentSession,
      ...(model === undefined ? {} : { model }),
    });
    return live;
  }

  /** What was chosen in the session; a fork that was never open has what its parent has. */
  private chosenBefore({ id, parent }: RunSession): KeptTooling {
    const own = this.parts.remembered(id);
    return own.generation === 0 && parent?.relation === 'fork'
      ? this.parts.remembered(parent.sessionId)
      : own;
  }

  /** Puts the conversation so far in front of the next prompt. */
  private async handOver(
    live: LiveSession,
    session: RunSession,
    exceptTurn: string | undefined,
  ): Promise<void> {
    const handover = new Handover();
    for await (const entries of this.parts.sessions.replay(session.id))
      for (const entry of entries) if (entry.turnId !== exceptTurn) handover.add(entry);
    live.handover = handover.text();
    if (live.handover === undefined) return;
    const { title } = live.connection.spec;
    if (agentSessionOf(session) !== undefined)
      live.handoverNotice = {
        severity: 'warning',
        text: `${title} could not go on with this session. It began anew and was handed the conversation so far.`,
      };
    else if (session.parent?.relation === 'fork') {
      const count = handover.leftOut;
      const cut = count === 0 ? '' : `, without ${String(count)} entries that did not fit`;
      const text = `${title} was handed the conversation before this fork as text${cut}.`;
      live.handoverNotice = { severity: 'info', text };
    }
  }

  /**
   * Has the agent fork its own session, where it can and its session ends where the fork begins. Undefined when the
   * conversation has to be handed over instead.
   */
  private async forkNatively(
    session: RunSession,
    connection: AgentConnection,
    servers: readonly McpServer[],
  ): Promise<NewAgentSession | undefined> {
    const { capabilities, spec } = connection;
    if (session.agentSession !== undefined || !capabilities.fork) return undefined;
    const point = await this.parts.sessions.forkPoint(session.id);
    if (!point?.isHead || !isAgentOf(spec.id, point.parent)) return undefined;
    try {
      const answer = await connection.request(
        'session/fork',
        { sessionId: point.agentSession, ...openParams(session, capabilities, servers) },
        this.parts.timing.openMs,
      );
      const { sessionId } = SessionAnswer.parse(answer);
      if (sessionId === point.agentSession) throw new Error('it answered with the session itself');
      return { agentSession: sessionId, model: modelIn(announcedInAnswer(answer)), answer };
    } catch (error) {
      this.parts.log.info('an agent did not fork a session; it is handed over', {
        agent: spec.id,
        error: String(error),
      });
      return undefined;
    }
  }

  private async newAgentSession(
    connection: AgentConnection,
    place: Place,
    mcpServers: readonly McpServer[],
  ): Promise<NewAgentSession> {
    const answer = await connection.request(
      'session/new',
      openParams(place, connection.capabilities, mcpServers),
      this.parts.timing.openMs,
    );
    const session = SessionAnswer.safeParse(answer);
    if (session.success)
      return { agentSession: session.data.sessionId, model: modelIn(announcedInAnswer(answer)), answer };
    throw new DomainError(
      'agent_failed',
      `${connection.spec.title} answered session/new with something else than a session.`,
    );
  }

  /** Undefined when the agent has to begin anew. */
  private async continueKnown(
    session: RunSession,
    connection: AgentConnection,
  ): Promise<LiveSession | undefined> {
    const agentSession = agentSessionOf(session);
    if (agentSession === undefined) return undefined;
    const { resume, loadSession } = connection.capabilities;
    if (!resume && !loadSession) {
      if (session.source === 'deck') return undefined;
      throw new DomainError(
        'not_supported',
        `${connection.spec.title} cannot continue this session: it offers neither session/resume nor session/load.`,
      );
    }
    const live = this.attach(session.id, agentSession, connection);
    const { modes, configOptions, commands } = this.parts.remembered(session.id);
    // What the agent does not tell again is as it was.
    live.announced = {
      ...(modes ? { modes } : {}),
      configOptions: configOptions.filter((option) => !isLegacyModel(option)),
      commands,
    };
    live.replaying = true;
    try {
      if (loadSession && isUnread(session))
        live.history = await History.begin(this.parts.sessions, session.id, connection.spec.title);
      const { history } = live;
      const isLoaded = !resume || history !== undefined;
      const answer = await connection.request(
        isLoaded ? 'session/load' : 'session/resume',
        { sessionId: agentSession, ...openParams(session, connection.capabilities, live.mcpServers) },
        history ? this.parts.timing.importMs : this.parts.timing.openMs,
      );
      if (history) {
        await live.told(history, this.parts.timing.quietMs);
        live.history = undefined;
        history.finish();
      } else if (isLoaded) await live.quiet(this.parts.timing.quietMs);
      live.replaying = false;
      live.opened(answer);
      return live;
    } catch (error) {
      connection.detach(agentSession, live);
      const lost = error instanceof DomainError && isNotFound(error);
      // The agent has forgotten a session of ours; our own record of it is handed over instead.
      if (lost && session.source === 'deck') return undefined;
      throw error;
    }
  }

  private attach(
    sessionId: string,
    agentSessionId: string,
    connection: AgentConnection,
    model?: string,
    replaying = false,
  ): LiveSession {
    const live = new LiveSession(sessionId, agentSessionId, connection, model, this.parts);
    live.replaying = replaying;
    live.mcpServers = this.parts.mcpServers.of(sessionId);
    connection.attach(agentSessionId, live);
    return live;
  }
}

/** The agent's own id of the session; a tool's own session has it as its id, behind the source's name if that was taken. */
function agentSessionOf(session: RunSession): string | undefined {
  if (session.agentSession !== undefined || session.source === 'deck') return session.agentSession;
  const prefix = `${session.source}:`;
  return session.id.startsWith(prefix) ? session.id.slice(prefix.length) : session.id;
}

/** Some agents say it with words only. */
function isNotFound({ details, message }: DomainError): boolean {
  const { agentCode } = details;
  if (agentCode === NOT_FOUND) return true;
  return (
    agentCode !== undefined &&
    /\b(not found|no rollout found|unknown session|no such session)\b/i.test(message)
  );
}

async function mustExist(cwd: string): Promise<void> {
  try {
    await access(cwd);
  } catch (error) {
    throw new DomainError(
      'agent_unavailable',
      `The folder of this session cannot be entered, so no agent can work in it: ${cwd} (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}
