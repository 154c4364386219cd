import * as vscode from 'vscode';
import { ErrorData, type ErrorCode } from '../protocol/errors.js';

/** An error that the service answered; its message is for the person. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  constructor(
    message: string,
    readonly code?: ErrorCode,
    readonly data?: ErrorData,
  ) {
    super(message);
  }
}

const CANCELLED = -32800;
const SERVER_CANCELLED = -32802;
/** The connection ended while the request was under way, or before it. Numbers of vscode-jsonrpc. */
const LOST = new Set([-32097, -32096, -32099]);

const field = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;

/** What a failed request means: a cancellation, an answer of the service, or a lost connection. */
export function toServiceError(error: unknown): Error {
  if (error instanceof ServiceError || error instanceof vscode.CancellationError) return error;
  const number = field(error, 'code');
  if (number === CANCELLED || number === SERVER_CANCELLED) return new vscode.CancellationError();
  const data = ErrorData.safeParse(field(error, 'data'));
  if (data.success) return new ServiceError(data.data.message ?? messageOf(error), data.data.code, data.data);
  if (typeof number === 'number' && LOST.has(number))
    return new ServiceError(
      vscode.l10n.t('The connection to the session service was lost. Please try again.'),
    );
  return error instanceof Error ? error : new Error(messageOf(error));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
