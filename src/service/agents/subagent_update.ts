import * as z from 'zod';

const State = z.looseObject({ state: z.string() });
const SubagentUpdate = z.looseObject({
  sessionId: z.string().min(1),
  title: z.string().nullish().catch(undefined),
  description: z.string().nullish().catch(undefined),
  capabilities: z.looseObject({ cancel: z.unknown() }).nullish().catch(undefined),
  state: State.nullish().catch(undefined),
});

/** A child session that an agent tells of. Absent means unchanged. */
export interface Subagent {
  /** The agent's own id of the child's session. */
  readonly agentSessionId: string;
  readonly title?: string;
  /** Whether `session/cancel` of the child ends its work and nothing else. */
  readonly canCancel?: boolean;
  /** False when its work is over, or the agent cannot tell any more. */
  readonly isWorking?: boolean;
}

/** Reads a `subagent_update`. Undefined when it is none. */
export function parseSubagent(update: unknown): Subagent | undefined {
  const parsed = SubagentUpdate.safeParse(update);
  if (!parsed.success) return undefined;
  const { sessionId, title, description, capabilities, state } = parsed.data;
  const name = title ?? description;
  return {
    agentSessionId: sessionId,
    ...(name ? { title: name } : {}),
    ...(capabilities === undefined
      ? {}
      : { canCancel: typeof capabilities?.cancel === 'object' && capabilities.cancel !== null }),
    ...(state === undefined
      ? {}
      : { isWorking: state?.state === 'running' || state?.state === 'requires_action' }),
  };
}

/** Names of the tools by which agents start sub-agents, in lower case: Claude Code, Codex, OpenCode. */
const SUBAGENT_TOOLS = new Set(['task', 'agent', 'spawn_agent', 'spawnagent']);

/** Whether a tool call of that name is a sub-agent at work. */
export function isSubagentTool(name: string): boolean {
  return SUBAGENT_TOOLS.has(name.toLowerCase());
}
