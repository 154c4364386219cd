import * as z from 'zod';

/** A field of the wrong type counts as absent: one odd field must not cost a record. */
const text = z.string().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);
const anything = z.unknown().optional();
const number = z.number().optional().catch(undefined);

/** A block of a message; which fields it has depends on `type`. */
export const Block = z.object({
  type: z.string(),
  text,
  thinking: text,
  id: text,
  name: text,
  input: anything,
  tool_use_id: text,
  is_error: flag,
  content: anything,
  source: anything,
});
export type Block = z.infer<typeof Block>;

/** A message's content as it is in the file: some versions write a plain string. */
const Content = z
  .union([z.string(), z.array(z.union([Block, z.unknown().transform(() => undefined)]))])
  .optional()
  .catch(undefined);

const MessageUsage = z
  .object({
    input_tokens: number,
    output_tokens: number,
    cache_read_input_tokens: number,
    cache_creation_input_tokens: number,
  })
  .optional()
  .catch(undefined);
export type MessageUsage = z.infer<typeof MessageUsage>;

const Message = z
  .object({
    id: text,
    role: text,
    model: text,
    stop_reason: text.or(z.null()),
    content: Content,
    usage: MessageUsage,
  })
  .optional()
  .catch(undefined);

const Attachment = z
  .object({
    type: text,
    prompt: Content,
    commandMode: text,
    isMeta: flag,
    origin: z.object({ kind: text }).optional().catch(undefined),
  })
  .optional()
  .catch(undefined);

const CompactMetadata = z
  .object({
    trigger: text,
    preTokens: number,
    postTokens: number,
    preservedSegment: z.object({ tailUuid: text }).optional().catch(undefined),
  })
  .optional()
  .catch(undefined);

/** A line of a Claude Code transcript. Records of unknown types pass; what is not an object with a type does not. */
export const ClaudeRecord = z.object({
  type: z.string(),
  subtype: text,
  uuid: text,
  parentUuid: z.string().nullable().optional().catch(undefined),
  logicalParentUuid: text,
  sessionId: text,
  agentId: text,
  timestamp: anything,
  cwd: text,
  entrypoint: text,
  isSidechain: flag,
  isMeta: flag,
  isCompactSummary: flag,
  isApiErrorMessage: flag,
  level: text,
  requestId: text,
  message: Message,
  /** Of system records. */
  content: anything,
  error: anything,
  durationMs: number,
  compactMetadata: CompactMetadata,
  toolUseResult: anything,
  attachment: Attachment,
  forkedFrom: z.object({ sessionId: text, messageUuid: text }).optional().catch(undefined),
  summary: text,
  leafUuid: text,
  customTitle: text,
  aiTitle: text,
});
export type ClaudeRecord = z.infer<typeof ClaudeRecord>;

/** The blocks of a content, a plain string as one text block; what is no block is left out. */
export function blocksOf(
  content: string | readonly (Block | undefined)[] | undefined,
): (Block | undefined)[] {
  if (content === undefined) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return [...content];
}
