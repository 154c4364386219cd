import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { Book } from '../../../src/service/sessions/book.js';
import type { SessionRecord } from '../../../src/service/sessions/record.js';

function session(id: string, updatedAt: number, revision: number): SessionRecord {
  return {
    id,
    source: 'deck',
    cwd: '/w',
    createdAt: 0,
    updatedAt,
    kind: 'build',
    headless: false,
    state: 'idle',
    archived: false,
    hasErrors: false,
    empty: false,
    generation: 0,
    revision,
    entryCount: 0,
    turnCount: 0,
    skipped: 0,
    offBranch: 0,
  };
}

describe('the book of sessions', () => {
  it('has all in order, as they are now, after any changes', () => {
    const change = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      at: fc.integer({ min: 0, max: 3 }),
      does: fc.constantFrom('put', 'put', 'delete', 'drop'),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const book = new Book();
        const expected = new Map<string, SessionRecord>();
        changes.forEach(({ id, at, does }, revision) => {
          const record = session(id, at, revision);
          if (does === 'drop') book.drop(id);
          else book.put(does === 'delete' ? { ...record, deletedAt: 1 } : record);
          expected.delete(id);
          if (does === 'put') expected.set(id, record);
          const sorted = [...expected.values()].sort(
            (x, y) => y.updatedAt - x.updatedAt || (x.id < y.id ? 1 : -1),
          );
          assert.deepEqual(book.all(), sorted);
        });
      }),
    );
  });
});
