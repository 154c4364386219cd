import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { DomainError } from '../../src/protocol/errors.js';
import { testAgent } from '../support/agent_command.js';
import { prompt, RunsHome, unaborted, until } from '../support/runs_home.js';
import type { TestClient } from '../support/test_client.js';

/** How the agent takes text: at once, not at all, or after 200 ms not at all. */
const manners = ['please', 'refuse', 'slowly'] as const;
const turns = ['slow 40', 'slow 10\necho done', 'steer', 'wait', 'slow 20\nerror broken', 'slow 20\ndie'];

/** How often the text stands in the transcript in the end. Nothing is pending or queued then. */
const expectedCount: Partial<Record<string, number>> = { injected: 1, returned: 0, idle: 0 };

type Step =
  | { readonly do: 'prompt'; readonly script: string }
  | { readonly do: 'interject'; readonly manner: string; readonly twice: boolean }
  | { readonly do: 'cancel' }
  | { readonly do: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('prompt' as const), script: fc.constantFrom(...turns) }),
  fc.record({
    do: fc.constant('interject' as const),
    manner: fc.constantFrom(...manners),
    twice: fc.boolean(),
  }),
  fc.record({ do: fc.constant('cancel' as const) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 60 }) }),
);

describe('interjections in any order', function () {
  this.timeout(120_000);
  let home: RunsHome;
  let client: TestClient;
  before(async () => {
    home = await RunsHome.open({ cancelMs: 400 });
    client = home.client({ a: testAgent({ features: ['steering'] }) });
  });
  after(() => home.close());

  it('are each sent exactly once, or handed back, and never both', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), async (steps) => {
        const { sessionId } = await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] });
        const texts = new Map<string, string>();
        const underWay: Promise<unknown>[] = [];
        const runs = () => home.runs.activeRun(sessionId) !== undefined;
        for (const [index, one] of steps.entries()) {
          switch (one.do) {
            case 'prompt':
              // A turn that fails, is cancelled or comes too early is one of the cases.
              underWay.push(
                home.runs.prompt(client, prompt(sessionId, one.script), unaborted).catch(onlyDomain),
              );
              break;
            case 'interject': {
              const interjectionId = `${sessionId} ${index}`;
              const text = `${one.manner} ${index}`;
              texts.set(interjectionId, text);
              const send = () =>
                home.runs.interject(client, { sessionId, text, interjectionId }).catch(onlyDomain);
              underWay.push(send());
              if (one.twice) underWay.push(send());
              break;
            }
            case 'cancel':
              home.runs.cancel(client, { sessionId });
              break;
            case 'wait':
              await sleep(one.ms);
          }
        }
        let settled = false;
        void Promise.all(underWay).then(() => (settled = true));
        await until(async () => {
          home.runs.cancel(client, { sessionId });
          await sleep(20);
          return settled && !runs();
        }, 20_000);
        const said = (await home.entries(sessionId))
          .filter(({ kind }) => kind === 'user')
          .map(({ content }) => content.map((block) => ('text' in block ? block.text : '')).join(''));
        const open = new Map(
          home.runs
            .interjections(client, { sessionId })
            .interjections.map(({ interjectionId, state }) => [interjectionId, state]),
        );
        for (const [interjectionId, text] of texts) {
          const { status } = await home.runs.interject(client, { sessionId, text, interjectionId });
          const state = open.get(interjectionId) ?? status;
          const count = said.filter((each) => each === text).length;
          const expected = expectedCount[state];
          assert.equal(
            count,
            expected,
            `"${text}" is ${state} and stands ${count} times in ${said.join(' | ')}`,
          );
        }
      }),
      { numRuns: 25 },
    );
  });
});

function onlyDomain(error: unknown): void {
  if (!(error instanceof DomainError)) throw error;
}
