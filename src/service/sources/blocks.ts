import type { ContentBlock } from '../../protocol/content.js';
import { numberOf, objectOf, stringOf } from './text.js';

/** Content blocks of a message or a tool's result, as the providers' interfaces write them. */
export function contentBlocks(content: unknown): ContentBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return content === undefined || content === null ? [] : [rawBlock(content)];
  return content.flatMap((part: unknown) => contentBlock(part));
}

function contentBlock(part: unknown): ContentBlock[] {
  if (typeof part === 'string') return [{ type: 'text', text: part }];
  const block = objectOf(part);
  const type = stringOf(block?.['type']);
  if (!block || type === undefined) return [rawBlock(part)];
  switch (type) {
    case 'text':
    case 'Text':
    case 'input_text':
    case 'output_text':
    case 'summary_text':
    case 'reasoning_text': {
      const text = stringOf(block['text']);
      return text ? [{ type: 'text', text }] : [];
    }
    case 'document':
      return [rawBlock({ ...block, source: undefined }, 'A document is attached here.')];
    case 'image':
    case 'input_image':
      return [imageBlock(block) ?? rawBlock(part)];
    case 'tool_reference':
      return [{ type: 'text', text: stringOf(block['tool_name']) ?? '' }];
    case 'encrypted_content':
      return [];
    default:
      return [rawBlock(part)];
  }
}

/** An image from base64 data, a data URL or a link. */
function imageBlock(block: Readonly<Record<string, unknown>>): ContentBlock | undefined {
  const source = objectOf(block['source']) ?? block;
  const data = stringOf(source['data']);
  const mimeType = stringOf(source['media_type']) ?? stringOf(source['mimeType']);
  if (data !== undefined) return image(mimeType ?? 'image/png', data);
  const url = stringOf(source['url']) ?? stringOf(source['image_url']);
  return url === undefined ? undefined : imageOfUrl(url);
}

function image(mimeType: string, data: string): ContentBlock {
  return { type: 'image', mimeType, data, bytes: Math.floor((data.length * 3) / 4) };
}

/** An image of a data URL, or a link to what another URL names. */
export function imageOfUrl(url: string): ContentBlock {
  const match = /^data:([^;,]+);base64,/.exec(url.slice(0, 200));
  if (match?.[1] !== undefined) return image(match[1], url.slice(match[0].length));
  return { type: 'resource_link', uri: url };
}

/** Something unknown, as JSON. */
export function rawBlock(
  value: unknown,
  reason = 'This version does not know this kind of content.',
): ContentBlock {
  const text = value === undefined ? '' : JSON.stringify(value, null, 2);
  return { type: 'raw', text, reason };
}

/** The items of a plan in either tool's words. */
export function planItems(value: unknown, textKey: string): { content: string; status: PlanStatus }[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    const object = objectOf(item);
    const content = stringOf(object?.[textKey]);
    if (content === undefined) return [];
    const status = stringOf(object?.['status']);
    return [{ content, status: status === 'completed' || status === 'in_progress' ? status : 'pending' }];
  });
}
type PlanStatus = 'pending' | 'in_progress' | 'completed';

/** An exit code from a number or a text that begins with one. */
export function exitCodeIn(text: string): number | undefined {
  const match = /^(?:Error: )?Exit code:? (-?\d+)/.exec(text);
  return match?.[1] === undefined ? undefined : numberOf(Number(match[1]));
}
