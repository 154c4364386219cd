import * as z from 'zod';
import { ToolKind, ToolStatus, type ContentBlock, type FileDiff } from '../../protocol/content.js';
import { PlanItem } from '../../protocol/entry.js';
import { rawBlock, toContentBlock } from './content.js';
import { ownCommand, type OwnCommand } from './own_commands.js';
import { parseSubagent, type Subagent } from './subagent_update.js';

/** What a `tool_call` or `tool_call_update` tells. Absent means unchanged; lists replace. */
export interface ToolPatch {
  readonly callId: string;
  readonly name?: string;
  readonly title?: string;
  readonly kind?: ToolKind;
  readonly status?: ToolStatus;
  readonly input?: unknown;
  readonly output?: readonly ContentBlock[];
  readonly exitCode?: number;
  readonly locations?: readonly { path: string; line?: number }[];
  readonly diffs?: readonly FileDiff[];
  /** A terminal of this client whose output is the call's. */
  readonly terminalId?: string;
  /** The call is a command that the agent runs itself. */
  readonly command?: OwnCommand;
}

/** A `session/update`, read leniently. */
export type AgentUpdate =
  | {
      readonly type: 'message';
      readonly role: 'user' | 'assistant' | 'thought';
      readonly content: ContentBlock;
      /** Two chunks with different ids belong to different messages. */
      readonly messageId?: string;
    }
  | { readonly type: 'tool'; readonly patch: ToolPatch }
  | { readonly type: 'plan'; readonly items: readonly PlanItem[] }
  | { readonly type: 'info'; readonly title?: string | null }
  /** Tokens in the model's context now. */
  | { readonly type: 'usage'; readonly used: number; readonly size?: number }
  | { readonly type: 'notice'; readonly severity: 'info' | 'warning' | 'error'; readonly text: string }
  | {
      readonly type: 'compaction';
      readonly compactionId: string;
      readonly status: 'in_progress' | 'completed' | 'failed' | 'cancelled';
      readonly summary?: readonly ContentBlock[];
      readonly error?: string;
    }
  | { readonly type: 'compaction_chunk'; readonly compactionId: string; readonly content: ContentBlock }
  /** Known, and of no consequence for the transcript (modes, options, commands): see `announcedByUpdate`. */
  | { readonly type: 'settings' }
  | { readonly type: 'subagent'; readonly child: Subagent }
  | { readonly type: 'unknown'; readonly name: string };

const optional = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined);

const Chunk = z.object({ content: z.unknown(), messageId: optional(z.string()) });
const Tool = z.object({
  toolCallId: z.string(),
  title: optional(z.string()),
  name: optional(z.string()),
  kind: optional(ToolKind),
  status: optional(ToolStatus),
  content: optional(z.array(z.unknown())),
  locations: optional(z.array(z.looseObject({ path: z.string(), line: optional(z.number().int()) }))),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  _meta: optional(z.looseObject({ claudeCode: optional(z.looseObject({ toolName: optional(z.string()) })) })),
});
const ToolContent = z.object({ type: z.literal('content'), content: z.unknown() });
const ToolTerminal = z.object({ type: z.literal('terminal'), terminalId: z.string() });
const ToolDiff = z.object({
  type: z.literal('diff'),
  path: z.string(),
  oldText: z.string().nullish(),
  newText: z.string(),
});
const ExitCode = z.looseObject({
  exitCode: optional(z.number().int()),
  exit_code: optional(z.number().int()),
});
const Plan = z.object({
  entries: z.array(
    z.object({
      content: z.string(),
      priority: optional(z.enum(['high', 'medium', 'low'])),
      status: PlanItem.shape.status.catch('pending'),
    }),
  ),
});
const Info = z.object({ title: optional(z.string()) });
const UsageUpdate = z.object({ used: z.number(), size: optional(z.number()) });
const Notice = z.object({
  severity: z.enum(['info', 'warning', 'error']).catch('info'),
  title: z.string(),
  description: optional(z.string()),
});
const Compaction = z.object({
  compactionId: z.string(),
  status: z.enum(['in_progress', 'completed', 'failed', 'cancelled']).catch('in_progress'),
  summary: optional(z.array(z.unknown())),
  error: optional(z.string()),
});
const CompactionChunk = z.object({ compactionId: z.string(), content: z.unknown() });
const Kind = z.looseObject({ sessionUpdate: z.string() });

/** Reads one `update` of a `session/update`. Never throws: what it does not know is `unknown`. */
export function parseUpdate(update: unknown): AgentUpdate {
  const kind = Kind.safeParse(update);
  if (!kind.success) return { type: 'unknown', name: '' };
  const name = kind.data.sessionUpdate;
  const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
  return reader?.(update) ?? { type: 'unknown', name };
}

type Reader = (update: unknown) => AgentUpdate | undefined;

const read =
  <T extends z.ZodType>(schema: T, make: (value: z.output<T>, update: unknown) => AgentUpdate): Reader =>
  (update) => {
    const parsed = schema.safeParse(update);
    return parsed.success ? make(parsed.data, update) : undefined;
  };

const message = (role: 'user' | 'assistant' | 'thought') =>
  read(Chunk, ({ content, messageId }) => ({
    type: 'message',
    role,
    content: toContentBlock(content),
    ...(messageId ? { messageId } : {}),
  }));
const tool = read(Tool, (value) => ({ type: 'tool', patch: toolPatch(value) }));
const settings: Reader = () => ({ type: 'settings' });

const readers: Readonly<Record<string, Reader | undefined>> = {
  user_message_chunk: message('user'),
  agent_message_chunk: message('assistant'),
  agent_thought_chunk: message('thought'),
  tool_call: tool,
  tool_call_update: tool,
  plan: read(Plan, ({ entries }) => ({
    type: 'plan',
    items: entries.map(({ content, priority, status }) => ({
      content,
      status,
      ...(priority ? { priority } : {}),
    })),
  })),
  session_info_update: read(Info, ({ title }) => ({
    type: 'info',
    ...(title === undefined ? {} : { title }),
  })),
  usage_update: read(UsageUpdate, ({ used, size }) => ({ type: 'usage', used, ...(size ? { size } : {}) })),
  notice: read(Notice, ({ severity, title, description }) => ({
    type: 'notice',
    severity,
    text: description ? `${title}\n\n${description}` : title,
  })),
  compaction_update: read(Compaction, ({ compactionId, status, summary, error }) => ({
    type: 'compaction',
    compactionId,
    status,
    ...(summary ? { summary: summary.map(toContentBlock) } : {}),
    ...(error ? { error } : {}),
  })),
  compaction_summary_chunk: read(CompactionChunk, ({ compactionId, content }) => ({
    type: 'compaction_chunk',
    compactionId,
    content: toContentBlock(content),
  })),
  subagent_update: (update) => {
    const child = parseSubagent(update);
    return child && { type: 'subagent', child };
  },
  available_commands_update: settings,
  current_mode_update: settings,
  config_option_update: settings,
};

/** Reads the `toolCall` of a permission request, which has the shape of a `tool_call_update`. */
export function parseToolCall(toolCall: unknown): ToolPatch | undefined {
  const parsed = Tool.safeParse(toolCall);
  return parsed.success ? toolPatch(parsed.data) : undefined;
}

function toolPatch(value: z.output<typeof Tool>): ToolPatch {
  const name = value.name ?? value._meta?.claudeCode?.toolName;
  const exit = ExitCode.safeParse(value.rawOutput);
  const command = ownCommand(value._meta);
  const exitCode =
    command?.exit?.exitCode ?? (exit.success ? (exit.data.exitCode ?? exit.data.exit_code) : undefined);
  return {
    callId: value.toolCallId,
    ...(name ? { name } : {}),
    ...(value.title ? { title: value.title } : {}),
    ...(value.kind ? { kind: value.kind } : {}),
    ...(value.status ? { status: value.status } : {}),
    ...(value.rawInput === undefined || value.rawInput === null ? {} : { input: value.rawInput }),
    ...toolOutput(value),
    ...(command ? { command } : {}),
    ...(typeof exitCode === 'number' ? { exitCode } : {}),
    ...(value.locations
      ? {
          locations: value.locations.map(({ path, line }) => ({
            path,
            ...(typeof line === 'number' ? { line } : {}),
          })),
        }
      : {}),
  };
}

function toolOutput(value: z.output<typeof Tool>): Pick<ToolPatch, 'output' | 'diffs' | 'terminalId'> {
  if (!value.content) {
    if (value.rawOutput === undefined || value.rawOutput === null) return {};
    return {
      output: [
        typeof value.rawOutput === 'string'
          ? { type: 'text', text: value.rawOutput }
          : rawBlock(value.rawOutput, 'tool output'),
      ],
    };
  }
  const output: ContentBlock[] = [];
  const diffs: FileDiff[] = [];
  let terminalId: string | undefined;
  for (const item of value.content) {
    const content = ToolContent.safeParse(item);
    const diff = ToolDiff.safeParse(item);
    const terminal = ToolTerminal.safeParse(item);
    if (content.success) output.push(toContentBlock(content.data.content));
    else if (diff.success)
      diffs.push({ path: diff.data.path, oldText: diff.data.oldText ?? null, newText: diff.data.newText });
    else if (terminal.success) terminalId = terminal.data.terminalId;
    else output.push(rawBlock(item, 'unknown tool content'));
  }
  return {
    output,
    ...(diffs.length > 0 ? { diffs } : {}),
    ...(terminalId === undefined ? {} : { terminalId }),
  };
}
