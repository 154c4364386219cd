import { DomainError } from '../../protocol/errors.js';
import { fingerprint } from './cursor.js';
import type { SessionData } from './data.js';

/** How long the answer to an operation is kept, in ms. */
export const OPERATION_MS = 24 * 60 * 60 * 1000;

/** Makes operations happen once: the same id with the same params gives the recorded answer, also after a restart. */
export class Operations {
  private readonly running = new Map<string, { readonly print: string; readonly answer: Promise<unknown> }>();

  constructor(private readonly data: SessionData) {}

  /**
   * Runs `work`, unless it was run before under this id. `work` stores its answer with `record`, in the transaction
   * that does what was asked. Throws `operation_conflict` when the id was used with other params.
   */
  async once<T>(
    method: string,
    operationId: string,
    params: unknown,
    parse: (recorded: unknown) => T,
    work: (record: (result: T) => void) => Promise<T>,
  ): Promise<T> {
    const print = fingerprint(params);
    const key = `${method} ${operationId}`;
    const now = Date.now();
    const check = (other: string) => {
      if (other !== print)
        throw new DomainError('operation_conflict', 'This operationId was used with other parameters.', {
          operationId,
        });
    };
    const known = this.data.operation(key);
    if (known && known.at > now - OPERATION_MS) {
      check(known.fingerprint);
      return parse(known.result);
    }
    const going = this.running.get(key);
    if (going) {
      check(going.print);
      return parse(await going.answer);
    }
    const answer = work((result) => {
      this.data.putOperation(key, { method, fingerprint: print, result, at: now });
    });
    this.running.set(key, { print, answer });
    try {
      return await answer;
    } finally {
      this.running.delete(key);
    }
  }

  /** Forgets what is older than it has to be kept. */
  purge(): void {
    this.data.removeOperations(Date.now() - OPERATION_MS);
  }
}
