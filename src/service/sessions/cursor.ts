import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { DomainError } from '../../protocol/errors.js';

/** The place of a row in the list: keyset of `updatedAt` (ms) and id, both descending. */
export const ListCursor = z.tuple([z.literal('l'), z.string(), z.number(), z.string()]);
/** A place in a transcript: session hash, generation, ordinal, direction. */
export const PageCursor = z.tuple([
  z.literal('p'),
  z.string(),
  z.number().int(),
  z.number().int(),
  z.enum(['older', 'newer']),
]);

const SEAL_BYTES = 12;

export const cursorInvalid = () => new DomainError('cursor_invalid', 'This cursor is not valid here.');
export const cursorStale = () =>
  new DomainError('cursor_stale', 'The history was rewritten since this cursor was given.');

/** A short fingerprint of what a cursor belongs to. */
export function fingerprint(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);
}

/** Makes and opens cursors. They are opaque: sealed with a secret of the store, so a changed character is noticed. */
export class Cursors {
  constructor(private readonly secret: Uint8Array) {}

  seal(value: z.infer<typeof ListCursor> | z.infer<typeof PageCursor>): string {
    const body = Buffer.from(JSON.stringify(value));
    return Buffer.concat([this.mac(body), body]).toString('base64url');
  }

  /** Throws `cursor_invalid` for whatever was not made here for this purpose. */
  open<T>(cursor: string, schema: z.ZodType<T>): T {
    const bytes = Buffer.from(cursor, 'base64url');
    // Decoding forgives stray characters and unused bits; a cursor is only what we gave, to the letter.
    if (bytes.length <= SEAL_BYTES || bytes.toString('base64url') !== cursor) throw cursorInvalid();
    const body = bytes.subarray(SEAL_BYTES);
    if (!timingSafeEqual(bytes.subarray(0, SEAL_BYTES), this.mac(body))) throw cursorInvalid();
    const parsed = schema.safeParse(JSON.parse(body.toString()));
    if (!parsed.success) throw cursorInvalid();
    return parsed.data;
  }

  private mac(body: Uint8Array): Buffer {
    return createHmac('sha256', this.secret).update(body).digest().subarray(0, SEAL_BYTES);
  }
}
