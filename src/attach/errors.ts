export type AttachFailure =
  /** The service could not be started, or ended before it answered. */
  | 'start_failed'
  /** A service is there and does not answer, or not as it should. */
  | 'no_answer'
  /** A service of another wire version is running and busy. */
  | 'protocol_mismatch'
  /** The token of the store's endpoint file was refused. */
  | 'unauthorized';

/** Why no service could be reached; the message is one or two sentences for the person. */
export class AttachError extends Error {
  override readonly name = 'AttachError';
  constructor(
    readonly failure: AttachFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The `code` of a system error such as ENOENT. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
