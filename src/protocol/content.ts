import * as z from 'zod';

/**
 * A block of content, as the Agent Client Protocol names it. Images arrive as `ref`s once they are stored.
 * What is unknown is kept as `raw`, never dropped.
 */
export const ContentBlock = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image'),
    mimeType: z.string(),
    /** base64; absent when `ref` says where the bytes are */
    data: z.string().optional(),
    ref: z.string().optional(),
    bytes: z.number().optional(),
  }),
  z.object({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string().optional(),
    mimeType: z.string().optional(),
  }),
  z.object({
    type: z.literal('resource'),
    uri: z.string(),
    text: z.string().optional(),
    mimeType: z.string().optional(),
  }),
  /** Something this version does not know: shown raw. `reason` says why. */
  z.object({ type: z.literal('raw'), text: z.string(), reason: z.string().optional() }),
]);
export type ContentBlock = z.infer<typeof ContentBlock>;

export const ToolKind = z.enum([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
]);
export type ToolKind = z.infer<typeof ToolKind>;

export const ToolStatus = z.enum(['pending', 'in_progress', 'completed', 'failed']);
export type ToolStatus = z.infer<typeof ToolStatus>;

/** A change of one file by a tool call. `oldText` is null for a new file. */
export const FileDiff = z.object({ path: z.string(), oldText: z.string().nullable(), newText: z.string() });
export type FileDiff = z.infer<typeof FileDiff>;

export const ToolCall = z.object({
  callId: z.string(),
  name: z.string(),
  /** One line a person can read: the command, the path, the query. */
  title: z.string(),
  kind: ToolKind,
  status: ToolStatus,
  /** The arguments as the agent gave them. */
  input: z.unknown().optional(),
  /** The result, as text and other content. Absent while the call runs. */
  output: z.array(ContentBlock).optional(),
  exitCode: z.number().int().optional(),
  durationMs: z.number().optional(),
  locations: z.array(z.object({ path: z.string(), line: z.number().int().optional() })).optional(),
  diffs: z.array(FileDiff).optional(),
  /** The terminal that runs the call's command for the agent. */
  terminalId: z.string().optional(),
  /** The background task that the call is, or was; it can be stopped while it runs. */
  taskId: z.string().optional(),
  /** The session of a sub-agent that this call started, when it is known. */
  childSessionId: z.string().optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;
