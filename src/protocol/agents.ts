import * as z from 'zod';

/** How agents are configured, known beforehand, found on this machine and signed in to. */

/**
 * One value of the setting `sessionDeck.agents`, in the shape of Zed's `agent_servers`: a program of one's own, or
 * (`registry`) one that is known by its id and only adjusted here.
 */
const adjustments = {
  env: z.record(z.string(), z.string()).optional(),
  title: z.string().optional(),
  /** Set in new sessions, where the agent has it. */
  default_mode: z.string().optional(),
  default_model: z.string().optional(),
};
export const CustomAgent = z.object({
  type: z.literal('custom').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  ...adjustments,
});
export const RegistryAgent = z.object({ type: z.literal('registry'), ...adjustments });
export const AgentDefinition = z.discriminatedUnion('type', [CustomAgent, RegistryAgent]);
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** A way to sign in, as the agent offers it. `terminal` ones run the agent's program with these arguments. */
export const AuthMethod = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  terminal: z
    .object({ command: z.string(), args: z.array(z.string()), env: z.record(z.string(), z.string()) })
    .optional(),
});
export type AuthMethod = z.infer<typeof AuthMethod>;

/** An agent that is configured, or known beforehand. */
export const KnownAgent = z.object({
  /** Its key in the setting. */
  id: z.string(),
  title: z.string(),
  /** It is in the settings of this client. */
  configured: z.boolean(),
  default: z.boolean(),
  /** Its program is on this machine (looked up on PATH; nothing is started). */
  installed: z.boolean(),
  /** The start line as one would type it. */
  commandLine: z.string(),
  /** How to install and sign in to it, one sentence. */
  hint: z.string().optional(),
  /** Whether its process runs now. */
  running: z.boolean(),
});
export type KnownAgent = z.infer<typeof KnownAgent>;

export const AgentsParams = z.object({});
export const AgentsResult = z.object({ agents: z.array(KnownAgent) });

export const AgentParams = z.object({ agent: z.string().min(1).max(64) });
export type AgentParams = z.infer<typeof AgentParams>;
/** What a started agent says of itself. */
export const AgentDetails = z.object({
  id: z.string(),
  name: z.string().optional(),
  version: z.string().optional(),
  protocolVersion: z.number().int(),
  capabilities: z.array(z.string()),
  authMethods: z.array(AuthMethod),
});
export type AgentDetails = z.infer<typeof AgentDetails>;

export const AuthenticateParams = z.object({ agent: z.string().min(1).max(64), methodId: z.string().min(1) });
export type AuthenticateParams = z.infer<typeof AuthenticateParams>;

/** How many sessions the agent listed, and how many of them were not known. */
export const DiscoverResult = z.object({
  listed: z.number().int(),
  added: z.number().int(),
  /** Why not all could be listed. */
  warning: z.string().optional(),
});
