import * as z from 'zod';
import {
  AvailableCommand,
  ConfigOption,
  ConfigValue,
  ConfigValueGroup,
  SessionModes,
} from '../../protocol/controls.js';

/** A tool that an agent announced, as it names it. */
export interface AnnouncedTool {
  readonly name: string;
  /** The MCP server that it comes from. */
  readonly server?: string;
}

/** What an agent said of one of its MCP servers. */
export interface McpState {
  readonly available: boolean;
  readonly reason?: string;
}

/** What an agent announced about one of its sessions. Absent: it has said nothing about that. */
export interface Announced {
  /** Null: it has none. */
  readonly modes?: SessionModes | null;
  readonly configOptions?: readonly ConfigOption[];
  /** The `models` of an older agent, as an option; changed by `session/set_model`. */
  readonly legacyModel?: ConfigOption;
  readonly commands?: readonly AvailableCommand[];
  readonly tools?: readonly AnnouncedTool[];
  /** By the server's name. */
  readonly mcp?: Readonly<Record<string, McpState>>;
}

/** More of one kind than anybody can choose from is not kept. */
const MAX_ITEMS = 1000;

/** The items that are understood. */
const list = <T extends z.ZodType>(item: T) =>
  z.array(z.unknown()).transform((values) =>
    values.slice(0, MAX_ITEMS).flatMap((value) => {
      const parsed = item.safeParse(value);
      return parsed.success ? [parsed.data] : [];
    }),
  );
const optional = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);

/** The values, or the values in groups, that are kept of them. */
const Choices = z.union([
  z.array(ConfigValue).transform((values) => values.slice(0, MAX_ITEMS)),
  z.array(ConfigValueGroup).transform((groups) => {
    let room = MAX_ITEMS;
    return groups.slice(0, MAX_ITEMS).map((group) => {
      const options = group.options.slice(0, room);
      room -= options.length;
      return { ...group, options };
    });
  }),
]);
const Option = ConfigOption.transform((option): ConfigOption =>
  option.type === 'boolean' ? option : { ...option, options: Choices.parse(option.options) },
);
const Modes = SessionModes.transform((modes) => ({
  ...modes,
  availableModes: modes.availableModes.slice(0, MAX_ITEMS),
}));

const Model = z.looseObject({
  modelId: z.string(),
  name: z.string().nullish().catch(undefined),
  description: z.string().nullish().catch(undefined),
});
const Models = z.looseObject({ currentModelId: z.string(), availableModels: list(Model) });
const OpenAnswer = z.looseObject({
  modes: optional(Modes.nullable()),
  configOptions: optional(list(Option).nullable()),
  models: optional(Models.nullable()),
});

/** Reads the answer that opened a session. Never throws: what is malformed counts as not said. */
export function announcedInAnswer(answer: unknown): Announced {
  const parsed = OpenAnswer.safeParse(answer);
  if (!parsed.success) return {};
  const { modes, configOptions, models } = parsed.data;
  return {
    ...(modes === undefined ? {} : { modes }),
    ...(configOptions === undefined ? {} : { configOptions: configOptions ?? [] }),
    ...(models ? { legacyModel: legacyModel(models) } : {}),
  };
}

function legacyModel({ currentModelId, availableModels }: z.output<typeof Models>): ConfigOption {
  return {
    type: 'select',
    id: 'model',
    name: 'Model',
    category: 'model',
    _meta: { sessionDeck: { legacyModel: true } },
    currentValue: currentModelId,
    options: availableModels.map(({ modelId, name, description }) => ({
      value: modelId,
      name: name ?? modelId,
      ...(description ? { description } : {}),
    })),
  };
}

const ModeUpdate = z.object({
  sessionUpdate: z.literal('current_mode_update'),
  currentModeId: z.string(),
});
const OptionsUpdate = z.object({
  sessionUpdate: z.literal('config_option_update'),
  configOptions: list(Option),
});
const Command = z
  .looseObject({
    name: z.string(),
    // Required by the protocol, and missing in the wild.
    description: z.string().catch(''),
    input: AvailableCommand.shape.input.catch(null),
  })
  .transform((command) => ({ ...command, name: command.name.replace(/^\//, '') }));
const CommandsUpdate = z.object({
  sessionUpdate: z.literal('available_commands_update'),
  availableCommands: list(Command),
});
/** How Claude Code's adapter tells that a server did not start. */
const ClaudeMcpNotice = z.object({
  sessionUpdate: z.string(),
  title: z.string().optional(),
  description: z.string().nullish(),
  _meta: z.object({
    claudeCode: z.object({
      kind: z.literal('mcpServerStatus'),
      server: z.string(),
      status: z.string(),
    }),
  }),
});
/** How Codex's adapter tells it: as a tool call that failed. */
const CodexMcpFailure = z.object({
  sessionUpdate: z.literal('tool_call'),
  toolCallId: z.string().startsWith('mcp_startup.'),
  status: z.literal('failed'),
  content: z
    .array(z.object({ content: z.object({ text: z.string() }) }))
    .min(1)
    .optional(),
});

/** What a `session/update` announces on top of what was `known`; undefined when that is nothing. */
export function announcedByUpdate(update: unknown, known: Announced): Announced | undefined {
  const mode = ModeUpdate.safeParse(update);
  if (mode.success)
    return known.modes ? { modes: { ...known.modes, currentModeId: mode.data.currentModeId } } : undefined;
  const options = OptionsUpdate.safeParse(update);
  if (options.success) return { configOptions: options.data.configOptions };
  const commands = CommandsUpdate.safeParse(update);
  if (commands.success) return { commands: commands.data.availableCommands };
  const notice = ClaudeMcpNotice.safeParse(update);
  if (notice.success) {
    const { title, description, _meta } = notice.data;
    const { server, status } = _meta.claudeCode;
    const said = [title, description].filter(Boolean).join('. ');
    return { mcp: { ...known.mcp, [server]: { available: false, reason: said === '' ? status : said } } };
  }
  const failure = CodexMcpFailure.safeParse(update);
  if (failure.success) {
    const server = decodeName(failure.data.toolCallId.slice('mcp_startup.'.length));
    const reason = failure.data.content?.[0]?.content.text ?? 'It failed to start.';
    return { mcp: { ...known.mcp, [server]: { available: false, reason } } };
  }
  return undefined;
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // Not encoded after all.
    return name;
  }
}

/** What `_claude/sdkMessage` carries when it was asked for: the first message of a turn. */
const ClaudeInit = z.object({
  type: z.literal('system'),
  subtype: z.literal('init'),
  tools: list(z.string()),
  mcp_servers: list(z.object({ name: z.string(), status: z.string() })).catch([]),
});

/** What to put in `_meta` of a request that opens a session, so that Claude Code's adapter tells its tools. */
export const CLAUDE_TELL_TOOLS = {
  claudeCode: { emitRawSDKMessages: [{ type: 'system', subtype: 'init' }] },
} as const;

/** What a message of Claude Code itself announces; undefined when that is nothing. */
export function announcedByClaude(message: unknown, known: Announced): Announced | undefined {
  const init = ClaudeInit.safeParse(message);
  if (!init.success) return undefined;
  const servers = init.data.mcp_servers;
  const mcp = Object.fromEntries(
    servers.map(({ name, status }): [string, McpState] => [
      name,
      status === 'connected'
        ? { available: true }
        : { available: false, reason: known.mcp?.[name]?.reason ?? `Its state is "${status}".` },
    ]),
  );
  const names = servers.map(({ name }) => name);
  return { mcp, tools: init.data.tools.map((name) => claudeTool(name, names)) };
}

/** Tools of a server are named `mcp__SERVER__TOOL`, with all but letters, digits, `_` and `-` of its name replaced. */
function claudeTool(name: string, servers: readonly string[]): AnnouncedTool {
  if (!name.startsWith('mcp__')) return { name };
  const server = servers.find((each) => name.startsWith(`mcp__${each.replace(/[^a-zA-Z0-9_-]/g, '_')}__`));
  return { name, server: server ?? name.slice('mcp__'.length).split('__')[0] ?? '' };
}

/** The options with the model among them, also where the agent tells its models the old way. */
export function optionsOf({ configOptions = [], legacyModel }: Announced): readonly ConfigOption[] {
  if (!legacyModel || configOptions.some(({ category }) => category === 'model')) return configOptions;
  const taken = configOptions.some(({ id }) => id === legacyModel.id);
  return [...configOptions, taken ? { ...legacyModel, id: 'legacy_model' } : legacyModel];
}

/** A `config_option_update` with the model among its options, also where the agent tells its models the old way. */
export function withAllOptions(update: unknown, announced: Announced): unknown {
  const parsed = z.looseObject({ configOptions: z.array(z.unknown()) }).safeParse(update);
  if (!parsed.success || !announced.legacyModel) return update;
  return { ...parsed.data, configOptions: optionsOf(announced) };
}

const LegacyModel = z.looseObject({
  _meta: z.looseObject({ sessionDeck: z.looseObject({ legacyModel: z.literal(true) }) }),
});

/** Whether that option was made of the `models` of an older agent, and so is changed by `session/set_model`. */
export function isLegacyModel(option: ConfigOption): boolean {
  return LegacyModel.safeParse(option).success;
}

/** The model that is chosen, where one is told. */
export function modelIn(announced: Announced): string | undefined {
  const value = optionsOf(announced).find(({ category }) => category === 'model')?.currentValue;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
