import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { testAgent } from '../support/agent_command.js';
import { brief, prompt, RunsHome, unaborted, until } from '../support/runs_home.js';
import type { TestClient } from '../support/test_client.js';

describe('runs: interjections', function () {
  this.timeout(20_000);
  let home: RunsHome;
  let client: TestClient;
  let sessionId: string;
  beforeEach(async () => {
    home = await RunsHome.open({ cancelMs: 400 });
  });
  afterEach(async () => {
    await home.close();
  });
  const open = async (...features: string[]) => {
    client = home.client({ a: testAgent({ features }) });
    ({ sessionId } = await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] }));
  };
  const run = (text: string) => home.runs.prompt(client, prompt(sessionId, text), unaborted);
  const interject = (text: string, more: Record<string, unknown> = {}) =>
    home.runs.interject(client, { sessionId, text, ...more });
  const states = () =>
    home.runs.interjections(client, { sessionId }).interjections.map(({ text, state }) => [text, state]);
  const announced = (id: string) =>
    client
      .heard('deck/interjection/update')
      .flatMap((item) => (item && typeof item === 'object' && 'interjectionId' in item ? [item] : []))
      .filter(({ interjectionId }) => interjectionId === id)
      .map((item) => ('state' in item ? item.state : ''));

  it('is idle without a run: nothing is sent, nothing is started', async () => {
    await open('steering');
    const receipt = await interject('hello', { interjectionId: 'i' });
    assert.deepEqual(receipt, { interjectionId: 'i', status: 'idle', generation: receipt.generation });
    await sleep(50);
    assert.deepEqual(await home.entries(sessionId), []);
    assert.deepEqual(announced('i'), ['idle']);
    assert.deepEqual(states(), []);
  });

  it('is injected into the running turn where the agent can steer', async () => {
    await open('steering');
    const turn = run('echo a\nsteer');
    await until(async () => (await home.entries(sessionId)).length === 2);
    const receipt = await interject('be brief', { interjectionId: 'i' });
    assert.equal(receipt.status, 'injected');
    assert.equal(receipt.runId?.length, 36);
    await turn;
    const entries = await home.entries(sessionId);
    assert.deepEqual(brief(entries), [
      'user: echo a\nsteer',
      'assistant: a',
      'user: be brief',
      'assistant: steered: be brief',
    ]);
    assert.equal(entries[2]?.interjection, true);
    assert.deepEqual(announced('i'), ['pending', 'injected']);
  });

  for (const features of [[], ['steering']])
    it(`is queued and goes first as a turn of its own, ${features.length > 0 ? 'when steering is refused' : 'without steering'}`, async () => {
      await open(...features);
      const turn = run('slow 150');
      await sleep(20);
      const first = await interject('refuse one', { interjectionId: '1' });
      const second = await interject('refuse two', { interjectionId: '2' });
      assert.deepEqual([first.status, second.status], ['queued', 'queued']);
      assert.deepEqual(states(), [
        ['refuse one', 'queued'],
        ['refuse two', 'queued'],
      ]);
      await turn;
      assert.ok(home.runs.activeRun(sessionId), 'the next turn has begun before anybody else can begin one');
      await until(() => home.runs.activeCount === 0);
      const entries = await home.entries(sessionId);
      assert.deepEqual(brief(entries), [
        'user: slow 150',
        'user: refuse one',
        'assistant: You said: refuse one',
        'user: refuse two',
        'assistant: You said: refuse two',
      ]);
      assert.equal(entries[1]?.interjection, undefined, 'a prompt of its own turn');
      assert.equal((await home.turns(sessionId)).length, 3);
      assert.deepEqual(announced('1'), ['pending', 'queued', 'injected']);
      assert.deepEqual(states(), []);
    });

  it('is handed back when the run is cancelled, fails or its agent dies', async () => {
    await open();
    const ends: [string, () => void][] = [
      ['wait', () => home.runs.cancel(client, { sessionId })],
      ['slow 100\nerror no', () => undefined],
      ['slow 100\ndie', () => undefined],
    ];
    for (const [script, end] of ends) {
      const turn = run(script).catch(() => undefined);
      await sleep(20);
      const { interjectionId, status } = await interject(`text of ${script}`);
      assert.equal(status, 'queued');
      end();
      await turn;
      assert.deepEqual(announced(interjectionId), ['pending', 'queued', 'returned']);
      home.runs.discardInterjection(client, { sessionId, interjectionId });
      assert.deepEqual(announced(interjectionId).at(-1), 'discarded');
      assert.deepEqual(states(), []);
    }
    await sleep(50);
    assert.ok(
      !brief(await home.entries(sessionId))
        .join()
        .includes('text of'),
    );
  });

  it('is not lost when the run ends while the agent is asked to take it', async () => {
    await open('steering');
    const turn = run('slow 60');
    await sleep(20);
    const asked = interject('slowly, after the end', { interjectionId: 'i' });
    await turn;
    assert.equal((await asked).status, 'injected');
    await until(() => home.runs.activeCount === 0);
    assert.deepEqual(announced('i'), ['pending', 'queued', 'injected']);
    assert.equal(brief(await home.entries(sessionId)).at(-1), 'assistant: You said: slowly, after the end');
    const cancelled = run('wait');
    await sleep(20);
    const late = interject('slowly, too late', { interjectionId: 'j' });
    await sleep(20);
    home.runs.cancel(client, { sessionId });
    await cancelled;
    assert.equal((await late).status, 'idle');
    assert.deepEqual(announced('j'), ['pending', 'queued', 'returned']);
  });

  it('does nothing again for an id that it knows, and refuses the id for another text', async () => {
    await open('steering');
    const turn = run('steer\nsteer');
    await sleep(50);
    const [first, second] = await Promise.all([
      interject('once', { interjectionId: 'i' }),
      interject('once', { interjectionId: 'i' }),
    ]);
    const third = await interject('once', { interjectionId: 'i' });
    assert.equal(first.status, 'injected');
    assert.equal(second.status, 'queued');
    assert.deepEqual(third, first);
    await assert.rejects(interject('other', { interjectionId: 'i' }), { code: 'operation_conflict' });
    home.runs.cancel(client, { sessionId });
    await turn;
    assert.equal(brief(await home.entries(sessionId)).filter((line) => line === 'user: once').length, 1);
  });

  it('refuses another run and another generation than expected', async () => {
    await open();
    await assert.rejects(interject('x', { expectedRunId: 'gone' }), { code: 'no_active_run' });
    const turn = run('slow 150');
    const active = home.runs.activeRun(sessionId);
    await assert.rejects(interject('x', { expectedRunId: 'gone' }), {
      code: 'no_active_run',
      details: { runId: active?.runId },
    });
    await assert.rejects(interject('x', { expectedGeneration: 99 }), { code: 'generation_stale' });
    assert.deepEqual(states(), []);
    assert.equal((await interject('x', { expectedRunId: active?.runId })).status, 'queued');
    await turn;
  });

  it('takes back a queued one, and not one that was sent', async () => {
    await open();
    const turn = run('slow 150');
    await sleep(20);
    await interject('regretted', { interjectionId: 'i' });
    home.runs.discardInterjection(client, { sessionId, interjectionId: 'i' });
    await interject('meant', { interjectionId: 'j' });
    await turn;
    await until(() => home.runs.activeCount === 0);
    assert.ok(
      !brief(await home.entries(sessionId))
        .join()
        .includes('regretted'),
    );
    assert.throws(() => home.runs.discardInterjection(client, { sessionId, interjectionId: 'j' }), {
      code: 'already_resolved',
    });
    assert.throws(() => home.runs.discardInterjection(client, { sessionId, interjectionId: 'nobody' }), {
      code: 'task_unavailable',
    });
  });

  it('takes a megabyte of text whole', async () => {
    await open();
    const turn = run('slow 100');
    const text = `echo ${'ü'.repeat(500_000)}`;
    await sleep(20);
    await interject(text);
    await turn;
    await until(() => home.runs.activeCount === 0, 10_000);
    const [, user, answer] = brief(await home.entries(sessionId));
    assert.equal(user?.length, text.length + 'user: '.length);
    assert.ok((answer?.length ?? 0) > 500_000);
  });

  it('is handed back by the next service when this one was killed', async () => {
    await open();
    void run('wait').catch(() => undefined);
    await sleep(50);
    await interject('survivor');
    await home.crash();
    assert.deepEqual(states(), [['survivor', 'returned']]);
  });

  it('tells nobody who may not see the session', async () => {
    await open();
    const outside = home.client({}, { workspaces: ['/elsewhere'] });
    await interject('secret');
    assert.equal(outside.notifications.length, 0);
    await assert.rejects(home.runs.interject(outside, { sessionId, text: 'x' }), {
      code: 'session_unavailable',
    });
  });

  it('takes nothing from a restricted window', async () => {
    await open('steering');
    const restricted = home.client({ a: testAgent() }, { trusted: false });
    const turn = run('slow 300');
    await until(() => home.runs.activeRun(sessionId) !== undefined);
    await assert.rejects(home.runs.interject(restricted, { sessionId, text: 'do it' }), {
      code: 'forbidden',
    });
    await turn;
    assert.deepEqual(states(), []);
    assert.deepEqual(brief(await home.entries(sessionId)), ['user: slow 300']);
  });
});
