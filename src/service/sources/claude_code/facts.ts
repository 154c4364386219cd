import type { Usage } from '../../../protocol/entry.js';
import { oneLine, timeOf, stringOf, objectOf } from '../text.js';
import { queuedPrompt, saidIn } from './prompt.js';
import { blocksOf, type ClaudeRecord, type MessageUsage } from './schemas.js';
import { isPlan, toolFacts } from './tools.js';

/** One block of an assistant record that is shown. */
export interface ShownBlock {
  readonly n: number;
  readonly kind: 'assistant' | 'thought' | 'tool' | 'plan';
  readonly preview: string;
  readonly callId?: string;
  readonly files: readonly string[];
}

export interface ToolResult {
  readonly n: number;
  readonly callId: string;
  readonly failed: boolean;
  readonly preview: string;
}

/** What a record does to the transcript. */
export type Act =
  | { readonly do: 'nothing' }
  | { readonly do: 'prompt'; readonly preview: string }
  | { readonly do: 'command'; readonly text: string }
  | { readonly do: 'meta' }
  | { readonly do: 'interjection'; readonly preview: string }
  | { readonly do: 'notice'; readonly preview: string; readonly error: boolean; readonly end?: 'failed' }
  | { readonly do: 'interrupt'; readonly preview: string }
  | { readonly do: 'results'; readonly results: readonly ToolResult[]; readonly then?: Act }
  | {
      readonly do: 'assistant';
      readonly blocks: readonly ShownBlock[];
      readonly messageId: string | undefined;
      readonly model: string | undefined;
      readonly usage: Usage | undefined;
      readonly final: boolean;
    }
  | { readonly do: 'compaction'; readonly preview: string; readonly tail: string | undefined }
  | { readonly do: 'summary'; readonly preview: string }
  | { readonly do: 'turnEnd' }
  | { readonly do: 'title'; readonly text: string; readonly by: 'agent' | 'user'; readonly leaf?: string }
  | { readonly do: 'raw'; readonly preview: string; readonly id: string };

/** A record, reduced to what the index needs. */
export interface Fact {
  readonly offset: number;
  readonly length: number;
  readonly uuid: string | undefined;
  /** null: it says that it has none. */
  readonly parent: string | null | undefined;
  readonly side: boolean;
  readonly at: number | undefined;
  readonly act: Act;
  /** On the side chain: whose it is. */
  readonly agentId: string | undefined;
  readonly headless: boolean;
}

const FINAL = new Set([
  'end_turn',
  'stop_sequence',
  'max_tokens',
  'refusal',
  'model_context_window_exceeded',
]);

/** Reduces a parsed record. */
export function factOf(record: ClaudeRecord, offset: number, length: number): Fact {
  return {
    offset,
    length,
    uuid: record.uuid,
    parent: record.parentUuid ?? (record.parentUuid === null ? null : undefined),
    side: record.isSidechain === true,
    at: timeOf(record.timestamp),
    act: actOf(record),
    agentId: record.agentId,
    headless: record.entrypoint?.startsWith('sdk') ?? false,
  };
}

function actOf(record: ClaudeRecord): Act {
  switch (record.type) {
    case 'user':
      return userAct(record);
    case 'assistant':
      return assistantAct(record);
    case 'system':
      return systemAct(record);
    case 'attachment': {
      const queued = queuedPrompt(record);
      return queued ? { do: 'interjection', preview: promptPreview(queued) } : { do: 'nothing' };
    }
    case 'custom-title':
      return titleAct(record.customTitle, 'user');
    case 'ai-title':
      return titleAct(record.aiTitle, 'agent');
    case 'summary':
      return titleAct(record.summary, 'agent', record.leafUuid);
    default:
      return { do: 'nothing' };
  }
}

function titleAct(text: string | undefined, by: 'agent' | 'user', leaf?: string): Act {
  const line = oneLine(text ?? '');
  if (line === '') return { do: 'nothing' };
  return { do: 'title', text: line, by, ...(leaf !== undefined && { leaf }) };
}

function promptPreview(prompt: { readonly text: string; readonly images: number }): string {
  return prompt.text === '' && prompt.images > 0 ? '[image]' : oneLine(prompt.text);
}

function userAct(record: ClaudeRecord): Act {
  const content = record.message?.content;
  if (record.isCompactSummary) return { do: 'summary', preview: compactionPreview() };
  const results = typeof content === 'string' ? [] : resultsOf(record);
  const said = record.isMeta ? undefined : saidIn(results.length > 0 ? textOnly(content) : content);
  if (results.length > 0) {
    const then: Act | undefined =
      said?.is === 'interrupt'
        ? { do: 'interrupt', preview: said.text }
        : said?.is === 'prompt'
          ? { do: 'interjection', preview: promptPreview(said) }
          : undefined;
    return { do: 'results', results, ...(then && { then }) };
  }
  switch (said?.is) {
    case undefined:
      return { do: 'meta' };
    case 'nothing':
      return { do: 'nothing' };
    case 'prompt':
      return { do: 'prompt', preview: promptPreview(said) };
    case 'command':
      return { do: 'command', text: said.text };
    case 'shell':
      return { do: 'notice', preview: oneLine(`! ${said.text}`), error: false };
    case 'output':
      return said.text === ''
        ? { do: 'nothing' }
        : { do: 'notice', preview: oneLine(said.text), error: false };
    case 'notification':
      return { do: 'notice', preview: oneLine(said.text), error: false };
    case 'interrupt':
      return { do: 'interrupt', preview: said.text };
  }
}

/** Besides results only text is looked at: images there belong to the results. */
function textOnly(content: Parameters<typeof blocksOf>[0]) {
  return blocksOf(content).filter((block) => block?.type === 'text');
}

function resultsOf(record: ClaudeRecord): ToolResult[] {
  return blocksOf(record.message?.content).flatMap((block, n) => {
    if (block?.type !== 'tool_result' || block.tool_use_id === undefined) return [];
    return [
      {
        n,
        callId: block.tool_use_id,
        failed: block.is_error === true,
        preview: resultPreview(block.content),
      },
    ];
  });
}

function resultPreview(content: unknown): string {
  if (typeof content === 'string') return oneLine(content);
  if (!Array.isArray(content)) return '';
  for (const part of content) {
    const text = stringOf(objectOf(part)?.['text']);
    if (text) return oneLine(text);
  }
  return '';
}

function assistantAct(record: ClaudeRecord): Act {
  const { message } = record;
  const synthetic = message?.model === '<synthetic>';
  const blocks = blocksOf(message?.content);
  if (synthetic || record.isApiErrorMessage) {
    const text = oneLine(blocks.flatMap((block) => block?.text ?? []).join(' '));
    if (!record.isApiErrorMessage && (text === '' || text === 'No response requested.'))
      return { do: 'nothing' };
    const error = record.isApiErrorMessage === true;
    return { do: 'notice', preview: text, error, ...(error && { end: 'failed' as const }) };
  }
  return {
    do: 'assistant',
    blocks: blocks.flatMap((block, n) => {
      const shown = block && shownBlock(block, n);
      return shown ? [shown] : [];
    }),
    messageId: message?.id,
    model: message?.model,
    usage: usageOf(message?.usage),
    final: FINAL.has(message?.stop_reason ?? ''),
  };
}

function shownBlock(
  block: NonNullable<ReturnType<typeof blocksOf>[number]>,
  n: number,
): ShownBlock | undefined {
  switch (block.type) {
    case 'text': {
      const preview = oneLine(block.text ?? '');
      return preview === '' || preview === '(no content)'
        ? undefined
        : { n, kind: 'assistant', preview, files: [] };
    }
    case 'thinking': {
      const preview = oneLine(block.thinking ?? '');
      return preview === '' ? undefined : { n, kind: 'thought', preview, files: [] };
    }
    case 'redacted_thinking':
      return undefined;
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const name = block.name ?? 'tool';
      const { title, edits, path } = toolFacts(name, block.input);
      return {
        n,
        kind: isPlan(name) ? 'plan' : 'tool',
        preview: title,
        files: edits && path !== undefined ? [path] : [],
        ...(block.id !== undefined && { callId: block.id }),
      };
    }
    default:
      return { n, kind: 'assistant', preview: `[${oneLine(block.type)}]`, files: [] };
  }
}

function usageOf(usage: MessageUsage): Usage | undefined {
  if (!usage) return undefined;
  const { input_tokens: input, output_tokens: output } = usage;
  const { cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite } = usage;
  return {
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

function compactionPreview(tokens?: number): string {
  return tokens === undefined
    ? 'Conversation compacted'
    : `Conversation compacted (${tokens.toLocaleString('en-US')} tokens before)`;
}

function systemAct(record: ClaudeRecord): Act {
  const said = stringOf(record.content) ?? '';
  switch (record.subtype) {
    case 'compact_boundary':
      return {
        do: 'compaction',
        preview: compactionPreview(record.compactMetadata?.preTokens),
        tail: record.compactMetadata?.preservedSegment?.tailUuid,
      };
    case 'microcompact_boundary':
      return { do: 'notice', preview: oneLine(said || 'Old tool output left the context'), error: false };
    case 'turn_duration':
      return { do: 'turnEnd' };
    case 'api_error':
      return { do: 'notice', preview: oneLine(said || apiError(record.error)), error: true };
    case 'local_command': {
      const local = saidIn(said);
      if (local.is === 'command' || local.is === 'output') {
        return local.text === ''
          ? { do: 'nothing' }
          : { do: 'notice', preview: oneLine(local.text), error: false };
      }
      return { do: 'nothing' };
    }
    default: {
      const loud = record.level === 'error' || record.level === 'warning' || record.level === 'warn';
      if (!loud || said === '' || record.subtype === 'stop_hook_summary') return { do: 'nothing' };
      return { do: 'notice', preview: oneLine(said), error: false };
    }
  }
}

/** The message of an API error, however deep it lies. */
export function apiError(error: unknown): string {
  const outer = objectOf(error);
  const inner = objectOf(outer?.['error']);
  const innermost = objectOf(inner?.['error']);
  const message =
    stringOf(innermost?.['message']) ??
    stringOf(inner?.['message']) ??
    stringOf(outer?.['message']) ??
    stringOf(outer?.['code']);
  const status = outer?.['status'];
  const prefix = typeof status === 'number' ? `API error ${status}` : 'API error';
  return message ? `${prefix}: ${message}` : prefix;
}
