import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { testAgent } from '../support/agent_command.js';
import { brief, prompt, RunsHome, unaborted, until } from '../support/runs_home.js';
import { allow, type TestClient } from '../support/test_client.js';

describe('runs: permissions', function () {
  this.timeout(20_000);
  let home: RunsHome;
  let owner: TestClient;
  let sessionId: string;
  beforeEach(async () => {
    home = await RunsHome.open({ cancelMs: 400 });
    owner = home.client({ a: testAgent() });
    ({ sessionId } = await home.runs.newSession(owner, { cwd: home.dir, mcpServers: [] }));
  });
  afterEach(async () => {
    await home.close();
  });
  const run = (text: string) => home.runs.prompt(owner, prompt(sessionId, text), unaborted);
  const last = async () => brief(await home.entries(sessionId)).at(-1);

  it('shows that it waits, asks with our session id, and records the answer', async () => {
    let answer: (() => void) | undefined;
    owner.answer = () =>
      new Promise((resolve) => {
        answer = () => resolve({ outcome: { outcome: 'selected', optionId: 'reject' } });
      });
    const turn = run('ask Delete everything');
    await until(() => answer !== undefined);
    assert.equal(home.state(sessionId), 'needs_input');
    assert.equal(home.runs.activeRun(sessionId)?.state, 'needs_input');
    assert.equal(owner.asked[0]?.params.sessionId, sessionId);
    assert.equal(owner.asked[0].params.toolCall.title, 'Delete everything');
    answer?.();
    await turn;
    const permission = (await home.entries(sessionId)).find(({ kind }) => kind === 'permission');
    assert.equal(permission?.status, 'completed');
    assert.equal(permission.ask?.answer, 'reject');
    assert.deepEqual(
      permission.ask.options.map(({ id }) => id),
      ['allow', 'always', 'reject'],
    );
    assert.equal(await last(), 'assistant: permission: reject');
    assert.equal(home.state(sessionId), 'idle');
  });

  it('asks another window of the same folder when the owner has gone, never one out of scope or restricted', async () => {
    const outside = home.client({}, { workspaces: ['/elsewhere'] });
    const restricted = home.client({}, { trusted: false });
    const window = home.client({});
    window.answer = () => allow('allow');
    owner.answer = (_params, signal) =>
      new Promise((_resolve, reject) => {
        if (!owner.connected || signal.aborted) reject(new Error('gone'));
        setTimeout(() => reject(new Error('gone')), 50);
      });
    await run('ask');
    assert.equal(owner.asked.length, 1);
    assert.equal(window.asked.length, 1);
    assert.equal(outside.asked.length + restricted.asked.length, 0);
    assert.equal(await last(), 'assistant: permission: allow');
  });

  it('waits while nobody is there, and asks who comes', async () => {
    home.clients.detach(owner);
    const turn = run('ask');
    await until(() => home.state(sessionId) === 'needs_input');
    await sleep(100);
    assert.equal(home.runs.activeCount, 1);
    const late = home.client({}, { workspaces: ['/elsewhere'] });
    assert.equal(late.asked.length, 0);
    const window = home.client({});
    assert.equal(window.asked.length, 1);
    home.runs.cancel(window, { sessionId });
    assert.deepEqual(await turn, { stopReason: 'cancelled' });
    assert.equal(window.asked[0]?.signal.aborted, true);
  });

  it('answers the agent with cancelled when the run is cancelled', async () => {
    const turn = run('ask');
    await until(() => owner.asked.length === 1);
    home.runs.cancel(owner, { sessionId });
    assert.deepEqual(await turn, { stopReason: 'cancelled' });
    assert.equal(owner.asked[0]?.signal.aborted, true);
    const permission = (await home.entries(sessionId)).find(({ kind }) => kind === 'permission');
    assert.equal(permission?.status, 'cancelled');
    assert.equal(await last(), 'assistant: permission: cancelled');
  });

  it('withdraws the question when the turn ends without waiting for the answer', async () => {
    assert.deepEqual(await run('asknot\necho bye'), { stopReason: 'end_turn' });
    await until(() => owner.asked[0]?.signal.aborted === true);
    await sleep(20);
    const entries = await home.entries(sessionId);
    assert.equal(entries.find(({ kind }) => kind === 'permission')?.status, 'cancelled');
    assert.equal(brief(entries).at(-1), 'assistant: bye');
    assert.equal(home.state(sessionId), 'idle');
    await run('echo again');
  });

  it('withdraws the question when the agent dies', async () => {
    const dying = run('ask').catch((error: unknown) => error);
    await until(() => owner.asked.length === 1);
    await home.runs.stopAll();
    await dying;
    assert.equal(owner.asked[0]?.signal.aborted, true);
    assert.equal(home.runs.activeCount, 0);
  });
});
