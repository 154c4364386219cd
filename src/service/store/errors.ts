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
      `The store was written by a newer version of Session Deck (schema ${found}, this version knows ${known}). It can be read but not changed; update Session Deck.`,
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

const hostCodes: readonly (readonly [RegExp, StoreErrorCode])[] = [
  [/^(ENOSPC|EDQUOT)$/, 'store_full'],
  [/^(EROFS|EACCES|EPERM)$/, 'store_read_only'],
];
const vague = /disk I\/O error|unable to open database file|out of memory/i;

/**
 * What an error of SQLite means to a user; errors of our own SQL stay what they are. `failure` is what the disk
 * answered meanwhile: SQLite has one error for many of them.
 */
export function translate(error: unknown, failure?: Error): unknown {
  if (error instanceof StoreError) return error;
  const text = error instanceof Error ? error.message : String(error);
  for (const [pattern, code, message] of causes)
    if (pattern.test(text)) return new StoreError(code, message, { cause: failure ?? error });
  if (!failure || !vague.test(text)) return error;
  return refused(failure) ?? new Error(`The disk failed: ${failure.message}`, { cause: error });
}

/** What the disk's answer to a call of our own means to a user; undefined when it is neither full nor closed to us. */
export function refused(error: unknown): StoreError | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined;
  const code = hostCodes.find(([pattern]) => pattern.test(String(error.code)))?.[1];
  const message = causes.find((cause) => cause[1] === code)?.[2];
  return code && message !== undefined ? new StoreError(code, message, { cause: error }) : undefined;
}
