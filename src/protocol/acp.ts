import * as z from 'zod';
import { ConfigOption, SessionModes } from './controls.js';

/**
 * The parameters of the Agent Client Protocol's session methods as the service accepts them, on both surfaces.
 * Unknown fields are allowed, as the protocol asks. Source: ACP schema v1, npm `@agentclientprotocol/sdk` 2.4.
 */

const sessionId = z.string().min(1).max(512);
const meta = z.record(z.string(), z.unknown()).nullish();
/** Absolute paths; absent and empty are the same. */
const directories = z.array(z.string().min(1)).max(256).nullish();

export const AcpContentBlock = z.looseObject({ type: z.string() });
export type AcpContentBlock = z.infer<typeof AcpContentBlock>;

export const AcpListParams = z.object({
  cwd: z.string().nullish(),
  cursor: z.string().nullish(),
  archived: z.enum(['exclude', 'include', 'only']).nullish(),
  _meta: meta,
});
export type AcpListParams = z.infer<typeof AcpListParams>;

/** ACP `SessionInfo`. */
export const AcpSessionInfo = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  title: z.string().optional(),
  updatedAt: z.string().optional(),
  additionalDirectories: z.array(z.string()).optional(),
  archived: z.boolean().optional(),
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
  additionalDirectories: directories,
  /** `_meta.agent` picks one of the configured agents. */
  _meta: meta,
});
export type NewParams = z.infer<typeof NewParams>;
/** What a person can choose, as far as it is known: an agent that is not started has told nothing yet. */
export const ControlsResult = z.object({
  modes: SessionModes.optional(),
  configOptions: z.array(ConfigOption).optional(),
});
export type ControlsResult = z.infer<typeof ControlsResult>;
export const NewResult = ControlsResult.extend({ sessionId: z.string() });
export type NewResult = z.infer<typeof NewResult>;

export const LoadParams = z.object({
  sessionId,
  cwd: z.string().min(1),
  mcpServers: z.array(z.looseObject({})).default([]),
  additionalDirectories: directories,
  _meta: meta,
});
export type LoadParams = z.infer<typeof LoadParams>;

/** `session/fork`: a new session from the last completed turn. `_meta.agent` picks another agent for it. */
export const ForkHeadParams = LoadParams;
export type ForkHeadParams = z.infer<typeof ForkHeadParams>;

export const SetTitleParams = z.object({ sessionId, title: z.string(), _meta: meta });
export type SetTitleParams = z.infer<typeof SetTitleParams>;
export const SetTitleResult = z.object({ title: z.string() });

export const SetModeParams = z.object({ sessionId, modeId: z.string().min(1), _meta: meta });
export type SetModeParams = z.infer<typeof SetModeParams>;

export const SetConfigParams = z.union([
  z.object({
    sessionId,
    configId: z.string().min(1),
    type: z.literal('boolean'),
    value: z.boolean(),
    _meta: meta,
  }),
  z.object({ sessionId, configId: z.string().min(1), value: z.string(), _meta: meta }),
]);
export type SetConfigParams = z.infer<typeof SetConfigParams>;
export const SetConfigResult = z.object({ configOptions: z.array(ConfigOption) });

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
