import * as z from 'zod';
import { Usage } from '../../protocol/entry.js';
import { SourceKind } from '../../protocol/session.js';
import { EntryState } from './entry_state.js';

/** What the worker is told to do. */
export const ScanRequest = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('scan'),
    id: z.number(),
    kind: SourceKind,
    path: z.string(),
    from: z.number(),
    state: z.unknown().optional(),
  }),
  z.object({ do: z.literal('cancel'), id: z.number() }),
]);
export type ScanRequest = z.infer<typeof ScanRequest>;

const Turn = z.object({
  id: z.string(),
  prompt: z.string(),
  at: z.number(),
  endedAt: z.number().exactOptional(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  firstEntryId: z.string(),
  lastEntryId: z.string(),
  boundaryEntryId: z.string().exactOptional(),
  tools: z.number(),
  files: z.array(z.string()),
  usage: Usage.exactOptional(),
});
const Title = z.object({ text: z.string(), by: z.enum(['prompt', 'agent', 'user']) });
const Head = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  title: Title.exactOptional(),
  preview: z.string().exactOptional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  model: z.string().exactOptional(),
  kind: z.enum(['build', 'chat']),
  headless: z.boolean(),
  archived: z.boolean(),
  parent: z.object({ sessionId: z.string(), relation: z.enum(['fork', 'subagent']) }).exactOptional(),
  empty: z.boolean(),
  unreadable: z.string().exactOptional(),
});
const UsageOfMessage = z.object({
  messageId: z.string(),
  model: z.string().exactOptional(),
  at: z.number(),
  usage: Usage,
});
const Rest = z.object({
  mode: z.enum(['append', 'rewrite']),
  children: z.array(z.object({ head: Head, entries: z.array(EntryState), turns: z.array(Turn) })),
  offset: z.number(),
  state: z.unknown(),
  totals: z.object({
    messageCount: z.number(),
    skipped: z.number(),
    offBranch: z.number(),
    hasErrors: z.boolean(),
    usage: Usage.exactOptional(),
    model: z.string().exactOptional(),
    title: Title.exactOptional(),
    preview: z.string().exactOptional(),
    updatedAt: z.number(),
  }),
});

/** What the worker answers: what can be much in parts, so that taking it never holds up the service, then the rest. */
export const ScanReply = z.discriminatedUnion('is', [
  z.object({
    is: z.literal('part'),
    id: z.number(),
    entries: z.array(EntryState),
    turns: z.array(Turn),
    usage: z.array(UsageOfMessage),
  }),
  z.object({ is: z.literal('done'), id: z.number(), rest: Rest }),
  z.object({ is: z.literal('failed'), id: z.number(), name: z.string(), message: z.string() }),
]);
export type ScanReply = z.infer<typeof ScanReply>;

/** Entries, turns and records of usage in one part, of each. */
export const PART = 400;
