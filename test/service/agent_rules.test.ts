import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DomainError } from '../../src/protocol/errors.js';
import { testAgent } from '../support/agent_command.js';
import { brief, prompt, RunsHome, unaborted } from '../support/runs_home.js';
import type { TestClient } from '../support/test_client.js';

describe('agents as a client sees them', function () {
  this.timeout(30_000);
  let home: RunsHome;
  beforeEach(async () => {
    home = await RunsHome.open({ cancelMs: 400 }, { initializeMs: 10_000 });
  });
  afterEach(() => home.close());

  const begin = async (client: TestClient, _meta?: { agent: string }) =>
    home.runs.newSession(client, { cwd: home.dir, mcpServers: [], ...(_meta ? { _meta } : {}) });

  it('are those that are set, then those that are known', async () => {
    const client = home.client(
      {
        mine: testAgent({ title: 'Mine' }),
        gone: { command: '/no/such/program', args: ['a b'] },
        'claude-acp': { type: 'registry' },
        odd: { type: 'registry' },
      },
      { trusted: false },
    );
    client.options.config.defaultAgent = 'gone';
    const { agents } = await home.agents.list(client);
    assert.deepEqual(
      agents.slice(0, 4).map(({ id, title, configured, running }) => ({ id, title, configured, running })),
      [
        { id: 'mine', title: 'Mine', configured: true, running: false },
        { id: 'gone', title: 'gone', configured: true, running: false },
        { id: 'claude-acp', title: 'Claude Code', configured: true, running: false },
        { id: 'odd', title: 'odd', configured: true, running: false },
      ],
    );
    const [mine, gone, , odd] = agents;
    assert.ok(mine && gone && odd);
    assert.equal(mine.installed, true);
    assert.equal(gone.installed, false);
    assert.equal(gone.default, true);
    assert.equal(gone.commandLine, '/no/such/program "a b"');
    assert.match(gone.hint ?? '', /not on the PATH/);
    assert.match(odd.hint ?? '', /none is known for it/);
    const rest = agents.slice(4).map(({ id }) => id);
    assert.ok(rest.includes('codex') && rest.includes('cline') && !rest.includes('claude-code'));
  });

  it('tell what they announce when they are asked, and how to sign in', async () => {
    const definition = testAgent({ features: ['resume', 'fork', 'image', 'http', 'logout'] });
    const client = home.client({ a: definition });
    const details = await home.agents.details(client, { agent: 'a' });
    assert.equal(details.name, 'Scripted agent');
    assert.equal(details.version, '1.0.0');
    assert.deepEqual(details.capabilities, ['resume', 'fork', 'images', 'MCP over HTTP', 'logout']);
    assert.deepEqual(
      details.authMethods.map(({ id }) => id),
      ['login', 'refused', 'browser'],
    );
    assert.deepEqual(details.authMethods[2]?.terminal, {
      command: definition.command,
      args: [...(definition.args ?? []), '--login'],
      env: { ...definition.env, LOGIN: '1' },
    });
    assert.equal((await home.agents.list(client)).agents[0]?.running, true);
    await assert.rejects(home.agents.details(client, { agent: 'x' }), {
      code: 'invalid_params',
      details: { field: 'agent' },
    });
    const restricted = home.client({ a: definition }, { trusted: false });
    await assert.rejects(home.agents.details(restricted, { agent: 'a' }), { code: 'forbidden' });
  });

  it('are signed in to, and then begin what they refused before', async () => {
    const client = home.client({ a: testAgent({ start: 'auth' }) });
    await assert.rejects(begin(client), (error) => {
      assert.ok(error instanceof DomainError);
      assert.equal(error.details['authRequired'], true);
      assert.deepEqual(error.details['authMethods'], [
        { id: 'login', name: 'Log in with a key' },
        { id: 'refused', name: 'Log in with a wrong key' },
        { id: 'browser', name: 'Log in with a browser' },
      ]);
      return true;
    });
    const signIn = (methodId: string) =>
      home.agents.authenticate(client, { agent: 'a', methodId }, unaborted);
    await assert.rejects(signIn('nothing'), { code: 'invalid_params', details: { field: 'methodId' } });
    await assert.rejects(signIn('refused'), {
      code: 'agent_failed',
      message: 'Scripted agent answered with an error: the key is not valid',
    });
    await signIn('login');
    assert.ok((await begin(client)).sessionId);
  });

  it('begin with the mode and model of the settings, where they have them', async () => {
    const dir = await realpath(await mkdtemp(join(tmpdir(), 'agent-')));
    const defaults = { default_mode: 'code', default_model: 'scripted-2' };
    const client = home.client({
      a: { ...testAgent({ features: ['modes', 'options'], dir }), ...defaults },
      b: { ...testAgent({ features: ['close'] }), ...defaults },
    });
    const { sessionId, modes } = await begin(client, { agent: 'a' });
    assert.equal(modes?.currentModeId, 'code');
    await home.runs.prompt(client, prompt(sessionId, 'controls'), unaborted);
    assert.match(brief(await home.entries(sessionId)).at(-1) ?? '', /"mode":"code","model":"scripted-2"/);
    const plain = await begin(client, { agent: 'b' });
    assert.equal(plain.modes, undefined);
    assert.deepEqual(home.problems, []);
    await rm(dir, { recursive: true, force: true });
  });

  it('start again after a crash, and say so when they have lost the session', async () => {
    const dir = await realpath(await mkdtemp(join(tmpdir(), 'agent-')));
    for (const features of [['resume'], ['modes', 'options']]) {
      const client = home.client({ a: testAgent({ features, dir }) });
      const { sessionId } = await begin(client);
      const run = (text: string) => home.runs.prompt(client, prompt(sessionId, text), unaborted);
      await run('echo remember me');
      if (features.includes('modes')) await home.runs.controls.setMode(client, { sessionId, modeId: 'code' });
      await assert.rejects(run('die'), { code: 'agent_failed', message: /exit code 3/ });
      await run('recall\nechos');
      await run('echo over');
      const said = brief(await home.entries(sessionId));
      const notices = said.filter((line) => line.startsWith('notice: ') && line.includes('began anew'));
      if (features.includes('resume')) {
        assert.deepEqual(notices, []);
        assert.ok(said.some((line) => line.includes('2 before, last: die')));
      } else {
        assert.equal(notices.length, 1);
        // What was chosen before is chosen again.
        assert.equal(home.runs.controls.known(sessionId).modes?.currentModeId, 'code');
      }
    }
    await rm(dir, { recursive: true, force: true });
  });
});
