import {
  type PageAnchor,
  type PageParams,
  type PageResult,
  TRANSCRIPT_PAGE_SCHEMA,
} from '../../protocol/aster.js';
import { DomainError } from '../../protocol/errors.js';
import type { Client } from './client.js';
import { type Cursors, cursorInvalid, cursorStale, fingerprint, PageCursor } from './cursor.js';
import type { SessionData } from './data.js';
import type { Reader } from './reader.js';
import type { SessionRecord } from './record.js';
import type { Shelf } from './shelf.js';
import type { Watchers } from './watchers.js';

const LIMIT = 50;

/** The rows of a page: `[from, to)` by ordinal. */
interface Window {
  readonly from: number;
  readonly to: number;
}

/** Pages of transcripts. */
export class Pages {
  constructor(
    private readonly data: SessionData,
    private readonly shelf: Shelf,
    private readonly reader: Reader,
    private readonly cursors: Cursors,
    private readonly watchers: Watchers,
  ) {}

  /**
   * One page; the client watches the session from then on. Throws `session_unavailable`, `cursor_invalid`,
   * `cursor_stale`, and `invalid_params` for an anchor that is not in the transcript.
   */
  async page(client: Client, params: PageParams, signal: AbortSignal): Promise<PageResult> {
    const { id } = this.shelf.resolve(client, params.sessionId, params.cwd);
    if (params.cursor === undefined) await this.reader.freshen(this.shelf.current(id), signal);
    // It may have gone while its file was read.
    const record = this.shelf.resolve(client, id, params.cwd);
    const { from, to } = this.window(record, params);
    const rows = from < to ? this.data.entries(id, record.generation, from, to - from) : [];
    this.watchers.watch(client, id);
    const hold = this.watchers.hold(client, id);
    try {
      const entries = await this.reader.entries(record, rows);
      await hold.sent;
      const seal = (ordinal: number, direction: 'older' | 'newer') =>
        this.cursors.seal(['p', fingerprint(id), record.generation, ordinal, direction]);
      return {
        schema: TRANSCRIPT_PAGE_SCHEMA,
        operationId: params.operationId,
        sessionId: id,
        cut: { generation: record.generation, revision: record.revision },
        entries,
        ...(from > 0 ? { prevCursor: seal(from, 'older') } : {}),
        ...(to < record.entryCount ? { nextCursor: seal(to, 'newer') } : {}),
        total: record.entryCount,
      };
    } finally {
      hold.release();
    }
  }

  private window(record: SessionRecord, params: PageParams): Window {
    const { limit = LIMIT, cursor, anchor = 'end', direction } = params;
    const total = record.entryCount;
    const older = (end: number): Window => ({ from: Math.max(0, end - limit), to: end });
    const newer = (start: number): Window => ({ from: start, to: Math.min(total, start + limit) });
    if (cursor !== undefined) {
      const [, session, generation, ordinal, way] = this.cursors.open(cursor, PageCursor);
      if (session !== fingerprint(record.id)) throw cursorInvalid();
      if (generation !== record.generation || ordinal > total) throw cursorStale();
      return way === 'older' ? older(ordinal) : newer(ordinal);
    }
    if (anchor === 'end') return direction === 'newer' ? newer(total) : older(total);
    if (anchor === 'start') return direction === 'older' ? older(0) : newer(0);
    if ('ordinal' in anchor)
      return direction === 'older'
        ? older(Math.min(total, anchor.ordinal + 1))
        : newer(Math.min(total, anchor.ordinal));
    const at = this.place(record, anchor);
    if (at === undefined)
      throw new DomainError('invalid_params', 'anchor names no entry of this transcript.', {
        field: 'anchor',
      });
    return direction === 'older' ? older(at + 1) : newer(at);
  }

  /** The ordinal that an anchor means; a place beyond the end is the end. */
  private place(record: SessionRecord, anchor: Exclude<PageAnchor, string>): number | undefined {
    const last = Math.max(0, record.entryCount - 1);
    if (!('entryId' in anchor)) return Math.min(anchor.ordinal, last);
    const row = this.data.entry(record.id, record.generation, anchor.entryId);
    return row && row.ordinal <= last ? row.ordinal : undefined;
  }
}
