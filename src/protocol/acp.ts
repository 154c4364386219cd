import * as z from 'zod';

/**
 * The parameters of the Agent Client Protocol's session methods as the service accepts them, on both surfaces.
 * Unknown fields are allowed, as the protocol asks. Source: ACP schema v1, npm `@agentclientprotocol/sdk` 2.4.
 */

const sessionId = z.string().min(1).max(512);
const meta = z.record(z.string(), z.unknown()).nullish();

export const AcpContentBlock = z.looseObject({ type: z.string() });
export type AcpContentBlock = z.infer<typeof AcpContentBlock>;

export const AcpListParams = z.object({
  cwd: z.string().nullish(),
  cursor: z.string().nullish(),
  _meta: meta,
});
export type AcpListParams = z.infer<typeof AcpListParams>;

/** ACP `SessionInfo`. */
export const AcpSessionInfo = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  title: z.string().optional(),
  updatedAt: z.string().optional(),
  _meta: meta,
});
export const AcpListResult = z.object({
  sessions: z.array(AcpSessionInfo),
  nextCursor: z.string().optional(),
});
export type AcpListResult = z.infer<typeof AcpListResult>;

export const NewParams = z.object({
  cwd: z.string().min(1),
  mcpServers: z.array(z.looseObject({})).default([]),
  /** `_meta.agent` picks one of the configured agents. */
  _meta: meta,
});
export type NewParams = z.infer<typeof NewParams>;
export const NewResult = z.object({ sessionId: z.string() });

export const LoadParams = z.object({
  sessionId,
  cwd: z.string().min(1),
  mcpServers: z.array(z.looseObject({})).default([]),
  _meta: meta,
});
export type LoadParams = z.infer<typeof LoadParams>;

export const PromptParams = z.object({ sessionId, prompt: z.array(AcpContentBlock).min(1), _meta: meta });
export type PromptParams = z.infer<typeof PromptParams>;
export const StopReason = z.enum(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']);
export type StopReason = z.infer<typeof StopReason>;
export const PromptResult = z.object({ stopReason: StopReason, _meta: meta });

export const SessionIdParams = z.object({ sessionId, _meta: meta });
export type SessionIdParams = z.infer<typeof SessionIdParams>;

export const PermissionOption = z.object({
  optionId: z.string(),
  name: z.string(),
  kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
});
export type PermissionOption = z.infer<typeof PermissionOption>;
/** Service -> client. */
export const PermissionParams = z.object({
  sessionId,
  toolCall: z.looseObject({ toolCallId: z.string(), title: z.string().nullish() }),
  options: z.array(PermissionOption),
  _meta: meta,
});
export type PermissionParams = z.infer<typeof PermissionParams>;
export const PermissionResult = z.object({
  outcome: z.union([
    z.object({ outcome: z.literal('selected'), optionId: z.string() }),
    z.object({ outcome: z.literal('cancelled') }),
  ]),
});
export type PermissionResult = z.infer<typeof PermissionResult>;
