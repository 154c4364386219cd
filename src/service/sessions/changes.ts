import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod';
import type { Status as StatusSchema } from '../../protocol/deck.js';
import type { Book } from './book.js';
import type { Client, Clients } from './client.js';
import { acpMeta } from './list.js';
import { type SessionRecord, toRow } from './record.js';
import { type Scope, scopeOf } from './scope.js';

type Status = z.infer<typeof StatusSchema>;

/** At most four announcements a second. */
const EVERY_MS = 250;
/** More changed rows than this are told as "ask for the list again". */
const MAX_ROWS = 200;

interface Change {
  /** The session before the first change of this round; undefined when it was not there. */
  readonly before: SessionRecord | undefined;
  /** New here, or first read: nothing happened to the session, so clients that do not show a list hear nothing. */
  quiet: boolean;
}

/** Tells clients which rows of the list changed, and what the service is doing: coalesced, each within its scope. */
export class Changes {
  private readonly changed = new Map<string, Change>();
  private statusChanged = false;
  private timer: NodeJS.Timeout | undefined;
  private lastSent = 0;

  constructor(
    private readonly book: Book,
    private readonly clients: Clients,
    private readonly status: (client: Client) => Status,
  ) {}

  /** Call it after the book has the new record. `before` is the old one. */
  mark(id: string, before: SessionRecord | undefined, quiet = false): void {
    const known = this.changed.get(id);
    if (known) known.quiet &&= quiet;
    else this.changed.set(id, { before, quiet: quiet || before === undefined });
    // The parent's row counts its children.
    const parent = this.book.get(id)?.parent ?? before?.parent;
    if (parent && !this.changed.has(parent.sessionId)) {
      const record = this.book.get(parent.sessionId);
      if (record) this.changed.set(record.id, { before: record, quiet: true });
    }
    this.schedule();
  }

  markStatus(): void {
    this.statusChanged = true;
    this.schedule();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private schedule(): void {
    if (this.timer !== undefined) return;
    const wait = Math.max(0, this.lastSent + EVERY_MS - Date.now());
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.lastSent = Date.now();
      this.send();
    }, wait);
    this.timer.unref();
  }

  private send(): void {
    const changed = [...this.changed];
    const { statusChanged } = this;
    this.changed.clear();
    this.statusChanged = false;
    for (const client of this.clients) {
      if (changed.length > 0) {
        const scope = scopeOf(client);
        if (client.surface === 'editor') this.tellEditor(client, scope, changed);
        else this.tellAcp(client, scope, changed);
      }
      if (statusChanged && client.surface === 'editor')
        client.notify('deck/status/update', this.status(client));
    }
  }

  private tellEditor(client: Client, scope: Scope, changed: readonly (readonly [string, Change])[]): void {
    const upserted: SessionRecord[] = [];
    const removed: string[] = [];
    for (const [id, { before }] of changed) {
      const record = this.book.get(id);
      if (record && this.book.isListed(record) && scope.has(record)) upserted.push(record);
      // An id that the client could never see is not told either.
      else if (before && scope.has(before)) removed.push(id);
    }
    if (upserted.length + removed.length === 0) return;
    const reset = upserted.length + removed.length > MAX_ROWS;
    client.notify('deck/sessions/changed', {
      upserted: reset ? [] : upserted.map((record) => toRow(record, this.book.childCount(record.id))),
      removed: reset ? [] : removed,
      reset,
    });
  }

  private tellAcp(client: Client, scope: Scope, changed: readonly (readonly [string, Change])[]): void {
    for (const [id, { before, quiet }] of changed) {
      const record = this.book.get(id);
      if (quiet || !record || record.empty || !scope.has(record)) continue;
      const fields = changedFields(before, record);
      if (Object.keys(fields).length > 0)
        client.sessionUpdate(id, { sessionUpdate: 'session_info_update', ...fields });
    }
  }
}

/** What of an ACP `SessionInfo` changed; null clears. */
function changedFields(before: SessionRecord | undefined, after: SessionRecord): Record<string, unknown> {
  const info = (record: SessionRecord): Record<string, unknown> => {
    const row = toRow(record, 0);
    return { title: row.title ?? null, updatedAt: row.updatedAt, ...acpMeta(row) };
  };
  const old: Record<string, unknown> = before ? info(before) : {};
  const fields = Object.entries(info(after)).filter(
    ([key, value]) => !isDeepStrictEqual(value, old[key] ?? null),
  );
  const top = fields.filter(([key]) => key === 'title' || key === 'updatedAt');
  const meta = fields.filter(([key]) => key !== 'title' && key !== 'updatedAt');
  return {
    ...Object.fromEntries(top),
    ...(meta.length > 0 ? { _meta: Object.fromEntries(meta) } : {}),
  };
}
