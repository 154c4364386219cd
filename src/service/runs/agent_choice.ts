import type { ClientOptions } from '../../protocol/deck.js';
import { DomainError } from '../../protocol/errors.js';
import type { SourceKind } from '../../protocol/session.js';
import type { AgentSpec } from '../agents/agent_process.js';
import { agentPresets, idsOf, presetOf, titleOf } from '../agents/registry.js';

/** The known agent that continues a tool's own sessions. */
const continuing: Readonly<Record<SourceKind, string | undefined>> = {
  'claude-code': 'claude-code',
  codex: 'codex',
  deck: undefined,
  agent: undefined,
};

const SETTING = 'sessionDeck.agents';

/**
 * The agent for a new session: the wanted one, else the default, else the only one.
 * Throws `forbidden` (restricted window), `invalid_params` (no such agent), `agent_unavailable` (none is set).
 */
export function agentForNew(options: ClientOptions, wanted: string | undefined): AgentSpec {
  if (wanted !== undefined) return agentNamed(options, wanted, '_meta.agent');
  mayLaunch(options);
  const ids = Object.keys(options.config.agents ?? {});
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

/** The agent with that id. Throws `forbidden`, and `invalid_params` naming `field` when it is not set. */
export function agentNamed(options: ClientOptions, id: string, field: string): AgentSpec {
  mayLaunch(options);
  const ids = Object.keys(options.config.agents ?? {});
  return (
    specOf(options, id) ?? refuse('invalid_params', `No agent named "${id}" is set. ${known(ids)}`, { field })
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
  const source = continuing[session.source];
  for (const id of [session.agent, source].flatMap((name) => namesOf(name ?? ''))) {
    const spec = specOf(options, id);
    if (spec) return spec;
  }
  if (source !== undefined)
    return refuse(
      'agent_unavailable',
      `No agent is set that continues ${presetOf(source)?.title ?? source} sessions. Add one named "${source}" to the setting ${SETTING}.`,
    );
  if (session.agent !== undefined)
    return refuse(
      'agent_unavailable',
      `This session belongs to the agent "${session.agent}", which is not set here. Add it to the setting ${SETTING}.`,
    );
  return agentForNew(options, undefined);
}

/** Whether an agent is the one that has a session: the one it is bound to, or one that continues the tool's sessions. */
export function isAgentOf(
  agentId: string,
  session: { readonly source: SourceKind; readonly agent?: string | undefined },
): boolean {
  if (session.agent === agentId) return true;
  const preset = presetOf(continuing[session.source] ?? '');
  return preset !== undefined && idsOf(preset).includes(agentId);
}

/** All ids of a known agent, in order of preference. */
function namesOf(id: string): readonly string[] {
  const preset = presetOf(id);
  return preset ? idsOf(preset) : [];
}

function mayLaunch(options: ClientOptions): void {
  if (!options.trusted)
    throw new DomainError(
      'forbidden',
      'This window is in restricted mode, so no agent is started. Trust the folder to go on.',
    );
}

/**
 * The agent of that id in the client's settings; undefined when there is none. Throws `agent_unavailable` when it is
 * one of `type` `registry` that is not known.
 */
export function specOf(options: ClientOptions, id: string): AgentSpec | undefined {
  const agents = options.config.agents ?? {};
  const definition = Object.hasOwn(agents, id) ? agents[id] : undefined;
  if (!definition) return undefined;
  const { env = {}, default_mode: mode, default_model: model } = definition;
  const defaults = mode === undefined && model === undefined ? {} : { defaults: { mode, model } };
  if ('command' in definition) {
    const { command, args = [] } = definition;
    return { id, title: titleOf(id, definition), command, args, env, ...defaults };
  }
  const preset = presetOf(id);
  if (!preset)
    return refuse(
      'agent_unavailable',
      `The agent "${id}" has no command in the setting ${SETTING}, and none is known for it. Known are: ${agentPresets.map((each) => each.id).join(', ')}.`,
    );
  return {
    id,
    title: titleOf(id, definition),
    ...preset.start,
    ...(preset.preferred ? { preferred: preset.preferred } : {}),
    env,
    ...defaults,
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
