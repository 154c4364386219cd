import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ForkParams, type ForkResult, PREFIX_FORK_SCHEMA } from '../../../src/protocol/aster.js';
import { DomainError } from '../../../src/protocol/errors.js';
import { ClaudeFile, type Deck, openDeck, removeFolders, temporaryFolder } from './support.js';

const CWD = '/deck-test/app';
const SOURCE = 'eeeeeeee-0000-4000-8000-000000000001';

interface Ask {
  readonly operation: number;
  readonly turn: number;
  readonly target: number;
  readonly agent: boolean;
}
const ask: fc.Arbitrary<Ask> = fc.record({
  operation: fc.integer({ min: 0, max: 2 }),
  turn: fc.integer({ min: 1, max: 3 }),
  target: fc.integer({ min: 0, max: 2 }),
  agent: fc.boolean(),
});

type Outcome = { readonly result: ForkResult } | { readonly code: string };

describe('the operationId of a fork', function () {
  this.timeout(30_000);
  let deck: Deck;
  let boundaries: string[];
  let round = 0;
  before(async () => {
    const home = temporaryFolder();
    const file = new ClaudeFile(home, SOURCE, CWD);
    file.write(...[1, 2, 3].map((n) => file.turn(`prompt ${n}`)));
    deck = await openDeck(home, temporaryFolder());
    deck.client.options = { ...deck.client.options, config: { agents: { other: { command: 'agent' } } } };
    const { turns } = await deck.sessions.turns(deck.client, { sessionId: SOURCE });
    boundaries = turns.map(({ boundaryEntryId }) => boundaryEntryId ?? '');
  });
  after(async () => {
    await deck.close();
    removeFolders();
  });

  const paramsOf = ({ operation, turn, target, agent }: Ask): ForkParams => ({
    schema: PREFIX_FORK_SCHEMA,
    sessionId: SOURCE,
    operationId: `op-${round}-${operation}`,
    request: {
      boundary_entry_id: boundaries[turn - 1] ?? '',
      expected_cut: deck.sessions.info(deck.client, { sessionId: SOURCE }).cut,
      target_session_id: `fork-${round}-${target}`,
      expected_workspace: { cwd: CWD },
    },
    ...(agent ? { _meta: { agent: 'other' } } : {}),
  });
  const fork = async (one: Ask): Promise<Outcome> => {
    try {
      return { result: await deck.sessions.fork(deck.client, paramsOf(one)) };
    } catch (error) {
      if (error instanceof DomainError) return { code: error.code };
      throw error;
    }
  };
  const keyOf = ({ turn, target, agent }: Ask) => JSON.stringify([turn, target, agent]);

  it('makes each fork once: the same params give the same answer, others a conflict', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ask, { minLength: 2, maxLength: 8 }), fc.boolean(), async (asks, atOnce) => {
        round += 1;
        const outcomes: Outcome[] = [];
        if (atOnce) outcomes.push(...(await Promise.all(asks.map(fork))));
        else for (const one of asks) outcomes.push(await fork(one));

        const done = new Map<number, { key: string; result: ForkResult }>();
        asks.forEach((one, index) => {
          const outcome = outcomes[index];
          assert.ok(outcome);
          if (!('result' in outcome)) return;
          const before = done.get(one.operation);
          if (before) assert.deepEqual([keyOf(one), outcome.result], [before.key, before.result]);
          else done.set(one.operation, { key: keyOf(one), result: outcome.result });
        });
        asks.forEach((one, index) => {
          const outcome = outcomes[index];
          const first = done.get(one.operation);
          if (!outcome || !('code' in outcome) || !first) return;
          // Refused although the operation was done once: by other params, or before that by a target that was taken.
          if (keyOf(one) !== first.key)
            assert.ok(['operation_conflict', 'target_exists'].includes(outcome.code));
          else assert.equal(outcome.code, 'target_exists');
        });
        const made = deck.store.records.sessions().filter(({ id }) => id.startsWith(`fork-${round}-`));
        const targets = new Set([...done.values()].map(({ result }) => result.sessionId));
        assert.deepEqual(made.map(({ id }) => id).sort(), [...targets].sort());
        assert.equal(targets.size, done.size, 'no target is made twice');
        for (const { key, result } of done.values()) {
          const again = asks.find(
            (one) => keyOf(one) === key && `fork-${round}-${one.target}` === result.sessionId,
          );
          assert.ok(again);
        }
      }),
      { numRuns: 25, plugins: [fc.interruptAfterTimeLimit(4_000)] },
    );
  });
});
