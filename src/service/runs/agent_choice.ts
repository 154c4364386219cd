import type { ClientOptions } from '../../protocol/deck.js';
import { DomainError } from '../../protocol/errors.js';
import type { SourceKind } from '../../protocol/session.js';
import type { AgentSpec } from '../agents/agent_process.js';

/** Names under which people configure the agent that continues a tool's own sessions, in order of preference. */
const continuing: Readonly<
  Record<Exclude<SourceKind, 'deck' | 'agent'>, { title: string; ids: readonly string[] }>
> = {
  'claude-code': {
    title: 'Claude Code',
    ids: ['claude-code', 'claude', 'claude-code-acp', 'claude-agent-acp'],
  },
  codex: { title: 'Codex', ids: ['codex', 'codex-acp'] },
};

const SETTING = 'sessionDeck.agents';

/**
 * The agent for a new session: the wanted one, else the default, else the only one.
 * Throws `forbidden` (restricted window), `invalid_params` (no such agent), `agent_unavailable` (none is set).
 */
export function agentForNew(options: ClientOptions, wanted: string | undefined): AgentSpec {
  mayLaunch(options);
  const ids = Object.keys(options.config.agents ?? {});
  if (wanted !== undefined)
    return (
      specOf(options, wanted) ??
      refuse('invalid_params', `No agent named "${wanted}" is set. ${known(ids)}`, { field: '_meta.agent' })
    );
  const standard = options.config.defaultAgent;
  if (standard)
    return (
      specOf(options, standard) ??
      refuse(
        'agent_unavailable',
        `The default agent "${standard}" is not set. ${known(ids)} Add it to the setting ${SETTING} or change sessionDeck.defaultAgent.`,
      )
    );
  const [only, ...more] = ids;
  if (only === undefined)
    return refuse('agent_unavailable', `No agent is set. Add one to the setting ${SETTING}.`);
  if (more.length > 0)
    return refuse(
      'agent_unavailable',
      `Several agents are set and none is the default. ${known(ids)} Choose one with the setting sessionDeck.defaultAgent.`,
    );
  return (
    specOf(options, only) ??
    refuse('agent_unavailable', `No agent is set. Add one to the setting ${SETTING}.`)
  );
}

/**
 * The agent that a session goes on in. Throws `forbidden` (restricted window) and `agent_unavailable` with the
 * sentence that says what to set.
 */
export function agentForSession(
  options: ClientOptions,
  session: { readonly source: SourceKind; readonly agent?: string | undefined },
): AgentSpec {
  mayLaunch(options);
  if (session.agent !== undefined) {
    const bound = specOf(options, session.agent);
    if (bound) return bound;
  }
  const group = Object.entries(continuing).find(
    ([kind, { ids }]) =>
      kind === session.source || (session.agent !== undefined && ids.includes(session.agent)),
  )?.[1];
  if (group) {
    for (const id of group.ids) {
      const spec = specOf(options, id);
      if (spec) return spec;
    }
    return refuse(
      'agent_unavailable',
      `No agent is set that continues ${group.title} sessions. Add one named "${group.ids[0] ?? ''}" to the setting ${SETTING}.`,
    );
  }
  if (session.agent !== undefined)
    return refuse(
      'agent_unavailable',
      `This session belongs to the agent "${session.agent}", which is not set here. Add it to the setting ${SETTING}.`,
    );
  return agentForNew(options, undefined);
}

function mayLaunch(options: ClientOptions): void {
  if (!options.trusted)
    throw new DomainError(
      'forbidden',
      'This window is in restricted mode, so no agent is started. Trust the folder to go on.',
    );
}

function specOf(options: ClientOptions, id: string): AgentSpec | undefined {
  const agents = options.config.agents ?? {};
  const definition = Object.hasOwn(agents, id) ? agents[id] : undefined;
  if (!definition || !('command' in definition)) return undefined;
  return {
    id,
    title: definition.title ?? id,
    command: definition.command,
    args: definition.args ?? [],
    env: definition.env ?? {},
  };
}

function known(ids: readonly string[]): string {
  return ids.length === 0 ? 'No agent is set at all.' : `Set are: ${ids.join(', ')}.`;
}

function refuse(
  code: 'invalid_params' | 'agent_unavailable',
  message: string,
  details: Record<string, unknown> = {},
): never {
  throw new DomainError(code, message, details);
}
