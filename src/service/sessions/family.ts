import type { FamilyParams, FamilyResult } from '../../protocol/deck.js';
import type { Book } from './book.js';
import type { Client } from './client.js';
import { type SessionRecord, toRow } from './record.js';
import { scopeOf } from './scope.js';
import type { Shelf } from './shelf.js';

/**
 * `deck/session/family`: the first session of a line of forks and all that descends from it. What is deleted or out of
 * scope is left out, and still connects those before and after it. Throws `session_unavailable`.
 */
export function family(shelf: Shelf, client: Client, params: FamilyParams): FamilyResult {
  const { book } = shelf;
  const scope = scopeOf(client);
  const asked = shelf.resolve(client, params.sessionId);
  const members = descent(book, firstOf(book, asked)).filter(
    (record) => record.deletedAt === undefined && !record.empty && scope.has(record),
  );
  return {
    rootId: members[0]?.id ?? asked.id,
    members: members.map((record) => toRow(record, book.childCount(record.id))),
  };
}

const known = (book: Book, id: string) => book.get(id) ?? book.getDeleted(id);

/** Goes from fork to parent as far as sessions are known. */
function firstOf(book: Book, record: SessionRecord): SessionRecord {
  const seen = new Set<string>();
  let first = record;
  while (first.parent?.relation === 'fork' && !seen.has(first.id)) {
    seen.add(first.id);
    const parent = known(book, first.parent.sessionId);
    if (!parent) break;
    first = parent;
  }
  return first;
}

/** A session, then its forks one after the other with theirs, oldest first. */
function descent(book: Book, first: SessionRecord): SessionRecord[] {
  const forks = new Map<string, SessionRecord[]>();
  for (const record of [...book.all(), ...book.allDeleted()]) {
    if (record.parent?.relation !== 'fork') continue;
    const siblings = forks.get(record.parent.sessionId) ?? [];
    siblings.push(record);
    forks.set(record.parent.sessionId, siblings);
  }
  const found = new Map<string, SessionRecord>();
  const left = [first];
  for (let next = left.pop(); next; next = left.pop()) {
    if (found.has(next.id)) continue;
    found.set(next.id, next);
    // The oldest comes off the end first.
    left.push(...(forks.get(next.id) ?? []).sort((a, b) => b.createdAt - a.createdAt));
  }
  return [...found.values()];
}
