import * as z from 'zod';
import type { ConfigOption, Tooling } from '../../protocol/controls.js';
import { DomainError } from '../../protocol/errors.js';
import { announcedInAnswer, isLegacyModel, optionsOf } from '../agents/announced.js';
import type { AgentSpec } from '../agents/agent_process.js';
import type { Log } from '../log.js';
import type { LiveSession } from './live_session.js';

/**
 * Sets the mode of a session in its agent. True when the agent has announced the change itself. Throws `not_supported`
 * (it has no modes), `invalid_params` (not that one), `agent_failed`.
 */
export async function chooseMode(live: LiveSession, modeId: string, timeoutMs: number): Promise<boolean> {
  const { modes } = live.announced;
  const { title } = live.connection.spec;
  if (!modes) throw new DomainError('not_supported', `${title} offers no modes for this session.`);
  if (!modes.availableModes.some(({ id }) => id === modeId))
    throw new DomainError('invalid_params', `${title} offers no mode "${modeId}" for this session.`, {
      field: 'modeId',
    });
  await live.connection.request('session/set_mode', { sessionId: live.agentSessionId, modeId }, timeoutMs);
  const now = live.announced.modes ?? modes;
  if (now.currentModeId === modeId) return true;
  live.take({ modes: { ...now, currentModeId: modeId } });
  return false;
}

/**
 * Sets an option of a session in its agent. True when the agent has announced the change itself. Throws `not_supported`
 * (it has no options), `invalid_params` (not that one, or not that value), `agent_failed`.
 */
export async function chooseOption(
  live: LiveSession,
  configId: string,
  value: string | boolean,
  timeoutMs: number,
): Promise<boolean> {
  const { title } = live.connection.spec;
  const options = optionsOf(live.announced);
  if (options.length === 0)
    throw new DomainError('not_supported', `${title} offers no options for this session.`);
  const option = options.find(({ id }) => id === configId);
  if (!option)
    throw new DomainError('invalid_params', `${title} offers no option "${configId}" for this session.`, {
      field: 'configId',
    });
  if (!hasValue(option, value))
    throw new DomainError('invalid_params', `The option "${option.name}" has no value "${String(value)}".`, {
      field: 'value',
    });
  const sessionId = live.agentSessionId;
  if (isLegacyModel(option)) {
    await live.connection.request('session/set_model', { sessionId, modelId: value }, timeoutMs);
    const told = isSet(live, configId, value);
    const { legacyModel } = live.announced;
    if (legacyModel) live.take({ legacyModel: withValue(legacyModel, value) });
    return told;
  }
  const params =
    typeof value === 'boolean'
      ? { sessionId, configId, type: 'boolean', value }
      : { sessionId, configId, value };
  const answer = await live.connection.request('session/set_config_option', params, timeoutMs);
  const told = isSet(live, configId, value);
  const { configOptions } = announcedInAnswer(answer);
  if (configOptions) live.take({ configOptions });
  else if (!told)
    live.take({
      configOptions: (live.announced.configOptions ?? []).map((each) =>
        each.id === configId ? withValue(each, value) : each,
      ),
    });
  return told;
}

function isSet(live: LiveSession, configId: string, value: string | boolean): boolean {
  return optionsOf(live.announced).find(({ id }) => id === configId)?.currentValue === value;
}

const Grouped = z.looseObject({ options: z.array(z.looseObject({ value: z.string() })) });

function hasValue(option: ConfigOption, value: string | boolean): boolean {
  if (option.type === 'boolean') return typeof value === 'boolean';
  return option.options.some((item) => {
    const group = Grouped.safeParse(item);
    return group.success ? group.data.options.some((each) => each.value === value) : item['value'] === value;
  });
}

function withValue(option: ConfigOption, value: string | boolean): ConfigOption {
  if (option.type === 'boolean') return { ...option, currentValue: value === true };
  return { ...option, currentValue: String(value) };
}

/** What a new session is wanted to begin with. */
export interface Wishes {
  readonly mode?: string | undefined;
  readonly model?: string | undefined;
  /** By the option's id. */
  readonly options?: Readonly<Record<string, string | boolean>>;
}

/** What the settings want of every new session of an agent. */
export function wishesOf({ defaults }: AgentSpec): Wishes {
  return defaults ?? {};
}

/** What was chosen in a session before its agent had to begin it anew. */
export function wishesIn({ modes, configOptions }: Pick<Tooling, 'modes' | 'configOptions'>): Wishes {
  return {
    mode: modes?.currentModeId,
    options: Object.fromEntries(configOptions.map(({ id, currentValue }) => [id, currentValue])),
  };
}

/** Chooses what is wished for where the agent has it. What cannot be set is logged: the session is usable without. */
export async function fulfil(live: LiveSession, wishes: Wishes, timeoutMs: number, log: Log): Promise<void> {
  const attempt = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      log.warn(`a new session did not take its ${what}`, {
        sessionId: live.sessionId,
        error: String(error),
      });
    }
  };
  const { mode, model, options = {} } = wishes;
  const has = (id: string, value: string | boolean) => {
    const option = optionsOf(live.announced).find((each) => each.id === id);
    return option !== undefined && option.currentValue !== value && hasValue(option, value);
  };
  const ofCategory = (category: string) =>
    optionsOf(live.announced).find((each) => each.category === category)?.id;
  const modelId = ofCategory('model');
  // The model first: which other options there are can depend on it.
  if (model !== undefined && modelId !== undefined && has(modelId, model))
    await attempt('model', () => chooseOption(live, modelId, model, timeoutMs));
  for (const [id, value] of Object.entries(options))
    if (has(id, value)) await attempt(`option ${id}`, () => chooseOption(live, id, value, timeoutMs));
  if (mode === undefined) return;
  const { modes } = live.announced;
  const modeOption = ofCategory('mode');
  if (modes?.availableModes.some(({ id }) => id === mode)) {
    if (modes.currentModeId !== mode) await attempt('mode', () => chooseMode(live, mode, timeoutMs));
  } else if (modeOption !== undefined && has(modeOption, mode))
    await attempt('mode', () => chooseOption(live, modeOption, mode, timeoutMs));
}
