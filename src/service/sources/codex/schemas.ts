import * as z from 'zod';

/** A field of the wrong type counts as absent: one odd field must not cost a record. */
const text = z.string().optional().catch(undefined);
const anything = z.unknown().optional();
const number = z.number().optional().catch(undefined);

const TokenUsage = z
  .object({
    input_tokens: number,
    cached_input_tokens: number,
    output_tokens: number,
    reasoning_output_tokens: number,
    total_tokens: number,
  })
  .optional()
  .catch(undefined);
export type TokenUsage = z.infer<typeof TokenUsage>;

const Item = z
  .object({ type: text, text, content: anything, summary_text: anything, plan: anything })
  .optional()
  .catch(undefined);

/** What a line carries; which fields it has depends on its type. */
export const Payload = z.object({
  type: text,
  // session_meta, turn_context
  id: text,
  timestamp: anything,
  cwd: text,
  originator: text,
  source: anything,
  thread_source: text,
  forked_from_id: text,
  parent_thread_id: text,
  model: text,
  // response_item
  role: text,
  content: anything,
  name: text,
  arguments: anything,
  input: anything,
  call_id: text,
  output: anything,
  status: text,
  action: anything,
  summary: anything,
  result: anything,
  // event_msg and compacted
  message: text,
  text,
  images: anything,
  local_images: anything,
  kind: text,
  info: z.object({ total_token_usage: TokenUsage, last_token_usage: TokenUsage }).optional().catch(undefined),
  num_turns: number,
  reason: text,
  turn_id: text,
  success: z.boolean().optional().catch(undefined),
  changes: anything,
  thread_name: text,
  item: Item,
});
export type Payload = z.infer<typeof Payload>;

/** A line of a rollout. Before September 2025 lines had no envelope: they were items, the first one the meta data. */
export const RolloutLine = z.union([
  z.object({ timestamp: anything, type: z.string(), payload: Payload }),
  Payload.transform((payload) => ({
    timestamp: payload.timestamp,
    type:
      payload.type === undefined ? (payload.id === undefined ? 'state' : 'session_meta') : 'response_item',
    payload,
  })),
]);
export type RolloutLine = z.infer<typeof RolloutLine>;

/** The sub-agent that a session is, from the `source` of its meta data. */
export const SubagentSource = z.object({
  subagent: z.union([
    z.object({ thread_spawn: z.object({ parent_thread_id: z.string() }) }),
    z.unknown().transform(() => undefined),
  ]),
});
