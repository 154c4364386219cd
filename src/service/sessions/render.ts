import { open, type FileHandle } from 'node:fs/promises';
import type { Entry } from '../../protocol/entry.js';
import type { SourceKind } from '../../protocol/session.js';
import type { EntryBody, Source } from '../sources/source.js';
import type { EntryRecord, FileRecord, Place, TurnRecord } from './data.js';
import type { SessionRecord } from './record.js';

/** Ranges closer than this are read together. */
const GAP_BYTES = 32 * 1024;
/** No read is longer than this. */
const READ_BYTES = 4 * 1024 * 1024;

type InFile = Extract<Place, { in: 'file' }>;

/** A piece of a file that is read at once. */
interface Span {
  readonly start: number;
  end: number;
  bytes: Buffer | undefined;
}

class Unreadable extends Error {}

/** Reads the pieces of one file that some entries need, in few reads. */
async function readSpans(file: FileHandle, places: readonly InFile[]): Promise<Span[]> {
  const ranges = places.flatMap(({ ranges }) => ranges).sort(([a], [b]) => a - b);
  const spans: Span[] = [];
  for (const [offset, length] of ranges) {
    const last = spans.at(-1);
    const end = offset + length;
    if (last && offset <= last.end + GAP_BYTES && Math.max(end, last.end) - last.start <= READ_BYTES)
      last.end = Math.max(last.end, end);
    else spans.push({ start: offset, end, bytes: undefined });
  }
  for (const span of spans) {
    const bytes = Buffer.allocUnsafe(span.end - span.start);
    let done = 0;
    while (done < bytes.length) {
      const { bytesRead } = await file.read(bytes, done, bytes.length - done, span.start + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    span.bytes = bytes.subarray(0, done);
  }
  return spans;
}

function cutOut(spans: readonly Span[], [offset, length]: readonly [number, number]): Uint8Array {
  const span = spans.find(({ start, end }) => start <= offset && offset + length <= end);
  const bytes = span?.bytes?.subarray(offset - span.start, offset - span.start + length);
  if (bytes?.length !== length) throw new Unreadable('The file is shorter than it was.');
  return bytes;
}

const unreadableBody = (preview: string, reason: string): EntryBody => ({
  kind: 'raw',
  content: [{ type: 'raw', text: preview, reason }],
});

/** Turns of the entries that are rendered, for their numbers and sums. */
export type TurnOf = (turnId: string) => TurnRecord | undefined;

/** Makes whole entries from rows: from the store's own bodies, or from the bytes of another tool's file. */
export class Renderer {
  private readonly sources: ReadonlyMap<SourceKind, Source>;

  constructor(
    sources: readonly Source[],
    /** The file that holds a session's entries. */
    private readonly fileOf: (session: SessionRecord) => FileRecord | undefined,
    /** A file does not hold what the index says: it has to be looked at again. */
    private readonly onBroken: (path: string) => void,
  ) {
    this.sources = new Map(sources.map((source) => [source.kind, source]));
  }

  /** The entries in the order of the rows. What cannot be read is shown as raw, with the reason; never rejects for it. */
  async render(session: SessionRecord, rows: readonly EntryRecord[], turnOf: TurnOf): Promise<Entry[]> {
    const places = rows.flatMap(({ place }) => (place.in === 'file' ? [place] : []));
    const file = this.fileOf(session);
    const spans =
      places.length === 0
        ? []
        : file === undefined
          ? 'The file is gone.'
          : await this.read(file.path, places);
    return rows.map((row) => toEntry(row, this.body(row, file, spans), turnOf(row.turnId)));
  }

  private async read(path: string, places: readonly InFile[]): Promise<Span[] | string> {
    try {
      const file = await open(path, 'r');
      try {
        return await readSpans(file, places);
      } finally {
        await file.close();
      }
    } catch (error) {
      this.onBroken(path);
      return error instanceof Error && 'code' in error && error.code === 'ENOENT'
        ? 'The file is gone.'
        : `The file cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  private body(row: EntryRecord, file: FileRecord | undefined, spans: Span[] | string): EntryBody {
    const { place } = row;
    if (place.in === 'store') return place.body;
    if (typeof spans === 'string' || !file)
      return unreadableBody(row.preview, typeof spans === 'string' ? spans : 'The file is gone.');
    const source = this.sources.get(file.source);
    if (!source) return unreadableBody(row.preview, 'Its source is turned off.');
    try {
      const records = place.ranges.map((range) => cutOut(spans, range));
      const { id, status } = row;
      const body = source.render(
        {
          id,
          kind: row.kind,
          ...(status === undefined ? {} : { status }),
          ...(place.block === undefined ? {} : { block: place.block }),
        },
        records,
      );
      // The bytes there are another record now.
      if (body.kind === 'raw' && row.kind !== 'raw') this.onBroken(file.path);
      return body;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.onBroken(file.path);
      return unreadableBody(row.preview, error.message);
    }
  }
}

function toEntry(row: EntryRecord, body: EntryBody, turn: TurnRecord | undefined): Entry {
  const duration = turn?.endedAt === undefined ? undefined : Math.max(0, Math.round(turn.endedAt - turn.at));
  return {
    ...body,
    ...(row.status === undefined ? {} : { status: row.status }),
    id: row.id,
    ordinal: row.ordinal,
    turnId: row.turnId,
    turn: turn?.number ?? 1,
    at: new Date(row.at).toISOString(),
    boundary: row.boundary,
    ...(row.boundary && turn?.usage ? { turnUsage: turn.usage } : {}),
    ...(row.boundary && duration !== undefined ? { turnDurationMs: duration } : {}),
    // What an agent replayed is ours, but was not run here.
    replay: row.place.in === 'store' && turn?.own === false,
  };
}
