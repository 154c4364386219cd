import type { EntryBody, IndexedEntry } from './source.js';
import { CAPPED_HEAD_BYTES, type Line } from './jsonl.js';
import { humanBytes, oneLine } from './text.js';

/** What is shown of a line that no record could be made of. */
export interface RawLine {
  readonly id: string;
  readonly offset: number;
  /** Bytes to show, not those of the line. */
  readonly length: number;
  readonly preview: string;
}

/** A torn or unknown piece of a line. */
export function tornLine(line: Line, piece: { readonly offset: number; readonly length: number }): RawLine {
  const start = piece.offset - line.offset;
  const text = line.bytes.toString('utf8', start, start + Math.min(piece.length, 1000));
  return {
    id: `raw-${piece.offset.toString(36)}`,
    offset: piece.offset,
    length: Math.min(piece.length, CAPPED_HEAD_BYTES),
    preview: oneLine(text),
  };
}

/** A line that is too long to read; its id tells how long. */
export function bigLine(line: Line): RawLine {
  return {
    id: `big-${line.offset.toString(36)}-${line.length.toString(36)}`,
    offset: line.offset,
    length: CAPPED_HEAD_BYTES,
    preview: `${tooLong(line.length)} ${oneLine(line.bytes.toString('utf8', 0, 300), 140)}`,
  };
}

function tooLong(bytes: number): string {
  return `A record of ${humanBytes(bytes)} is too long to read.`;
}

/** The body of an entry that shows bytes as they are. */
export function rawBody(
  entry: Pick<IndexedEntry, 'id'>,
  records: readonly Uint8Array[],
  why?: string,
): EntryBody {
  const big = /^big-[0-9a-z]+-([0-9a-z]+)$/.exec(entry.id)?.[1];
  const text = records
    .map((bytes) => Buffer.from(bytes.subarray(0, CAPPED_HEAD_BYTES)).toString('utf8'))
    .join('\n')
    .replaceAll('\0', '');
  const reason =
    why ??
    (big === undefined
      ? 'This line is no complete record.'
      : `${tooLong(parseInt(big, 36))} Its beginning is shown.`);
  return { kind: 'raw', content: [{ type: 'raw', text, reason }] };
}
