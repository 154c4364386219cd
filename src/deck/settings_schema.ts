import * as z from 'zod';
import { CustomAgent, RegistryAgent, type AgentDefinition } from '../protocol/agents.js';
import { ModelEndpoint, SmallJobsModel, type SmallJobs } from '../protocol/deck.js';
import { SETTINGS_SECTION, settingIds } from './ids.js';

/** The settings as they are read, without an editor, so that they are tested without one. */

export const GroupBy = z.enum(['folder', 'date', 'agent']);
export type GroupBy = z.infer<typeof GroupBy>;

/** A setting that does not fit is left out and named in `problems`; the others still hold. */
export interface Settings {
  readonly agents: Readonly<Record<string, AgentDefinition>>;
  readonly defaultAgent?: string;
  readonly allFolders: boolean;
  readonly groupBy: GroupBy;
  readonly smallJobs: SmallJobs;
  readonly embeddings?: ModelEndpoint;
  readonly problems: readonly string[];
}

const AgentKey = z.string().min(1).max(64);
const isRegistry = (value: unknown) =>
  typeof value === 'object' && value !== null && Reflect.get(value, 'type') === 'registry';
/** An object setting that nobody wrote is empty. */
const isUnset = (value: unknown) =>
  value === undefined ||
  value === null ||
  (typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0);

/** Parses all settings; `get` reads one by its id below the section. */
export function parseSettings(get: (id: string) => unknown): Settings {
  const problems: string[] = [];
  const check = <T>(path: readonly string[], value: unknown, schema: z.ZodType<T>): T | undefined => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const where = [SETTINGS_SECTION, ...path, ...(issue?.path ?? [])].map(String).join('.');
    problems.push(`${where}: ${issue?.message ?? ''}`);
    return undefined;
  };
  const read = <T>(id: string, schema: z.ZodType<T>, fallback: T): T =>
    check([id], get(id) ?? fallback, schema) ?? fallback;
  const endpoint = (id: string): ModelEndpoint | undefined =>
    isUnset(get(id)) ? undefined : check([id], get(id), ModelEndpoint);

  const agents: Record<string, AgentDefinition> = {};
  for (const [id, value] of Object.entries(read(settingIds.agents, z.record(z.string(), z.unknown()), {}))) {
    const schema: z.ZodType<AgentDefinition> = isRegistry(value) ? RegistryAgent : CustomAgent;
    const path = [settingIds.agents, id];
    const definition = check(path, value, schema);
    if (definition && check(path, id, AgentKey) !== undefined) agents[id] = definition;
  }
  const defaultAgent = read(settingIds.defaultAgent, z.string(), '').trim();
  const jobsEndpoint = endpoint(settingIds.smallJobsEndpoint);
  const model = read(settingIds.smallJobsModel, SmallJobsModel, 'off');
  if (model === 'endpoint' && jobsEndpoint === undefined && isUnset(get(settingIds.smallJobsEndpoint)))
    problems.push(
      `${SETTINGS_SECTION}.${settingIds.smallJobsEndpoint}: needed, because ${settingIds.smallJobsModel} is "endpoint"`,
    );
  const embeddings = endpoint(settingIds.embeddings);
  return {
    agents,
    ...(defaultAgent === '' ? {} : { defaultAgent }),
    allFolders: read(settingIds.allFolders, z.boolean(), false),
    groupBy: read(settingIds.groupBy, GroupBy, 'folder'),
    smallJobs: {
      model,
      ...(jobsEndpoint === undefined ? {} : { endpoint: jobsEndpoint }),
      allowAgent: read(settingIds.smallJobsAllowAgent, z.boolean(), false),
    },
    ...(embeddings === undefined ? {} : { embeddings }),
    problems,
  };
}
