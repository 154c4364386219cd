import { open, type FileHandle } from 'node:fs/promises';

/** A longer line is not parsed: see `Line.capped`. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** Of a line that is too long this much is kept. */
export const CAPPED_HEAD_BYTES = 16 * 1024;

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Tries to find a record behind a torn one; a line with more candidates than this is given up. */
const MAX_RESTARTS = 500;
/** More records on one line are not taken apart. */
const MAX_MERGED = 50;
/** Nor is more text than this tried, in UTF-16 units. */
const RESTART_BUDGET = 64 * 1024 * 1024;

/** A line of a file; valid until the callback that received it returns. */
export interface Line {
  /** Of its first byte in the file. */
  readonly offset: number;
  /** Bytes, without the line end. */
  readonly length: number;
  /** All of it, or the first `CAPPED_HEAD_BYTES` when it is capped. */
  readonly bytes: Buffer;
  /** Longer than `MAX_LINE_BYTES`. */
  readonly capped: boolean;
}

/** The file cannot be read on from an offset: it is shorter than that, or was cut while it was read. */
export class FileShrunkError extends Error {
  override readonly name = 'FileShrunkError';
}

/**
 * Reads complete lines from `from` on, chunk by chunk, and gives each one to `onLine`. A last line without newline is
 * not consumed. Empty lines are passed over.
 * @returns the end of the last complete line, in bytes.
 * @throws FileShrunkError when the file is shorter than `from` or becomes shorter than what was read; the reason of
 * `signal` when it is aborted.
 */
export async function readLines(
  file: FileHandle,
  from: number,
  onLine: (line: Line) => void,
  signal: AbortSignal,
): Promise<number> {
  const { size } = await file.stat();
  if (size < from)
    throw new FileShrunkError(`the file has ${size} bytes, fewer than the ${from} read before`);

  let position = from;
  let lineStart = from;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let skipping = false;
  let consumed = from;
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);

  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    let start = 0;
    while (start < bytesRead) {
      const end = chunk.subarray(0, bytesRead).indexOf(NEWLINE, start);
      const part = chunk.subarray(start, end < 0 ? bytesRead : end);
      if (!skipping) {
        // The chunk is used again: what is not complete yet must be kept apart.
        pending.push(end < 0 ? Buffer.from(part) : part);
        pendingBytes += part.length;
        if (pendingBytes > MAX_LINE_BYTES) {
          pending = [Buffer.concat(pending).subarray(0, CAPPED_HEAD_BYTES)];
          skipping = true;
        }
      } else {
        pendingBytes += part.length;
      }
      if (end < 0) break;
      const only = pending.length === 1 ? pending[0] : undefined;
      const bytes = only ?? Buffer.concat(pending);
      const length = bytes.at(-1) === CARRIAGE_RETURN && !skipping ? pendingBytes - 1 : pendingBytes;
      if (length > 0) {
        onLine({
          offset: lineStart,
          length,
          bytes: skipping ? bytes : bytes.subarray(0, length),
          capped: skipping,
        });
      }
      start = end + 1;
      lineStart = position + start;
      consumed = lineStart;
      pending = [];
      pendingBytes = 0;
      skipping = false;
    }
    position += bytesRead;
  }
  const after = await file.stat();
  if (after.size < position) throw new FileShrunkError('the file became shorter while it was read');
  return consumed;
}

/** One JSON value of a line, or what is left of one. Offsets are in the file. */
export type Segment =
  | { readonly ok: true; readonly value: unknown; readonly offset: number; readonly length: number }
  | { readonly ok: false; readonly offset: number; readonly length: number };

/**
 * Parses a line. A line may hold more than one record when a writer was killed in the middle of one: the records
 * behind the tear are recovered, what is torn becomes a segment that is not `ok`. Invalid UTF-8 is replaced (U+FFFD).
 */
export function parseLine(line: Line, depth = 0): Segment[] {
  const { offset, length } = line;
  const text = line.bytes.toString('utf8');
  const value = tryParse(text);
  if (value !== undefined) return [{ ok: true, value: value.value, offset, length }];
  // Places in the text and in the bytes differ, the order of these beginnings does not.
  let inText = text.indexOf('{"', 1);
  let at = line.bytes.indexOf('{"', 1);
  let budget = depth < MAX_MERGED ? RESTART_BUDGET : 0;
  for (let tries = 0; at > 0 && inText > 0 && tries < MAX_RESTARTS && budget > 0; tries++) {
    const rest = tryParse(text.slice(inText));
    if (rest !== undefined) {
      const head = line.bytes.subarray(0, at);
      const before = isBlank(head)
        ? []
        : parseLine({ offset, length: at, bytes: head, capped: false }, depth + 1);
      return [...before, { ok: true, value: rest.value, offset: offset + at, length: length - at }];
    }
    budget -= text.length - inText;
    inText = text.indexOf('{"', inText + 1);
    at = line.bytes.indexOf('{"', at + 1);
  }
  return isBlank(line.bytes) ? [] : [{ ok: false, offset, length }];
}

function tryParse(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return { value };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Spaces and NULs: what a file system leaves after a power loss. */
function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte <= 0x20);
}

/** The first and the last bytes of a file, cut to whole lines where the file has them. */
export interface Ends {
  readonly size: number;
  readonly head: Buffer;
  readonly tail: Buffer;
  /** `head` is the whole file. */
  readonly whole: boolean;
}

/** Reads up to `headBytes` from the start and `tailBytes` from the end, in two reads. */
export async function readEnds(path: string, headBytes: number, tailBytes: number): Promise<Ends> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const head = await readAt(file, 0, Math.min(size, headBytes));
    if (size <= headBytes) return { size, head, tail: head, whole: true };
    const tail = await readAt(file, size - Math.min(size, tailBytes), Math.min(size, tailBytes));
    return { size, head, tail: tail.subarray(tail.indexOf(NEWLINE) + 1), whole: false };
  } finally {
    await file.close();
  }
}

/** Reads `length` bytes at `offset`, or what there is of them. */
export async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

/** The lines of a buffer, the last one too when it has no newline (`complete` is false then). */
export function* linesOf(bytes: Buffer): Generator<{ bytes: Buffer; complete: boolean }> {
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end < 0) {
      yield { bytes: bytes.subarray(start), complete: false };
      return;
    }
    if (end > start) yield { bytes: bytes.subarray(start, end), complete: true };
    start = end + 1;
  }
}

/** Parses JSON that may be torn; `undefined` when it is. */
export function parseMaybe(bytes: Uint8Array): unknown {
  return tryParse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))?.value;
}
