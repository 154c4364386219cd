import { DomainError } from '../protocol/errors.js';

/**
 * The promise's value. When the signal aborts first it throws `cancelled`, and `late` gets the value when it comes
 * after all.
 */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  late: (value: T) => void = () => undefined,
): Promise<T> {
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(new DomainError('cancelled', 'The run was cancelled.'));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } catch (error) {
    promise.then(late, () => undefined);
    throw error;
  } finally {
    if (abort) signal.removeEventListener('abort', abort);
  }
}
