import * as z from 'zod';
import { ClientOptions } from './deck.js';

/** Grows when a change to the wire would confuse an older peer. */
export const PROTOCOL_VERSION = 1;

/** Written by the owner of a store into `<store>/service.json`, readable by the user only. */
export const Endpoint = z.object({
  protocol: z.number().int(),
  version: z.string(),
  pid: z.number().int(),
  /** Path of a Unix socket or name of a Windows pipe. */
  socket: z.string(),
  token: z.string(),
});
export type Endpoint = z.infer<typeof Endpoint>;

/**
 * The first line that a client sends on the service's socket, as JSON. After the answering line the connection
 * speaks its surface's own framing: LSP's headers for the editor, one JSON object a line for ACP.
 */
export const Hello = z.object({
  hello: z.literal('session-deck'),
  protocol: z.number().int(),
  version: z.string(),
  token: z.string(),
  /** `handover` asks an idle older service to end, so that the caller can start its own. */
  surface: z.enum(['editor', 'acp', 'handover']),
  client: ClientOptions,
});
export type Hello = z.infer<typeof Hello>;

export const HelloAnswer = z.union([
  z.object({ ok: z.literal(true), version: z.string(), pid: z.number().int() }),
  z.object({
    ok: z.literal(false),
    reason: z.enum(['unauthorized', 'protocol_mismatch', 'busy', 'invalid']),
    message: z.string(),
  }),
]);
export type HelloAnswer = z.infer<typeof HelloAnswer>;
