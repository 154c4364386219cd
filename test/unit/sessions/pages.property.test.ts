import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Entry } from '../../../src/protocol/entry.js';
import { PREFIX_FORK_SCHEMA, type PageResult } from '../../../src/protocol/aster.js';
import { DomainError } from '../../../src/protocol/errors.js';
import {
  ClaudeFile,
  type Deck,
  never,
  openDeck,
  pageOf,
  removeFolders,
  temporaryFolder,
  until,
} from './support.js';

const CWD = '/deck-test/app';

/** What happens between two pages. */
type Step = 'nothing' | 'append' | 'fork' | 'rewrite' | 'own turn';
const steps = fc.array(fc.constantFrom<Step>('nothing', 'nothing', 'append', 'own turn', 'fork', 'rewrite'), {
  minLength: 1,
  maxLength: 5,
});
const limit = fc.integer({ min: 1, max: 9 });
const direction = fc.constantFrom<'older' | 'newer'>('older', 'newer');

describe('pages, whatever happens between them', function () {
  this.timeout(30_000);
  let deck: Deck;
  let home: string;
  let count = 0;
  before(async () => {
    home = temporaryFolder();
    deck = await openDeck(home, temporaryFolder());
  });
  after(async () => {
    await deck.close();
    removeFolders();
  });

  /** A session of a tool with so many turns, known and indexed. */
  const session = async (turns: number): Promise<ClaudeFile> => {
    count += 1;
    const file = new ClaudeFile(home, `dddddddd-0000-4000-8000-${String(count).padStart(12, '0')}`, CWD);
    file.write(...Array.from({ length: turns }, (_, n) => file.turn(`prompt ${n}`)));
    await until(() => isKnown(file.id) && infoOf(file.id).turnCount === turns);
    return file;
  };
  const isKnown = (id: string) => deck.store.records.sessions().some((one) => one.id === id);
  const infoOf = (id: string) => deck.sessions.info(deck.client, { sessionId: id });
  const page = (id: string, more: Parameters<typeof pageOf>[2]): Promise<PageResult> =>
    deck.sessions.page(deck.client, pageOf(id, CWD, more), never);

  const carryOut = async (step: Step, file: ClaudeFile): Promise<void> => {
    const { turnCount, cut } = infoOf(file.id);
    switch (step) {
      case 'nothing':
        return;
      case 'append':
        file.append(file.turn(`later ${turnCount}`));
        await until(() => infoOf(file.id).turnCount > turnCount);
        return;
      case 'own turn': {
        const at = new Date().toISOString();
        const content = [{ type: 'text' as const, text: 'ours' }];
        const { turnId } = deck.sessions.writer.beginTurn(file.id, {
          id: `p-${file.id}-${turnCount}`,
          kind: 'user',
          at,
          content,
        });
        deck.sessions.writer.endTurn(file.id, turnId, { status: 'completed' });
        return;
      }
      case 'fork': {
        const { turns } = await deck.sessions.turns(deck.client, { sessionId: file.id, from: -1, limit: 1 });
        count += 1;
        await deck.sessions.fork(deck.client, {
          schema: PREFIX_FORK_SCHEMA,
          sessionId: file.id,
          operationId: `fork-${count}`,
          request: {
            boundary_entry_id: turns[0]?.boundaryEntryId ?? '',
            expected_cut: infoOf(file.id).cut,
            target_session_id: `fork-${count}`,
            expected_workspace: { cwd: CWD },
          },
        });
        return;
      }
      case 'rewrite':
        // The person went back to the first turn in the tool: another history.
        file.append(file.rewind(4).turn(`another way ${turnCount}`));
        await until(() => infoOf(file.id).cut.generation > cut.generation);
    }
  };

  /** Reads all pages from one end. A history that was rewritten meanwhile is told, and then read from the start again. */
  const readAll = async (
    file: ClaudeFile,
    way: 'older' | 'newer',
    size: number,
    between: readonly Step[],
  ): Promise<Entry[]> => {
    const begin = () =>
      page(file.id, { limit: size, anchor: way === 'older' ? 'end' : 'start', direction: way });
    const waiting = [...between];
    let current = await begin();
    let seen: Entry[] = [...current.entries];
    for (;;) {
      const cursor = way === 'older' ? current.prevCursor : current.nextCursor;
      if (cursor === undefined) return seen;
      const { generation } = infoOf(file.id).cut;
      const step = waiting.shift();
      if (step) await carryOut(step, file);
      try {
        current = await page(file.id, { cursor, limit: size });
        assert.notEqual(step, 'rewrite', 'a cursor of another history is refused');
        assert.equal(current.cut.generation, generation);
        seen = way === 'older' ? [...current.entries, ...seen] : [...seen, ...current.entries];
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'cursor_stale') throw error;
        assert.equal(step, 'rewrite');
        current = await begin();
        seen = [...current.entries];
      }
    }
  };

  it('hold every entry once, in order, without a gap, and every call with its result', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 8 }),
        direction,
        limit,
        steps,
        async (turns, way, size, between) => {
          const file = await session(turns);
          const seen = await readAll(file, way, size, between);
          assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length, 'no entry twice');
          const [first] = seen;
          seen.forEach(({ ordinal }, index) =>
            assert.equal(ordinal, (first?.ordinal ?? 0) + index, 'none skipped'),
          );
          if (way === 'older') assert.equal(first?.ordinal, 0);
          else assert.equal(seen.length, infoOf(file.id).entryCount);
          for (const { tool } of seen)
            if (tool) assert.ok((tool.output ?? []).length > 0, 'no call without its result');
        },
      ),
      { numRuns: 25, plugins: [fc.interruptAfterTimeLimit(4_000)] },
    );
  });
});
