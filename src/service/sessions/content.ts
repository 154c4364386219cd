import type { ContentBlock, FileDiff } from '../../protocol/content.js';
import type { EntryContentResult } from '../../protocol/deck.js';
import { MAX_ENTRY_BYTES, type Entry } from '../../protocol/entry.js';
import { DomainError } from '../../protocol/errors.js';

/**
 * A `ref` is `<part>:<entry id>`, or `image.<place>.<index>:<entry id>`. `entry` is all of it as JSON, for an entry of
 * which more than one part was cut.
 */
const REF = /^(?:(content|output|input|diffs|entry)|image\.(content|output)\.(\d{1,6})):(.+)$/su;
type Part = 'content' | 'output' | 'input' | 'diffs' | 'entry';
type Place = 'content' | 'output';

/** What a ref points at. */
export type Ref = { readonly entryId: string } & (
  { readonly part: Part } | { readonly part: 'image'; readonly place: Place; readonly index: number }
);

/** How a cut entry's bytes are shared out; together below `MAX_ENTRY_BYTES`. */
const SHARES = {
  content: 56 * 1024,
  toolContent: 6 * 1024,
  output: 24 * 1024,
  input: 10 * 1024,
  diffs: 16 * 1024,
};
const MAX_BLOCKS = 200;
const MAX_LOCATIONS = 100;
/** Longest string inside a tool's arguments once they are cut, in characters. */
const INPUT_STRING = 1_000;
const SLICE_BYTES = 1024 * 1024;

const utf8 = (text: string) => Buffer.byteLength(text);

/** About how many bytes a value takes as JSON. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return utf8(value) + 2;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item) + 1, 2);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).reduce((sum, [key, item]) => sum + utf8(key) + 4 + sizeOf(item), 2);
  return 8;
}

/** The first `bytes` bytes of a text, cut at a character's border. */
export function cutText(text: string, bytes: number): string {
  if (utf8(text) <= bytes) return text;
  const buffer = Buffer.from(text.slice(0, bytes));
  return buffer.subarray(0, border(buffer, Math.min(bytes, buffer.length))).toString();
}

/** The last border of a character at or before `at`. */
function border(buffer: Uint8Array, at: number): number {
  let end = at;
  while (end > 0 && end < buffer.length && ((buffer[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

/** Puts a ref in the place of an image's bytes. */
function imageRefs(blocks: readonly ContentBlock[], place: Place, entryId: string): ContentBlock[] {
  return blocks.map((block, index) => {
    if (block.type !== 'image') return block;
    const bytes =
      block.bytes ?? (block.data === undefined ? undefined : Buffer.byteLength(block.data, 'base64'));
    return {
      type: 'image',
      mimeType: block.mimeType,
      ref: `image.${place}.${String(index)}:${entryId}`,
      ...(bytes === undefined ? {} : { bytes }),
    };
  });
}

function cutBlocks(blocks: readonly ContentBlock[], budget: number): ContentBlock[] {
  const kept: ContentBlock[] = [];
  let left = budget;
  for (const block of blocks) {
    if (left <= 0 || kept.length >= MAX_BLOCKS) break;
    const size = sizeOf(block);
    if (size <= left) kept.push(block);
    else if (block.type === 'text') kept.push({ ...block, text: cutText(block.text, left) });
    else if (block.type === 'raw') kept.push({ ...block, text: cutText(block.text, left) });
    else if (block.type === 'resource') kept.push({ ...block, text: cutText(block.text ?? '', left) });
    left -= size;
  }
  return kept;
}

function cutStrings(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length > INPUT_STRING ? value.slice(0, INPUT_STRING) + '…' : value;
  if (Array.isArray(value)) return value.slice(0, MAX_BLOCKS).map(cutStrings);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutStrings(item)]));
  return value;
}

function cutInput(input: unknown): unknown {
  const cut = cutStrings(input);
  return sizeOf(cut) <= SHARES.input ? cut : cutText(JSON.stringify(input), SHARES.input);
}

/** A diff of cut texts would show lines as removed that were not, so only a new file's text is cut. */
function cutDiffs(diffs: readonly FileDiff[]): FileDiff[] {
  const kept: FileDiff[] = [];
  let left = SHARES.diffs;
  for (const diff of diffs) {
    const size = sizeOf(diff);
    if (size <= left) kept.push(diff);
    else if (diff.oldText === null && left > 1024)
      kept.push({ ...diff, newText: cutText(diff.newText, left) });
    else continue;
    left -= size;
  }
  return kept;
}

/** The entry as it goes out: images as refs, and content over 64 KB cut with a ref to the whole. */
export function cutEntry(entry: Entry): Entry {
  const whole: Entry = {
    ...entry,
    content: imageRefs(entry.content, 'content', entry.id),
    ...(entry.tool?.output
      ? { tool: { ...entry.tool, output: imageRefs(entry.tool.output, 'output', entry.id) } }
      : {}),
  };
  const bytes = sizeOf(whole);
  if (bytes <= MAX_ENTRY_BYTES) return whole;

  const cut: Part[] = [];
  const { tool } = whole;
  const share = tool ? SHARES.toolContent : SHARES.content;
  const result: Entry = { ...whole };
  if (sizeOf(whole.content) > share) {
    cut.push('content');
    result.content = cutBlocks(whole.content, share);
  }
  if (tool) {
    const small = { ...tool };
    if (tool.output && sizeOf(tool.output) > SHARES.output) {
      cut.push('output');
      small.output = cutBlocks(tool.output, SHARES.output);
    }
    if (sizeOf(tool.input) > SHARES.input) {
      cut.push('input');
      small.input = cutInput(tool.input);
    }
    if (tool.diffs && sizeOf(tool.diffs) > SHARES.diffs) {
      cut.push('diffs');
      small.diffs = cutDiffs(tool.diffs);
    }
    if (tool.locations) small.locations = tool.locations.slice(0, MAX_LOCATIONS);
    result.tool = small;
  }
  const part = cut.length === 1 && cut[0] !== undefined ? cut[0] : 'entry';
  result.truncated = { bytes: utf8(textOfPart(entry, part)), ref: `${part}:${entry.id}` };
  return result;
}

function textOfBlocks(blocks: readonly ContentBlock[]): string {
  return blocks
    .map((block) => {
      if (block.type === 'text' || block.type === 'raw') return block.text;
      if (block.type === 'image') return `[image: ${block.mimeType}]`;
      return block.type === 'resource' && block.text !== undefined ? block.text : block.uri;
    })
    .join('\n');
}

/** The whole text behind a ref that is no image. */
export function textOfPart(entry: Entry, part: Part): string {
  switch (part) {
    case 'content':
      return textOfBlocks(entry.content);
    case 'output':
      return textOfBlocks(entry.tool?.output ?? []);
    case 'input':
      return JSON.stringify(entry.tool?.input ?? null, undefined, 2);
    case 'diffs':
      return JSON.stringify(entry.tool?.diffs ?? [], undefined, 2);
    case 'entry':
      return JSON.stringify(entry, (key, value: unknown) => (key === 'data' ? undefined : value), 2);
  }
}

/** Throws `invalid_params` for what is not a ref of ours. */
export function parseRef(ref: string): Ref {
  const [, part, place, index, entryId] = REF.exec(ref) ?? [];
  if (entryId !== undefined) {
    switch (part) {
      case 'content':
      case 'output':
      case 'input':
      case 'diffs':
      case 'entry':
        return { entryId, part };
    }
    if (place === 'content' || place === 'output')
      return { entryId, part: 'image', place, index: Number(index) };
  }
  throw new DomainError('invalid_params', 'ref is not one that was given out.', { field: 'ref' });
}

/** The asked slice of text or bytes; text begins and ends at borders of characters. */
export function slice(
  whole: Uint8Array,
  window: { readonly offset?: number | undefined; readonly limit?: number | undefined },
  as: { readonly encoding: 'utf8' } | { readonly encoding: 'base64'; readonly mimeType: string },
): EntryContentResult {
  const buffer = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength);
  const isText = as.encoding === 'utf8';
  const from = Math.min(window.offset ?? 0, buffer.length);
  const start = isText ? border(buffer, from) : from;
  let end = Math.min(start + (window.limit ?? SLICE_BYTES), buffer.length);
  if (isText) {
    const cut = border(buffer, end);
    // A limit below one character still moves on.
    end = cut > start ? cut : nextBorder(buffer, start);
  } else if (end < buffer.length && end - start >= 3) {
    // Slices of whole base64 groups can be joined as they are.
    end -= (end - start) % 3;
  }
  return {
    encoding: as.encoding,
    data: buffer.toString(as.encoding, start, end),
    bytes: buffer.length,
    ...(end < buffer.length ? { nextOffset: end } : {}),
    ...(as.encoding === 'base64' ? { mimeType: as.mimeType } : {}),
  };
}

function nextBorder(buffer: Uint8Array, from: number): number {
  let next = Math.min(from + 1, buffer.length);
  while (next < buffer.length && ((buffer[next] ?? 0) & 0xc0) === 0x80) next += 1;
  return next;
}
