import type { SessionRow } from '../../protocol/session.js';

const newestFirst = (a: SessionRow, b: SessionRow) =>
  Date.parse(b.updatedAt) - Date.parse(a.updatedAt) || (a.sessionId < b.sessionId ? 1 : -1);

/** The rows that are loaded, newest first, kept right while pages come in and rows change. */
export class RowList {
  private rows = new Map<string, SessionRow>();
  private sorted: SessionRow[] | undefined;
  /** More pages are there: a row older than the last one loaded belongs to them. */
  hasMore = false;

  get all(): readonly SessionRow[] {
    return (this.sorted ??= [...this.rows.values()].sort(newestFirst));
  }

  get(sessionId: string): SessionRow | undefined {
    return this.rows.get(sessionId);
  }

  /** Starts anew with a first page. */
  reset(rows: readonly SessionRow[], hasMore: boolean): void {
    this.rows = new Map(rows.map((row) => [row.sessionId, row]));
    this.hasMore = hasMore;
    this.sorted = undefined;
  }

  addPage(rows: readonly SessionRow[], hasMore: boolean): void {
    for (const row of rows) if (!this.rows.has(row.sessionId)) this.rows.set(row.sessionId, row);
    this.hasMore = hasMore;
    this.sorted = undefined;
  }

  /** Takes changes in; rows that belong to a page that is not loaded are left to it. */
  apply(upserted: readonly SessionRow[], removed: readonly string[]): void {
    const oldest = this.all.at(-1);
    for (const row of upserted) {
      const isLater = this.hasMore && oldest !== undefined && newestFirst(row, oldest) > 0;
      if (this.rows.has(row.sessionId) || !isLater || row.state === 'needs_input')
        this.rows.set(row.sessionId, row);
    }
    for (const id of removed) this.rows.delete(id);
    this.sorted = undefined;
  }
}
