import * as z from 'zod';

/**
 * What a person can choose about a session in its agent: modes, options (the model among them) and commands. The shapes
 * are those of the Agent Client Protocol (schema v1, npm `@agentclientprotocol/sdk` 2.4), read leniently.
 */

export const SessionMode = z.looseObject({
  id: z.string(),
  name: z.string(),
  description: z.string().nullish(),
});
export type SessionMode = z.infer<typeof SessionMode>;
export const SessionModes = z.looseObject({
  currentModeId: z.string(),
  availableModes: z.array(SessionMode),
});
export type SessionModes = z.infer<typeof SessionModes>;

export const ConfigValue = z.looseObject({
  value: z.string(),
  name: z.string(),
  description: z.string().nullish(),
});
export const ConfigValueGroup = z.looseObject({
  group: z.string(),
  name: z.string(),
  options: z.array(ConfigValue),
});
/** `category` is `mode`, `model`, `thought_level` or a word of the agent's own. */
export const ConfigOption = z.union([
  z.looseObject({
    type: z.literal('select'),
    id: z.string(),
    name: z.string(),
    description: z.string().nullish(),
    category: z.string().nullish(),
    currentValue: z.string(),
    options: z.union([z.array(ConfigValue), z.array(ConfigValueGroup)]),
  }),
  z.looseObject({
    type: z.literal('boolean'),
    id: z.string(),
    name: z.string(),
    description: z.string().nullish(),
    category: z.string().nullish(),
    currentValue: z.boolean(),
  }),
]);
export type ConfigOption = z.infer<typeof ConfigOption>;

/** A command that the agent offers in prompts as `/name`. */
export const AvailableCommand = z.looseObject({
  name: z.string(),
  description: z.string(),
  input: z.looseObject({ hint: z.string() }).nullish(),
});
export type AvailableCommand = z.infer<typeof AvailableCommand>;

/** What an agent takes in a prompt besides text and links. */
export const PromptCapabilities = z.object({
  image: z.boolean(),
  audio: z.boolean(),
  embeddedContext: z.boolean(),
});
export type PromptCapabilities = z.infer<typeof PromptCapabilities>;

/** Where a tool comes from. */
export const ToolOrigin = z.union([
  z.literal('agent'),
  z.literal('host'),
  z.templateLiteral(['mcp:', z.string()]),
]);

/**
 * The catalogue of a session: what its agent really announced. All of one answer is of one `generation`, which grows
 * with every change and never goes back, also across restarts.
 */
export const Tooling = z.object({
  generation: z.number().int(),
  /** Names this very catalogue; two with the same id are the same. */
  catalog: z.object({ id: z.string() }),
  tools: z.array(
    z.object({
      name: z.string(),
      title: z.string().optional(),
      description: z.string().optional(),
      origin: ToolOrigin,
      available: z.boolean(),
      reason: z.string().optional(),
    }),
  ),
  mcp: z.array(z.object({ server: z.string(), available: z.boolean(), reason: z.string().optional() })),
  commands: z.array(AvailableCommand),
  modes: SessionModes.optional(),
  configOptions: z.array(ConfigOption),
  /** Absent until the agent has said it. */
  prompt: PromptCapabilities.optional(),
  /** Whether the session is open in a running agent; if not, this is what it said last. */
  live: z.boolean(),
});
export type Tooling = z.infer<typeof Tooling>;
