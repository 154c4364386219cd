import type { ContentBlock, ToolCall } from '../../../protocol/content.js';
import { contentBlocks, imageOfUrl, planItems, rawBlock } from '../blocks.js';
import { parseMaybe } from '../jsonl.js';
import { rawBody } from '../raw.js';
import type { EntryBody, IndexedEntry } from '../source.js';
import { listOf, objectOf, stringOf } from '../text.js';
import { outputFacts } from './output.js';
import { changeDiffs } from './patch.js';
import { isInjected, textOf, typedText } from './prompt.js';
import { RolloutLine, type Payload } from './schemas.js';
import { callFacts, CALL_TYPES, OUTPUT_TYPES, SELF_CONTAINED, spawnedAgent } from './tools.js';

type Rendered = Pick<IndexedEntry, 'id' | 'kind' | 'status' | 'block'>;

/** Makes the body of an entry from the bytes of its records. */
export function renderCodex(entry: Rendered, records: readonly Uint8Array[]): EntryBody {
  if (entry.kind === 'raw') return rawBody(entry, records);
  if (entry.kind === 'compaction') return compactionBody(records);
  const payloads = records.flatMap((bytes) => payloadOf(bytes) ?? []);
  const first = payloads[0];
  if (!first) return rawBody(entry, records, 'This record cannot be read any more.');
  switch (entry.kind) {
    case 'user':
      return userBody(entry, first);
    case 'assistant':
    case 'thought':
      return textBody(entry.kind, spoken(first, entry.block ?? 0));
    case 'tool':
      return toolBody(entry, first, payloads);
    case 'plan':
      return planBody(entry, first);
    default:
      return noticeBody(first);
  }
}

function payloadOf(bytes: Uint8Array): Payload | undefined {
  return RolloutLine.safeParse(parseMaybe(bytes)).data?.payload;
}

function textBody(kind: 'assistant' | 'thought' | 'plan', text: string): EntryBody {
  return { kind, content: text === '' ? [] : [{ type: 'text', text }] };
}

function spoken(payload: Payload, n: number): string {
  if (payload.type === 'reasoning') {
    const summary = listOf(payload.summary);
    return textOf([(summary.length > 0 ? summary : listOf(payload.content))[n]]);
  }
  if (payload.item?.type === 'Reasoning') return textOf([listOf(payload.item.summary_text)[n]]);
  if (payload.item) return textOf(payload.item.content);
  return payload.message ?? payload.text ?? textOf(payload.content);
}

function userBody(entry: Rendered, payload: Payload): EntryBody {
  const text: ContentBlock[] = [];
  const put = (said: string) => {
    if (!isInjected(said)) text.push({ type: 'text', text: typedText(said) });
  };
  const parts = payload.item ? payload.item.content : payload.content;
  if (payload.message !== undefined) put(payload.message);
  else for (const part of typeof parts === 'string' ? [parts] : listOf(parts)) put(textOf([part]));
  const images = [...listOf(payload.images), ...listOf(parts).map((part) => objectOf(part)?.['image_url'])];
  const content = [
    ...text,
    ...images.flatMap((url) => (typeof url === 'string' ? [imageOfUrl(url)] : [])),
    ...[...listOf(payload.local_images), ...listOf(parts).map((part) => objectOf(part)?.['path'])].flatMap(
      (path) => (typeof path === 'string' ? [{ type: 'resource_link' as const, uri: `file://${path}` }] : []),
    ),
  ];
  return { kind: 'user', content, ...(entry.id.startsWith('i') && { interjection: true }) };
}

function toolBody(entry: Rendered, first: Payload, payloads: readonly Payload[]): EntryBody {
  const answer = payloads.find((payload) => OUTPUT_TYPES.has(payload.type ?? ''));
  const status = entry.status === 'cancelled' ? 'failed' : (entry.status ?? 'completed');
  const output = answer && outputFacts(answer.output);
  const own = entry.status && { status: entry.status };
  if (!CALL_TYPES.has(first.type ?? '')) {
    const tool: ToolCall = {
      callId: first.call_id ?? entry.id,
      name: 'unknown',
      title: 'Result of a tool call that is not in this transcript',
      kind: 'other',
      status,
      output: output ? [...output.blocks] : [],
    };
    return { kind: 'tool', content: [], tool, ...own };
  }
  const facts = callFacts(first);
  const applied = payloads.find((payload) => payload.type === 'patch_apply_end');
  const changed = changeDiffs(applied?.changes);
  const diffs = changed.length > 0 ? changed : facts.diffs;
  const blocks = output?.blocks ?? (SELF_CONTAINED.has(first.type ?? '') ? ownResult(first) : undefined);
  const child = spawnedAgent(facts.name, answer?.output);
  const tool: ToolCall = {
    callId: first.call_id ?? first.id ?? entry.id,
    name: facts.name,
    title: facts.title,
    kind: facts.kind,
    status,
    input: facts.input,
    ...(blocks && { output: [...blocks] }),
    ...(output?.exitCode !== undefined && { exitCode: output.exitCode }),
    ...(output?.durationMs !== undefined && { durationMs: output.durationMs }),
    ...(diffs.length > 0 && { diffs: [...diffs], locations: diffs.map(({ path }) => ({ path })) }),
    ...(child !== undefined && { childSessionId: child }),
  };
  return { kind: 'tool', content: [], tool, ...own };
}

function ownResult(payload: Payload): ContentBlock[] {
  const image = stringOf(payload.result);
  return image
    ? [{ type: 'image', mimeType: 'image/png', data: image, bytes: Math.floor((image.length * 3) / 4) }]
    : [];
}

function planBody(entry: Rendered, payload: Payload): EntryBody {
  const own = entry.status && { status: entry.status };
  if (payload.item) return { ...textBody('plan', payload.item.text ?? ''), ...own };
  const args = objectOf(callFacts(payload).input);
  const why = stringOf(args?.['explanation']);
  const content: ContentBlock[] = why ? [{ type: 'text', text: why }] : [];
  return { kind: 'plan', content, plan: planItems(args?.['plan'], 'step'), ...own };
}

/** The summary is at the beginning of a record that can be very long: it is found in a part of it too. */
function compactionBody(records: readonly Uint8Array[]): EntryBody {
  const summaries = records.flatMap((bytes) => {
    const whole = payloadOf(bytes);
    if (whole) return whole.message ?? [];
    const start = Buffer.from(bytes).toString('utf8');
    const message = /"message":("(?:[^"\\]|\\.)*")/.exec(start)?.[1];
    const text = message === undefined ? undefined : parseMaybe(Buffer.from(message));
    return typeof text === 'string' ? text : [];
  });
  const text = summaries.find((summary) => summary.trim() !== '');
  return { kind: 'compaction', content: text === undefined ? [] : [{ type: 'text', text }], compaction: {} };
}

function noticeBody(payload: Payload): EntryBody {
  const bad = payload.type === 'error';
  const warning = payload.type === 'stream_error' || payload.type === 'warning';
  const severity = bad ? ('error' as const) : warning ? ('warning' as const) : ('info' as const);
  const text = noticeText(payload);
  const content = text === undefined ? [rawBlock(payload)] : contentBlocks(text);
  return { kind: 'notice', severity, content };
}

function noticeText(payload: Payload): string | undefined {
  switch (payload.type) {
    case 'turn_aborted':
      return payload.reason === 'replaced' ? 'Replaced by a new prompt' : 'Interrupted';
    case 'entered_review_mode':
      return 'Review started';
    case 'exited_review_mode':
      return 'Review ended';
    default:
      return payload.message;
  }
}
