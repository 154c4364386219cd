import type { ContentBlock } from '../../protocol/content.js';
import type { Entry } from '../../protocol/entry.js';

/** The `update` of a `session/update`. */
export type SessionUpdate = Record<string, unknown>;

/** What an ACP client announced beyond the baseline. */
export interface AcpClientFeatures {
  readonly compaction: boolean;
  readonly notices: boolean;
  /** `configOptions` that are on or off. */
  readonly booleanOptions: boolean;
}

/** Reads the bytes of an image as base64; undefined when they cannot be had. */
export type ReadImage = (ref: string) => Promise<string | undefined>;

const text = (value: string): SessionUpdate => ({ type: 'text', text: value });

async function contentBlock(block: ContentBlock, readImage: ReadImage): Promise<SessionUpdate> {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'raw':
      return text(block.text);
    case 'image': {
      const data = block.data ?? (block.ref === undefined ? undefined : await readImage(block.ref));
      return data === undefined
        ? text(`[image: ${block.mimeType}]`)
        : { type: 'image', mimeType: block.mimeType, data };
    }
    case 'resource':
      if (block.text !== undefined) {
        const { uri, mimeType } = block;
        return { type: 'resource', resource: { uri, text: block.text, ...(mimeType && { mimeType }) } };
      }
      return {
        type: 'resource_link',
        uri: block.uri,
        name: block.uri,
        ...(block.mimeType && { mimeType: block.mimeType }),
      };
    case 'resource_link':
      return {
        type: 'resource_link',
        uri: block.uri,
        name: block.name ?? block.uri,
        ...(block.mimeType && { mimeType: block.mimeType }),
      };
  }
}

async function contentBlocks(entry: Entry, readImage: ReadImage): Promise<SessionUpdate[]> {
  return Promise.all(entry.content.map((block) => contentBlock(block, readImage)));
}

async function chunks(kind: string, entry: Entry, readImage: ReadImage): Promise<SessionUpdate[]> {
  const blocks = await contentBlocks(entry, readImage);
  // A message that is growing goes on in live chunks, which do not have this id.
  const messageId = entry.status === 'in_progress' ? {} : { messageId: entry.id };
  return blocks.map((content) => ({ sessionUpdate: kind, ...messageId, content }));
}

async function toolCall(entry: Entry, readImage: ReadImage): Promise<SessionUpdate[]> {
  const { tool } = entry;
  if (!tool) return chunks('agent_message_chunk', entry, readImage);
  const blocks = [
    ...(await contentBlocks(entry, readImage)),
    ...(await Promise.all((tool.output ?? []).map((block) => contentBlock(block, readImage)))),
  ];
  const diffs = (tool.diffs ?? []).map(({ path, oldText, newText }) => ({
    type: 'diff',
    path,
    ...(oldText !== null && { oldText }),
    newText,
  }));
  return [
    {
      sessionUpdate: 'tool_call',
      toolCallId: tool.callId,
      title: tool.title,
      name: tool.name,
      kind: tool.kind,
      status: tool.status,
      content: [...diffs, ...blocks.map((content) => ({ type: 'content', content }))],
      ...(tool.locations && { locations: tool.locations }),
      ...(tool.input !== undefined && { rawInput: tool.input }),
    },
  ];
}

async function compaction(
  entry: Entry,
  features: AcpClientFeatures,
  readImage: ReadImage,
): Promise<SessionUpdate[]> {
  // One update each, when it has ended: the live one.
  if (entry.status === 'in_progress') return [];
  const error = entry.compaction?.error;
  if (features.compaction) {
    return [
      {
        sessionUpdate: 'compaction_update',
        compactionId: entry.id,
        status: error === undefined && entry.status !== 'failed' ? (entry.status ?? 'completed') : 'failed',
        summary: await contentBlocks(entry, readImage),
        ...(error !== undefined && { error }),
      },
    ];
  }
  const mark = error === undefined ? '[The context was compacted]' : `[Compaction failed: ${error}]`;
  return [
    { sessionUpdate: 'agent_message_chunk', messageId: entry.id, content: text(`${mark}\n\n`) },
    ...(await chunks('agent_message_chunk', entry, readImage)),
  ];
}

/**
 * What a client is told of an entry on `session/load`. Notices and answered permissions are not replayed: the
 * protocol has no place for them outside of a live turn.
 */
export async function entryUpdates(
  entry: Entry,
  features: AcpClientFeatures,
  readImage: ReadImage,
): Promise<SessionUpdate[]> {
  switch (entry.kind) {
    case 'user':
      return chunks('user_message_chunk', entry, readImage);
    case 'thought':
      return chunks('agent_thought_chunk', entry, readImage);
    case 'assistant':
    case 'question':
    case 'raw':
      return chunks('agent_message_chunk', entry, readImage);
    case 'tool':
      return toolCall(entry, readImage);
    case 'plan':
      return [
        {
          sessionUpdate: 'plan',
          entries: (entry.plan ?? []).map(({ content, priority = 'medium', status }) => ({
            content,
            priority,
            status,
          })),
        },
      ];
    case 'compaction':
      return compaction(entry, features, readImage);
    case 'notice':
    case 'permission':
      return [];
  }
}
