import * as z from 'zod';

/** Every domain error of the service. A code never changes meaning; surfaces translate it to their own numbers. */
export const errorCodes = [
  'session_unavailable',
  'invalid_params',
  'cursor_invalid',
  'cursor_stale',
  'boundary_invalid',
  'boundary_incomplete',
  'cut_stale',
  'workspace_mismatch',
  'target_exists',
  'operation_conflict',
  'turn_in_progress',
  'no_active_run',
  'generation_stale',
  'task_unavailable',
  'already_resolved',
  'agent_unavailable',
  'agent_failed',
  'not_supported',
  'store_read_only',
  'store_full',
  'store_corrupt',
  'unauthorized',
  'forbidden',
  'cancelled',
] as const;

export const ErrorCode = z.enum(errorCodes);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** The `data` of an error on the wire. Further fields depend on the code (`cut`, `field`, `part`, …). */
export const ErrorData = z.looseObject({ code: ErrorCode, message: z.string().optional() });
export type ErrorData = z.infer<typeof ErrorData>;

/** An error that a client may see. `details` ends up in the wire's `data` beside the code. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

/** Unknown, deleted and out of scope are one and the same answer, byte for byte, so no id is echoed. */
export function sessionUnavailable(): DomainError {
  return new DomainError('session_unavailable', 'This session is not available.');
}

/** JSON-RPC error numbers, outside of the ranges that JSON-RPC and LSP reserve where they are our own. */
const numbers: Record<ErrorCode, { editor: number; acp: number }> = {
  session_unavailable: { editor: 1404, acp: -32002 },
  invalid_params: { editor: -32602, acp: -32602 },
  cursor_invalid: { editor: -32602, acp: -32602 },
  cursor_stale: { editor: -32602, acp: -32602 },
  boundary_invalid: { editor: -32602, acp: -32602 },
  boundary_incomplete: { editor: 1409, acp: 1409 },
  cut_stale: { editor: 1409, acp: 1409 },
  workspace_mismatch: { editor: 1409, acp: 1409 },
  target_exists: { editor: 1409, acp: 1409 },
  operation_conflict: { editor: 1409, acp: 1409 },
  turn_in_progress: { editor: 1409, acp: 1409 },
  no_active_run: { editor: 1409, acp: 1409 },
  generation_stale: { editor: 1409, acp: 1409 },
  task_unavailable: { editor: -32602, acp: -32602 },
  already_resolved: { editor: 1410, acp: 1410 },
  agent_unavailable: { editor: 1503, acp: 1503 },
  agent_failed: { editor: 1502, acp: 1502 },
  not_supported: { editor: -32601, acp: -32601 },
  store_read_only: { editor: 1507, acp: 1507 },
  store_full: { editor: 1507, acp: 1507 },
  store_corrupt: { editor: 1507, acp: 1507 },
  unauthorized: { editor: -32000, acp: -32000 },
  forbidden: { editor: 1403, acp: 1403 },
  cancelled: { editor: -32800, acp: -32800 },
};

/** The JSON-RPC number of a code on a surface. */
export function errorNumber(code: ErrorCode, surface: 'editor' | 'acp'): number {
  return numbers[code][surface];
}

/** The wire's `data` of a domain error. */
export function errorData(error: DomainError): ErrorData {
  return { ...error.details, code: error.code, message: error.message };
}
