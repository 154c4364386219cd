import type { ContentBlock, FileDiff, ToolCall } from '../../../protocol/content.js';
import { contentBlocks, exitCodeIn, planItems, rawBlock } from '../blocks.js';
import { parseMaybe } from '../jsonl.js';
import { rawBody } from '../raw.js';
import type { EntryBody, IndexedEntry } from '../source.js';
import { numberOf, objectOf, stringOf } from '../text.js';
import { apiError } from './facts.js';
import { commandText, saidIn, typedText } from './prompt.js';
import { blocksOf, ClaudeRecord, type Block } from './schemas.js';
import { startsAgent, toolFacts } from './tools.js';

type Rendered = Pick<IndexedEntry, 'id' | 'kind' | 'status' | 'block'>;

/** Makes the body of an entry from the bytes of its records. */
export function renderClaude(entry: Rendered, records: readonly Uint8Array[]): EntryBody {
  if (entry.kind === 'raw') return rawBody(entry, records);
  const parsed = records.map((bytes) => ClaudeRecord.safeParse(parseMaybe(bytes)));
  const first = parsed[0]?.data;
  if (!first) return rawBody(entry, records, 'This record cannot be read any more.');
  const others = parsed.slice(1).flatMap((result) => result.data ?? []);
  switch (entry.kind) {
    case 'user':
      return userBody(first);
    case 'assistant':
    case 'thought':
      return messageBody(entry, first);
    case 'tool':
    case 'plan':
      return toolBody(entry, first, others) ?? rawBody(entry, records, 'This tool call cannot be shown.');
    case 'compaction':
      return compactionBody(first, others);
    default:
      return noticeBody(first);
  }
}

function userBody(record: ClaudeRecord): EntryBody {
  const queued = record.type === 'attachment';
  const content = queued ? record.attachment?.prompt : record.message?.content;
  // Beside tool results the text was added to the running turn, e.g. why a call was refused.
  const beside = blocksOf(content).some((block) => block?.type === 'tool_result');
  const shown = typedBlocks(blocksOf(content));
  return { kind: 'user', content: shown, ...((queued || beside) && { interjection: true }) };
}

function typedBlocks(blocks: readonly (Block | undefined)[]): ContentBlock[] {
  return blocks.flatMap((block) => {
    if (block?.type === 'text') {
      const text = commandText(block.text ?? '') ?? typedText(block.text ?? '');
      return text === '' ? [] : [{ type: 'text' as const, text }];
    }
    return block === undefined || block.type === 'tool_result' ? [] : contentBlocks([block]);
  });
}

function messageBody(entry: Rendered, record: ClaudeRecord): EntryBody {
  const block = blocksOf(record.message?.content)[entry.block ?? 0];
  const model = record.message?.model;
  const kind = entry.kind === 'thought' ? 'thought' : 'assistant';
  const content: ContentBlock[] =
    block?.type === 'thinking'
      ? [{ type: 'text', text: block.thinking ?? '' }]
      : block?.type === 'text'
        ? [{ type: 'text', text: block.text ?? '' }]
        : [rawBlock(block)];
  return { kind, content, ...(model !== undefined && { model }) };
}

function toolBody(
  entry: Rendered,
  first: ClaudeRecord,
  others: readonly ClaudeRecord[],
): EntryBody | undefined {
  const block = blocksOf(first.message?.content)[entry.block ?? 0];
  if (!block) return undefined;
  if (block.type === 'tool_result') return orphanBody(entry, block, first);
  const callId = block.id ?? entry.id;
  const name = block.name ?? 'tool';
  const resultOf = (record: ClaudeRecord) =>
    blocksOf(record.message?.content).find(
      (part) => part?.type === 'tool_result' && part.tool_use_id === callId,
    );
  const answered = others.find((record) => resultOf(record) !== undefined);
  const output = answered && contentBlocks(resultOf(answered)?.content);
  if (entry.kind === 'plan') {
    const plan = planItems(objectOf(block.input)?.['todos'], 'content');
    return { kind: 'plan', content: [], plan, ...(entry.status && { status: entry.status }) };
  }
  const { kind, title, path } = toolFacts(name, block.input);
  const result = objectOf(answered?.toolUseResult);
  const diffs = diffsOf(name, block.input, result);
  const exitCode =
    kind === 'execute' && name === 'Bash' && answered ? exitCodeOf(output ?? [], entry.status) : undefined;
  const agentId = stringOf(result?.['agentId']);
  const durationMs = numberOf(result?.['durationMs']) ?? numberOf(result?.['totalDurationMs']);
  const tool: ToolCall = {
    callId,
    name,
    title,
    kind,
    status: toolStatus(entry.status),
    input: block.input,
    ...(output && { output }),
    ...(exitCode !== undefined && { exitCode }),
    ...(durationMs !== undefined && { durationMs }),
    ...(path !== undefined && { locations: [location(path, block.input)] }),
    ...(diffs.length > 0 && { diffs }),
    ...(startsAgent(name) && agentId !== undefined && { childSessionId: `agent-${agentId}` }),
  };
  return { kind: 'tool', content: [], tool, ...(entry.status && { status: entry.status }) };
}

function orphanBody(entry: Rendered, block: Block, record: ClaudeRecord): EntryBody {
  const tool: ToolCall = {
    callId: block.tool_use_id ?? entry.id,
    name: 'unknown',
    title: 'Result of a tool call that is not in this transcript',
    kind: 'other',
    status: toolStatus(entry.status),
    output: contentBlocks(block.content),
  };
  const status = entry.status ?? (record.isApiErrorMessage ? 'failed' : 'completed');
  return { kind: 'tool', content: [], tool, status };
}

function toolStatus(status: Rendered['status']): ToolCall['status'] {
  return status === 'cancelled' ? 'failed' : (status ?? 'completed');
}

function location(path: string, input: unknown): { path: string; line?: number } {
  const line = numberOf(objectOf(input)?.['offset']);
  return { path, ...(line !== undefined && Number.isInteger(line) && { line }) };
}

function exitCodeOf(output: readonly ContentBlock[], status: Rendered['status']): number | undefined {
  const text = output.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  return exitCodeIn(text) ?? (status === 'completed' ? 0 : undefined);
}

function diffsOf(
  name: string,
  input: unknown,
  result: Readonly<Record<string, unknown>> | undefined,
): FileDiff[] {
  const args = objectOf(input);
  const path = stringOf(args?.['file_path']) ?? stringOf(args?.['notebook_path']);
  if (!args || path === undefined) return [];
  const diff = (from: unknown, to: unknown): FileDiff[] => {
    const newText = stringOf(to);
    return newText === undefined ? [] : [{ path, oldText: stringOf(from) ?? '', newText }];
  };
  switch (name) {
    case 'Edit':
      return diff(args['old_string'], args['new_string']);
    case 'MultiEdit': {
      const edits = Array.isArray(args['edits']) ? args['edits'] : [];
      return edits.flatMap((edit: unknown) =>
        diff(objectOf(edit)?.['old_string'], objectOf(edit)?.['new_string']),
      );
    }
    case 'Write': {
      const newText = stringOf(args['content']) ?? '';
      return [{ path, oldText: stringOf(result?.['originalFile']) ?? null, newText }];
    }
    case 'NotebookEdit':
      return diff(result?.['original_file'], args['new_source']);
    default:
      return [];
  }
}

function compactionBody(first: ClaudeRecord, others: readonly ClaudeRecord[]): EntryBody {
  const summary = first.isCompactSummary ? first : others.find((record) => record.isCompactSummary);
  const meta = first.compactMetadata;
  const trigger =
    meta?.trigger === 'manual' ? ('user' as const) : meta?.trigger === 'auto' ? ('auto' as const) : undefined;
  return {
    kind: 'compaction',
    content: contentBlocks(summary?.message?.content),
    compaction: {
      ...(meta?.preTokens !== undefined && { tokensBefore: meta.preTokens }),
      ...(meta?.postTokens !== undefined && { tokensAfter: meta.postTokens }),
      ...(trigger && { trigger }),
    },
  };
}

function noticeBody(record: ClaudeRecord): EntryBody {
  const error =
    record.isApiErrorMessage === true || record.subtype === 'api_error' || record.level === 'error';
  const warning = record.level === 'warning' || record.level === 'warn';
  const severity = error ? ('error' as const) : warning ? ('warning' as const) : ('info' as const);
  return { kind: 'notice', severity, content: [{ type: 'text', text: noticeText(record) }] };
}

function noticeText(record: ClaudeRecord): string {
  if (record.type === 'system') {
    const said = stringOf(record.content) ?? '';
    if (said === '') return record.subtype === 'api_error' ? apiError(record.error) : (record.subtype ?? '');
    return spoken(saidIn(said)) ?? said;
  }
  const content = blocksOf(record.message?.content).filter((block) => block?.type === 'text');
  return spoken(saidIn(content)) ?? content.map((block) => block?.text ?? '').join('\n');
}

function spoken(said: ReturnType<typeof saidIn>): string | undefined {
  if (said.is === 'nothing') return undefined;
  return said.is === 'shell' ? `! ${said.text}` : said.text;
}
