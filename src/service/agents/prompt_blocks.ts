import * as z from 'zod';
import type { PromptCapabilities } from '../../protocol/controls.js';

const Media = z.looseObject({
  type: z.enum(['image', 'audio']),
  data: z.string(),
  mimeType: z.string().catch('unknown'),
  uri: z.string().nullish().catch(undefined),
});
const Embedded = z.looseObject({
  type: z.literal('resource'),
  resource: z.looseObject({
    uri: z.string(),
    mimeType: z.string().nullish().catch(undefined),
    text: z.string().optional(),
    blob: z.string().optional(),
  }),
});

/** Longest text of a resource that is put into the prompt itself, in characters; a longer one is linked. */
const MAX_TEXT = 256 * 1024;

/**
 * A prompt's blocks in a form that the agent takes: what it did not announce becomes a link, or words. Nothing is left
 * out. Text and links are taken by every agent; what is unknown goes out as it came, for the agent to refuse.
 */
export function fitBlocks(blocks: readonly unknown[], takes: PromptCapabilities): unknown[] {
  return blocks.map((block) => {
    const media = Media.safeParse(block);
    if (media.success) return takes[media.data.type] ? block : insteadOfMedia(media.data);
    const embedded = Embedded.safeParse(block);
    if (embedded.success && !takes.embeddedContext) return insteadOfResource(embedded.data.resource, takes);
    return block;
  });
}

function insteadOfMedia({ type, data, mimeType, uri }: z.output<typeof Media>): unknown {
  if (uri && isReadable(uri)) return link(uri, mimeType);
  const named = uri ? ` "${nameOf(uri)}"` : '';
  return text(
    `[Here the person attached an ${type === 'image' ? 'image' : 'audio recording'}${named} (${mimeType}, ${size(data)}). It was left out, because you take none: say so if it matters.]`,
  );
}

function insteadOfResource(
  { uri, mimeType, text: content, blob }: z.output<typeof Embedded>['resource'],
  takes: PromptCapabilities,
): unknown {
  const kind = mimeType ?? undefined;
  if (content !== undefined && (content.length <= MAX_TEXT || !isReadable(uri)))
    return text(`<attachment uri=${JSON.stringify(uri)}>\n${content}\n</attachment>`);
  if (blob !== undefined && kind?.startsWith('image/') && takes.image)
    return { type: 'image', data: blob, mimeType: kind, uri };
  if (isReadable(uri)) return link(uri, kind);
  return text(
    `[Here the person attached "${nameOf(uri)}" (${kind ?? 'unknown'}, ${size(blob ?? '')}). It was left out, because you take no embedded files: say so if it matters.]`,
  );
}

const text = (content: string) => ({ type: 'text', text: content });

function link(uri: string, mimeType: string | undefined): unknown {
  return { type: 'resource_link', uri, name: nameOf(uri), ...(mimeType ? { mimeType } : {}) };
}

/** Whether an agent can get at it by its address. */
function isReadable(uri: string): boolean {
  return /^(file|https?):\/\//.test(uri);
}

function nameOf(uri: string): string {
  const last = uri.split(/[/\\]/).findLast((part) => part !== '') ?? uri;
  try {
    return decodeURIComponent(last);
  } catch {
    // Not encoded after all.
    return last;
  }
}

/** Of base64. */
function size(data: string): string {
  const bytes = Math.floor((data.length * 3) / 4);
  return bytes < 1024 ? `${String(bytes)} bytes` : `${String(Math.round(bytes / 1024))} KB`;
}
