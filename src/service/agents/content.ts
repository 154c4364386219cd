import * as z from 'zod';
import type { ContentBlock } from '../../protocol/content.js';

const Text = z.object({ type: z.literal('text'), text: z.string() });
const Image = z.object({ type: z.literal('image'), mimeType: z.string(), data: z.string() });
const Link = z.object({
  type: z.literal('resource_link'),
  uri: z.string(),
  name: z.string().nullish(),
  mimeType: z.string().nullish(),
});
const Resource = z.object({
  type: z.literal('resource'),
  resource: z.object({ uri: z.string(), text: z.string(), mimeType: z.string().nullish() }),
});
const AgentBlock = z.discriminatedUnion('type', [Text, Image, Link, Resource]);

/** Longest raw text that is kept of a block that is not understood. */
const MAX_RAW_CHARACTERS = 64 * 1024;

/** Turns a content block of the Agent Client Protocol into ours. What is not understood is kept as raw. */
export function toContentBlock(block: unknown): ContentBlock {
  const parsed = AgentBlock.safeParse(block);
  if (!parsed.success) return rawBlock(block, 'unknown content');
  switch (parsed.data.type) {
    case 'text':
    case 'image':
      return parsed.data;
    case 'resource_link': {
      const { uri, name, mimeType } = parsed.data;
      return { type: 'resource_link', uri, ...(name ? { name } : {}), ...(mimeType ? { mimeType } : {}) };
    }
    case 'resource': {
      const { uri, text, mimeType } = parsed.data.resource;
      return { type: 'resource', uri, text, ...(mimeType ? { mimeType } : {}) };
    }
  }
}

/** Any value as a raw block: JSON, cut where it is very long. */
export function rawBlock(value: unknown, reason: string): ContentBlock {
  // Undefined has no JSON, whatever the declaration says.
  const text = typeof value === 'string' ? value : value === undefined ? 'undefined' : JSON.stringify(value);
  return { type: 'raw', text: text.slice(0, MAX_RAW_CHARACTERS), reason };
}

/** The text of blocks, one after the other, without images and links. */
export function textOf(blocks: readonly ContentBlock[]): string {
  return blocks.map((block) => ('text' in block ? (block.text ?? '') : '')).join('');
}
