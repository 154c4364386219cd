import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import * as z from 'zod';
import { FileShrunkError, readAt, readLines, type Line } from './jsonl.js';
import type { Scan } from './source.js';

/** Reads the lines of one transcript in order. */
export interface Indexer {
  /** Takes a line. False: what it says cannot be told by going on, the whole file must be read again. */
  take(line: Line): boolean;
  /** What came out, and the state to go on from as JSON. */
  outcome(mtimeMs: number, nowMs: number): Omit<Scan, 'mode' | 'offset'>;
}

const PRINT_BYTES = 256;

/** Our part of the state: tells whether the bytes that were read are still there. */
const State = z.object({ print: z.string(), inner: z.unknown() });

/** Ends a read that cannot go on linearly. */
class NotLinear extends Error {}

/**
 * Scans a file from an offset, or whole when the history is not linear, when it was replaced, or when the state is not
 * understood. `make` returns an indexer that goes on from a state (undefined: from the start), or undefined when it
 * does not understand it.
 * @throws FileShrunkError when the file is shorter than `from`.
 */
export async function runScan(
  path: string,
  from: number,
  state: unknown,
  signal: AbortSignal,
  make: (state: unknown) => Indexer | undefined,
): Promise<Scan> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size < from)
      throw new FileShrunkError(`the file has ${size} bytes, fewer than the ${from} read before`);
    const known = State.safeParse(state);
    if (from > 0 && known.success && known.data.print === (await fingerprint(file, from))) {
      const indexer = make(known.data.inner);
      if (indexer) {
        const offset = await readAll(file, from, indexer, signal);
        if (offset !== undefined) return await finished(file, 'append', offset, indexer);
      }
    }
    const indexer = make(undefined);
    if (!indexer) throw new Error('no indexer for a whole file');
    const offset = (await readAll(file, 0, indexer, signal)) ?? 0;
    return await finished(file, 'rewrite', offset, indexer);
  } finally {
    await file.close();
  }
}

async function readAll(
  file: FileHandle,
  from: number,
  indexer: Indexer,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return await readLines(
      file,
      from,
      (line) => {
        if (!indexer.take(line)) throw new NotLinear();
      },
      signal,
    );
  } catch (error) {
    if (error instanceof NotLinear) return undefined;
    throw error;
  }
}

async function finished(
  file: FileHandle,
  mode: Scan['mode'],
  offset: number,
  indexer: Indexer,
): Promise<Scan> {
  const { mtimeMs } = await file.stat();
  const outcome = indexer.outcome(mtimeMs, Date.now());
  return {
    ...outcome,
    mode,
    offset,
    state: { print: await fingerprint(file, offset), inner: outcome.state },
  };
}

/** Of the first bytes and of those before an offset. */
async function fingerprint(file: FileHandle, offset: number): Promise<string> {
  const head = await readAt(file, 0, Math.min(PRINT_BYTES, offset));
  const before = Math.min(PRINT_BYTES, offset);
  const tail = await readAt(file, offset - before, before);
  return createHash('sha1').update(head).update('\0').update(tail).digest('base64');
}
