import * as z from 'zod';
import { ContentBlock, ToolCall } from './content.js';

/** What a client knew of a transcript when it asked: see the words "generation" and "revision". */
export const Cut = z.object({ generation: z.number().int(), revision: z.number().int() });
export type Cut = z.infer<typeof Cut>;

export const EntryKind = z.enum([
  'user',
  'assistant',
  'thought',
  'tool',
  'plan',
  'compaction',
  'notice',
  'permission',
  'question',
  /** A record that could not be parsed, shown as it is. */
  'raw',
]);
export type EntryKind = z.infer<typeof EntryKind>;

export const PlanItem = z.object({
  content: z.string(),
  priority: z.enum(['high', 'medium', 'low']).optional(),
  status: z.enum(['pending', 'in_progress', 'completed']),
});
export type PlanItem = z.infer<typeof PlanItem>;

/** Tokens of one response or of a sum of responses. What a source does not tell is absent, never zero. */
export const Usage = z.object({
  input: z.number().optional(),
  output: z.number().optional(),
  cacheRead: z.number().optional(),
  cacheWrite: z.number().optional(),
  reasoning: z.number().optional(),
});
export type Usage = z.infer<typeof Usage>;

/** One item of the transcript. `id` never changes; `ordinal` counts from 0 without gaps inside a generation. */
export const Entry = z.object({
  id: z.string(),
  ordinal: z.number().int(),
  turnId: z.string(),
  /** 1-based number of the turn. */
  turn: z.number().int(),
  kind: EntryKind,
  /** ISO 8601. */
  at: z.string(),
  /** A streaming entry is `in_progress`; a failed one `failed`. */
  status: z.enum(['in_progress', 'completed', 'failed', 'cancelled']).optional(),
  content: z.array(ContentBlock),
  tool: ToolCall.optional(),
  plan: z.array(PlanItem).optional(),
  /** kind `permission` and `question`: what was asked and answered. */
  ask: z
    .object({
      options: z.array(z.object({ id: z.string(), name: z.string(), kind: z.string().optional() })),
      /** Id of the option; of a form or an address `accept`, `decline` or `cancel`. */
      answer: z.string().optional(),
      /** Of a form. `value` is what was answered, as text; a secret one is never kept. */
      fields: z
        .array(z.object({ name: z.string(), title: z.string().optional(), value: z.string().optional() }))
        .optional(),
      /** The address to visit, without its query. */
      url: z.string().optional(),
    })
    .optional(),
  /** kind `compaction`. */
  compaction: z
    .object({
      tokensBefore: z.number().optional(),
      tokensAfter: z.number().optional(),
      trigger: z.enum(['user', 'auto']).optional(),
      error: z.string().optional(),
    })
    .optional(),
  /** kind `user`: this text was added to a run (an interjection). */
  interjection: z.boolean().optional(),
  severity: z.enum(['info', 'warning', 'error']).optional(),
  model: z.string().optional(),
  /** The last entry of a completed turn: the only place where a fork may cut. */
  boundary: z.boolean(),
  /** On a boundary: the sums of its turn. */
  turnUsage: Usage.optional(),
  turnDurationMs: z.number().optional(),
  /** The entry was replayed by an agent on load and not seen live. */
  replay: z.boolean(),
  /** Content over 64 KB arrives cut: `deck/entry/content` reads the rest by `ref`. `bytes` is the whole size. */
  truncated: z.object({ bytes: z.number(), ref: z.string() }).optional(),
});
export type Entry = z.infer<typeof Entry>;

/** Content of an entry above this many bytes is cut on the wire. */
export const MAX_ENTRY_BYTES = 64 * 1024;

export const Turn = z.object({
  turnId: z.string(),
  /** 1-based. */
  number: z.number().int(),
  /** One line. */
  prompt: z.string(),
  at: z.string(),
  endedAt: z.string().optional(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  firstOrdinal: z.number().int(),
  lastOrdinal: z.number().int(),
  /** Absent while the turn runs. */
  boundaryEntryId: z.string().optional(),
  tools: z.number().int(),
  files: z.array(z.string()),
  usage: Usage.optional(),
});
export type Turn = z.infer<typeof Turn>;
