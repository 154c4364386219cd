import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOOLING_SCHEMA } from '../../src/protocol/aster.js';
import { badAgent, type BadKind } from '../support/bad_agent.js';
import { brief, prompt, RunsHome, unaborted, until } from '../support/runs_home.js';
import { isAlive } from '../support/service.js';
import type { TestClient } from '../support/test_client.js';

describe('agents that speak the protocol badly', function () {
  this.timeout(60_000);
  let home: RunsHome;
  let dir: string;
  let pids: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'bad-'));
    pids = join(dir, 'pids');
    home = await RunsHome.open({ openMs: 1500, cancelMs: 500 }, { initializeMs: 20_000 });
  });
  afterEach(async () => {
    await home.close();
    const started = (await readFile(pids, 'utf8')).split('\n').filter(Boolean).map(Number);
    assert.ok(started.length > 0);
    await until(() => !started.some(isAlive));
    await rm(dir, { recursive: true, force: true });
  });

  const clientOf = (kind: BadKind) => home.client({ a: badAgent(kind, pids) });
  const begin = async (client: TestClient) =>
    (await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] })).sessionId;
  const run = (client: TestClient, sessionId: string, text: string) =>
    home.runs.prompt(client, prompt(sessionId, text), unaborted);

  for (const kind of ['twice', 'huge', 'utf8', 'stderr', 'endless', 'updates', 'ask'] as const)
    it(`go on when what they write is ${kind}`, async () => {
      const client = clientOf(kind);
      const id = await begin(client);
      const other = await begin(client);
      const [result] = await Promise.all([run(client, id, 'go'), run(client, other, 'go too')]);
      assert.deepEqual(result, { stopReason: 'end_turn' });
      await run(client, other, 'again');
      const said = brief(await home.entries(id));
      assert.equal(said[0], 'user: go');
      assert.ok(said.at(-1)?.endsWith('done'), said.at(-1));
      assert.deepEqual(
        brief(await home.entries(other)).filter((line) => line.startsWith('user: ')),
        ['user: go too', 'user: again'],
      );
      const { commands, modes, configOptions } = home.runs.controls.tooling(client, {
        schema: TOOLING_SCHEMA,
        sessionId: id,
        operationId: 'o',
        cwd: home.dir,
      });
      assert.equal(commands.length, kind === 'endless' ? 1000 : 0);
      assert.deepEqual([modes, configOptions], [undefined, []]);
      assert.deepEqual(home.problems, []);
    });

  it('get the right answers to the right turns when they answer out of order', async () => {
    const client = clientOf('order');
    const [first, second] = [await begin(client), await begin(client)];
    const ends: string[] = [];
    const one = run(client, first, 'one').then(() => ends.push('first'));
    await until(() => home.runs.activeRun(first) !== undefined);
    await until(async () => (await home.entries(first)).length === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const two = run(client, second, 'two').then(() => ends.push('second'));
    await Promise.all([one, two]);
    assert.deepEqual(ends, ['second', 'first']);
    assert.deepEqual(brief(await home.entries(first)), ['user: one', 'assistant: done']);
  });

  it('fail the turn with a sentence when its end makes no sense', async () => {
    const client = clientOf('end');
    const id = await begin(client);
    await assert.rejects(run(client, id, 'go'), {
      code: 'agent_failed',
      message: 'Bad agent end ended the turn with an answer that makes no sense.',
    });
    assert.equal(home.state(id), 'failed');
  });

  it('leave no session behind when they cannot begin one, and say why', async () => {
    for (const [kind, code, message] of [
      ['newtypes', 'agent_failed', /answered session\/new with something else than a session/],
      ['deaf', 'agent_failed', /did not answer session\/new within 2 s/],
      ['types', 'agent_unavailable', /its answer to initialize is not understood/],
      ['exit', 'agent_unavailable', /it ended with exit code 4 — no licence/],
    ] as const) {
      await assert.rejects(begin(clientOf(kind)), { code, message });
      assert.equal(home.sessionCount, 0);
    }
  });

  it('are not started for ever when they end right after their start', async () => {
    const client = clientOf('gone');
    const errors: string[] = [];
    for (let i = 0; i < 6; i += 1)
      await begin(client).catch((error: unknown) => {
        errors.push(String(error));
        return new Promise((resolve) => setTimeout(resolve, 100));
      });
    const started = (await readFile(pids, 'utf8')).split('\n').filter(Boolean);
    assert.ok(started.length <= 5, `started ${String(started.length)} times`);
    assert.match(errors.at(-1) ?? '', /right after its start.*exit code 6/);
  });

  it('take nothing with them that they started when they die in a turn', async () => {
    const client = clientOf('child');
    const id = await begin(client);
    await assert.rejects(run(client, id, 'go'), { code: 'agent_failed', message: /exit code 5/ });
    const started = (await readFile(pids, 'utf8')).split('\n').filter(Boolean).map(Number);
    assert.equal(started.length, 2);
    await until(() => !started.some(isAlive));
  });

  it('are asked for nothing that they did not announce', async () => {
    const client = clientOf('twice');
    const id = await begin(client);
    const { controls } = home.runs;
    await run(client, id, 'go');
    await controls.open(client, { sessionId: id });
    await assert.rejects(controls.setMode(client, { sessionId: id, modeId: 'x' }), { code: 'not_supported' });
    const option = { sessionId: id, configId: 'model', value: 'x' };
    await assert.rejects(controls.setConfigOption(client, option), { code: 'not_supported' });
    await assert.rejects(home.agents.authenticate(client, { agent: 'a', methodId: 'x' }, unaborted), {
      code: 'invalid_params',
    });
    await home.runs.close(client, { sessionId: id });
    await run(client, id, 'go on');
    const methods = (await readFile(`${pids}.methods`, 'utf8')).split('\n').filter(Boolean);
    assert.deepEqual([...new Set(methods)].sort(), ['initialize', 'session/new', 'session/prompt']);
  });
});
