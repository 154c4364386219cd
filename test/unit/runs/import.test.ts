import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Entry } from '../../../src/protocol/entry.js';
import type { PageResult } from '../../../src/protocol/aster.js';
import { Discovery } from '../../../src/service/runs/discovery.js';
import { testAgent, type TestAgentOptions } from '../../support/agent_command.js';
import { brief, prompt, RunsHome, unaborted } from '../../support/runs_home.js';
import { pageOf } from '../sessions/support.js';

const ID = 'listed-1';
const tool = (status: string) => ({
  sessionUpdate: status === 'pending' ? 'tool_call' : 'tool_call_update',
  toolCallId: 't1',
  title: 'Read README.md',
  name: 'Read',
  kind: 'read',
  status,
  ...(status === 'completed'
    ? { content: [{ type: 'content', content: { type: 'text', text: 'its text' } }] }
    : {}),
});
const HISTORY = [
  { role: 'user', text: 'first prompt' },
  { role: 'agent', text: 'first answer' },
  { role: 'user', text: 'second prompt' },
  { role: 'agent', text: `!${JSON.stringify(tool('pending'))}` },
  { role: 'agent', text: `!${JSON.stringify(tool('completed'))}` },
  { role: 'agent', text: 'second answer' },
];
const ENTRIES = [
  'user: first prompt',
  'assistant: first answer',
  'user: second prompt',
  'tool: Read completed',
  'assistant: second answer',
];

describe('the history of a session that an agent listed', function () {
  this.timeout(20_000);
  let home: RunsHome;
  let dir: string;
  let calls: string;
  beforeEach(async () => {
    home = await RunsHome.open({ quietMs: 60 });
    dir = join(home.userHome, 'agent');
    calls = join(home.userHome, 'calls.log');
    mkdirSync(dir, { recursive: true });
    write(HISTORY);
  });
  afterEach(async () => {
    assert.deepEqual(home.problems, []);
    await home.close();
  });

  const write = (lines: unknown[]) =>
    writeFileSync(
      join(dir, `${ID}.jsonl`),
      [{ id: ID, cwd: home.dir }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''),
    );
  const agent = (options: TestAgentOptions = {}) =>
    testAgent({ dir, ...options, env: { AGENT_LOG: calls, ...options.env } });
  const client = (options: TestAgentOptions = {}, trusted = true) =>
    home.client({ scripted: agent(options) }, { trusted });
  const list = async (options: TestAgentOptions = {}) => {
    const { command, args = [], env = {} } = agent(options);
    const finder = new Discovery({ agents: home.pool, lists: home.sessions.agentLists, log: home.log });
    await finder.discover({ id: 'scripted', title: 'Scripted agent', command, args, env });
  };
  const page = (by = client()): Promise<PageResult> =>
    home.sessions.page(by, pageOf(ID, home.dir, { limit: 50 }), unaborted);
  const loads = () =>
    readFileSync(calls, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('session/load'));
  const row = async () => (await home.listed()).find(({ sessionId }) => sessionId === ID);

  it('is fetched by the first page, once, as turns with boundaries, and does not change its place in the list', async () => {
    await list();
    const before = await row();
    const by = client();
    assert.equal(home.sessions.info(by, { sessionId: ID }).sourceInfo.unread, true);
    const [first, second, turns] = await Promise.all([
      page(by),
      page(by),
      home.sessions.turns(by, { sessionId: ID }),
    ]);
    assert.deepEqual(brief(first.entries), ENTRIES);
    assert.deepEqual(second.entries, first.entries);
    assert.deepEqual(
      first.entries.map(({ boundary, replay, turn }: Entry) => [boundary, replay, turn]),
      [
        [false, true, 1],
        [true, true, 1],
        [false, true, 2],
        [false, true, 2],
        [true, true, 2],
      ],
    );
    assert.deepEqual(
      turns.turns.map(({ prompt, status, tools, number }) => [prompt, status, tools, number]),
      [
        ['first prompt', 'completed', 0, 1],
        ['second prompt', 'completed', 1, 2],
      ],
    );
    const info = home.sessions.info(by, { sessionId: ID });
    assert.deepEqual(
      [info.source, info.entryCount, info.messageCount, info.title, info.updatedAt, info.sourceInfo.unread],
      ['deck', 5, 4, 'first prompt', before?.updatedAt, undefined],
    );
    assert.equal(loads().length, 1);
  });

  it('is kept over a restart, and later turns follow it in the agent that has it', async () => {
    await list();
    const { entries } = await page();
    // What the agent announced is kept a moment later.
    await sleep(300);
    await home.crash();
    assert.deepEqual((await page()).entries, entries);
    await home.runs.prompt(client(), prompt(ID, 'recall'), unaborted);
    assert.deepEqual(brief(await home.entries(ID)), [
      ...ENTRIES,
      'user: recall',
      'assistant: 2 before, last: second prompt',
    ]);
    assert.deepEqual(
      (await home.turns(ID)).map(({ number }) => number),
      [1, 2, 3],
    );
    assert.equal(loads().length, 1);
  });

  it('is fetched before a prompt, and before a client of the protocol loads it', async () => {
    await list();
    await home.runs.prompt(client(), prompt(ID, 'echo third'), unaborted);
    assert.deepEqual(brief(await home.entries(ID)), [...ENTRIES, 'user: echo third', 'assistant: third']);
    write(HISTORY.slice(0, 2));
    await home.sessions.delete(client(), { sessionId: ID, cwd: home.dir });
    await home.sessions.undoDelete(client(), { sessionId: ID });
    assert.equal((await home.entries(ID)).length, 7);
  });

  it('is fetched when it is loaded over the protocol', async () => {
    await list();
    await home.runs.load(client(), { sessionId: ID, cwd: home.dir, mcpServers: [] });
    assert.deepEqual(brief(await home.entries(ID)), ENTRIES);
  });

  it('is also taken in when the agent tells it after its answer', async () => {
    const late = { env: { AGENT_LOAD: 'late' } };
    await list(late);
    assert.deepEqual(brief((await page(client(late))).entries), ENTRIES);
  });

  it('leaves the session as it was when it cannot be fetched, and can be fetched later', async () => {
    const failing = { env: { AGENT_LOAD: 'fail' } };
    await list(failing);
    const before = await row();
    await assert.rejects(page(client(failing)), { code: 'agent_failed', message: /the rest is damaged/ });
    assert.deepEqual(await row(), before);
    assert.deepEqual(await home.entries(ID), []);
    assert.deepEqual(brief((await page()).entries), ENTRIES);
  });

  it('is not fetched for a restricted window, or without the agent, and says why', async () => {
    await list();
    await assert.rejects(page(client({}, false)), { code: 'forbidden', message: /restricted mode/ });
    await assert.rejects(page(home.client({})), {
      code: 'agent_unavailable',
      message: /"scripted", which is not set/,
    });
    assert.equal((await row())?.source, 'agent');
  });

  it('is one sentence where the agent cannot give it, and the session goes on all the same', async () => {
    const poor = { features: ['close', 'list', 'resume'] };
    await list(poor);
    const { entries } = await page(client(poor));
    assert.match(
      brief(entries).join(),
      /^notice: Scripted agent lists this session, but cannot give its history/,
    );
    await home.runs.prompt(client(poor), prompt(ID, 'recall'), unaborted);
    assert.match(brief(await home.entries(ID)).join(), /assistant: 2 before, last: second prompt$/);
  });

  it('is one sentence where the agent tells nothing', async () => {
    write([]);
    await list();
    assert.match(
      brief((await page()).entries).join(),
      /^notice: Scripted agent keeps this session, but told nothing/,
    );
  });
});
