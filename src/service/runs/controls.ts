import { TOOLING_SCHEMA } from '../../protocol/aster.js';
import type { ConfigOption, SessionModes, Tooling } from '../../protocol/controls.js';
import type { Params, Result } from '../../protocol/methods.js';
import { optionsOf } from '../agents/announced.js';
import type { ControlRules } from '../parts.js';
import type { Client, Clients } from '../sessions/client.js';
import { agentForSession } from './agent_choice.js';
import type { Audience } from './audience.js';
import { chooseMode, chooseOption } from './choices.js';
import type { LiveSession } from './live_session.js';
import type { LiveSessions } from './live_sessions.js';
import type { RunSession, RunSessions } from './ports.js';
import type { RunTiming } from './timing.js';
import type { KeptTooling, ToolingBook } from './tooling_book.js';

export interface ControlsParts {
  readonly sessions: RunSessions;
  readonly live: LiveSessions;
  readonly book: ToolingBook;
  readonly audience: Audience;
  readonly clients: Clients;
  readonly timing: RunTiming;
  /** The turn that is going on in a session. */
  activeTurn(sessionId: string): string | undefined;
  /** Whether the session is in the client's scope. */
  sees(client: Client, sessionId: string): boolean;
}

/** What a person can choose in the agent of a session: modes, options and commands, and its catalogue of tools. */
export class Controls implements ControlRules {
  /** The sessions whose catalogue a client has asked for. */
  private readonly asked = new Map<Client, Set<string>>();

  constructor(private readonly parts: ControlsParts) {
    parts.clients.onDetach((client) => this.asked.delete(client));
  }

  /** What the agent announced last; launches nothing. The caller then hears of every new generation. */
  tooling(client: Client, params: Params<'aster/session/tooling/v1'>): Result<'aster/session/tooling/v1'> {
    const { id } = this.parts.sessions.resolve(client, params.sessionId, params.cwd);
    this.follow(client, id);
    return { schema: TOOLING_SCHEMA, operationId: params.operationId, ...this.current(id) };
  }

  /**
   * Opens the session in its agent without a prompt. Throws `forbidden` (restricted window), `agent_unavailable`,
   * `agent_failed`, `not_supported`.
   */
  async open(client: Client, params: Params<'deck/session/open'>): Promise<Tooling> {
    const session = this.parts.sessions.resolve(client, params.sessionId);
    await this.inAgent(client, session, () => Promise.resolve());
    this.follow(client, session.id);
    return this.current(session.id);
  }

  /** Throws like `open`; also `not_supported` (no modes) and `invalid_params` naming the field. */
  async setMode(client: Client, params: Params<'session/set_mode'>): Promise<Record<string, never>> {
    const session = this.parts.sessions.resolve(client, params.sessionId);
    const { modeId } = params;
    await this.inAgent(client, session, async (live) => {
      const told = await chooseMode(live, modeId, this.parts.timing.chooseMs);
      if (!told)
        this.parts.audience.forward(
          session.id,
          { sessionUpdate: 'current_mode_update', currentModeId: modeId },
          client,
        );
    });
    return {};
  }

  /** Throws like `open`; also `not_supported` (no options) and `invalid_params` naming the field. */
  async setConfigOption(
    client: Client,
    params: Params<'session/set_config_option'>,
  ): Promise<{ configOptions: ConfigOption[] }> {
    const session = this.parts.sessions.resolve(client, params.sessionId);
    return this.inAgent(client, session, async (live) => {
      const told = await chooseOption(live, params.configId, params.value, this.parts.timing.chooseMs);
      const configOptions = [...optionsOf(live.announced)];
      if (!told)
        this.parts.audience.forward(
          session.id,
          { sessionUpdate: 'config_option_update', configOptions },
          client,
        );
      return { configOptions };
    });
  }

  /** What can be chosen, as far as it is known; launches nothing. */
  known(sessionId: string): { modes?: SessionModes; configOptions?: ConfigOption[] } {
    const { modes, configOptions } = this.parts.book.current(sessionId);
    return {
      ...(modes ? { modes } : {}),
      ...(configOptions.length > 0 ? { configOptions } : {}),
    };
  }

  /** Tells a new generation to all who want to hear of it. */
  announce(sessionId: string, tooling: KeptTooling): void {
    const { clients, audience, sessions } = this.parts;
    const update = { sessionId, ...tooling, live: this.isLive(sessionId) };
    for (const client of clients)
      if (
        (this.asked.get(client)?.has(sessionId) === true ||
          audience.has(client, sessionId) ||
          sessions.isWatching(client, sessionId)) &&
        this.parts.sees(client, sessionId)
      )
        client.notify('aster/session/tooling/update', update);
    for (const news of updatesOf(tooling)) audience.forwardNews(sessionId, news);
  }

  private current(sessionId: string): Tooling {
    return { ...this.parts.book.current(sessionId), live: this.isLive(sessionId) };
  }

  private isLive(sessionId: string): boolean {
    return this.parts.live.get(sessionId) !== undefined;
  }

  private follow(client: Client, sessionId: string): void {
    if (!client.connected) return;
    const known = this.asked.get(client) ?? new Set();
    this.asked.set(client, known.add(sessionId));
  }

  /** Opens the session and works on it; the agent is not ended meanwhile. */
  private async inAgent<T>(
    client: Client,
    session: RunSession,
    work: (live: LiveSession) => Promise<T>,
  ): Promise<T> {
    const spec = agentForSession(client.options, session);
    const opened = await this.parts.live.open(session, spec, this.parts.activeTurn(session.id));
    try {
      return await work(opened.live);
    } finally {
      opened.release();
    }
  }
}

/** A catalogue as the protocol's own updates, for clients that know nothing else. */
function updatesOf({ commands, modes, configOptions }: KeptTooling) {
  return [
    ...(commands.length > 0
      ? [{ sessionUpdate: 'available_commands_update', availableCommands: commands }]
      : []),
    ...(modes ? [{ sessionUpdate: 'current_mode_update', currentModeId: modes.currentModeId }] : []),
    ...(configOptions.length > 0 ? [{ sessionUpdate: 'config_option_update', configOptions }] : []),
  ];
}
