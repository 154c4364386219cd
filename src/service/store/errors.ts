import { DomainError } from '../../protocol/errors.js';

/** The codes of a store that cannot do what was asked. */
export type StoreErrorCode = 'store_full' | 'store_read_only' | 'store_corrupt';

/** An error of the store; its message says what the user can do. */
export class StoreError extends DomainError {
  constructor(code: StoreErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(code, message);
    this.cause = options.cause;
  }
}

/** The store was written by a newer version; it is opened for reading at most. */
export class StoreNewerError extends Error {
  override readonly name = 'StoreNewerError';
  constructor(
    readonly found: number,
    readonly known: number,
  ) {
    super(
      `The store was written by a newer version of Session Deck (schema ${found}, this version knows ${known}).`,
    );
  }
}

const causes: readonly (readonly [RegExp, StoreErrorCode, string])[] = [
  [
    /disk is full|SQLITE_FULL/i,
    'store_full',
    'The disk is full. Free some space; nothing that was saved is lost.',
  ],
  [
    /readonly database|read-only|SQLITE_READONLY/i,
    'store_read_only',
    'The store can only be read: its disk or folder does not allow writing.',
  ],
  [
    /malformed|not a database|SQLITE_CORRUPT|SQLITE_NOTADB/i,
    'store_corrupt',
    'The store is damaged. Restart the service: it restores the newest good backup and keeps the damaged file.',
  ],
];

/** What an error of SQLite means to a user; errors of our own SQL stay what they are. */
export function translate(error: unknown): unknown {
  const text = error instanceof Error ? error.message : String(error);
  for (const [pattern, code, message] of causes)
    if (pattern.test(text)) return new StoreError(code, message, { cause: error });
  return error;
}
