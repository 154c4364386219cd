import { DomainError, errorData, errorNumber } from '../../protocol/errors.js';
import type { Log } from '../log.js';

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export const METHOD_NOT_FOUND = -32601;
export const SERVER_NOT_INITIALIZED = -32002;
const INTERNAL_ERROR = -32603;

/** What a peer hears of an error. One that is no domain error is a bug: its text goes to the log only. */
export function wireError(error: unknown, method: string, surface: 'editor' | 'acp', log: Log): WireError {
  if (error instanceof DomainError) {
    return {
      code: errorNumber(error.code, surface),
      message: error.message,
      data: errorData(error),
    };
  }
  log.error(`${method} failed`, error);
  return { code: INTERNAL_ERROR, message: 'The session service failed; its log says why.' };
}

/** The same words whatever the method, so that nothing can be learned from them. */
export function methodNotFound(method: string): WireError {
  return { code: METHOD_NOT_FOUND, message: `Method not found: ${method}`, data: { method } };
}
