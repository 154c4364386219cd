import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { TOOLING_SCHEMA } from '../../src/protocol/aster.js';
import { Tooling } from '../../src/protocol/controls.js';
import { testAgent } from '../support/agent_command.js';
import { prompt, RunsHome, unaborted, until } from '../support/runs_home.js';
import type { TestClient } from '../support/test_client.js';

const Updates = z.array(Tooling.extend({ sessionId: z.string() }));

describe('modes, options and the tool catalogue', function () {
  this.timeout(30_000);
  let home: RunsHome;
  let dir: string;
  beforeEach(async () => {
    dir = await realpath(await mkdtemp(join(tmpdir(), 'agent-')));
    home = await RunsHome.open({ cancelMs: 400, openMs: 5000 }, { initializeMs: 5000 });
  });
  afterEach(async () => {
    await home.close();
    await rm(dir, { recursive: true, force: true });
  });

  const agent = (...features: string[]) => ({ a: testAgent({ features, dir }) });
  const begin = (client: TestClient, more: Record<string, unknown> = {}) =>
    home.runs.newSession(client, { cwd: home.dir, mcpServers: [], ...more });
  const run = (client: TestClient, sessionId: string, text: string) =>
    home.runs.prompt(client, prompt(sessionId, text), unaborted);
  const tooling = (client: TestClient, sessionId: string, cwd = home.dir) =>
    home.runs.controls.tooling(client, {
      schema: TOOLING_SCHEMA,
      sessionId,
      operationId: 'o',
      cwd,
    });
  /** What the agent said last. */
  const said = async (sessionId: string) => {
    const entries = await home.entries(sessionId);
    const last = entries.findLast(({ kind }) => kind === 'assistant')?.content[0];
    return last?.type === 'text' ? last.text : undefined;
  };
  const updates = (client: TestClient) => Updates.parse(client.heard('aster/session/tooling/update'));

  it('tells them with the answer to session/new, and sets them in the agent', async () => {
    const client = home.client(agent('modes', 'options'), { surface: 'acp' });
    const { sessionId, modes, configOptions } = await begin(client);
    assert.equal(modes?.currentModeId, 'ask');
    assert.deepEqual(
      configOptions?.map(({ id }) => id),
      ['model', 'effort', 'fast'],
    );
    await home.runs.controls.setMode(client, { sessionId, modeId: 'code' });
    const set = (configId: string, value: string) =>
      home.runs.controls.setConfigOption(client, { sessionId, configId, value });
    await set('effort', 'high');
    const answer = await home.runs.controls.setConfigOption(client, {
      sessionId,
      configId: 'fast',
      type: 'boolean',
      value: true,
    });
    await set('model', 'scripted-2');
    assert.deepEqual(
      answer.configOptions.map(({ currentValue }) => currentValue),
      ['scripted-1', 'high', true],
    );
    await run(client, sessionId, 'controls');
    assert.equal(
      await said(sessionId),
      JSON.stringify({ mode: 'code', model: 'scripted-2', effort: 'high', fast: true }),
    );
    const now = tooling(client, sessionId);
    assert.equal(now.modes?.currentModeId, 'code');
    assert.equal(now.live, true);
    assert.equal((await home.listed())[0]?.model, 'scripted-2');
  });

  it('refuses what the agent does not offer, and names the field', async () => {
    const client = home.client(agent('modes', 'options'));
    const { sessionId } = await begin(client);
    const controls = home.runs.controls;
    await assert.rejects(controls.setMode(client, { sessionId, modeId: 'x' }), {
      code: 'invalid_params',
      details: { field: 'modeId' },
    });
    await assert.rejects(controls.setConfigOption(client, { sessionId, configId: 'x', value: 'y' }), {
      code: 'invalid_params',
      details: { field: 'configId' },
    });
    for (const [configId, value] of [
      ['effort', 'x'],
      ['fast', 'true'],
    ] as const)
      await assert.rejects(controls.setConfigOption(client, { sessionId, configId, value }), {
        code: 'invalid_params',
        details: { field: 'value' },
      });
    await assert.rejects(controls.setMode(client, { sessionId, modeId: 'locked' }), {
      code: 'agent_failed',
      message: 'Scripted agent answered with an error: this mode is locked',
    });
    assert.equal(tooling(client, sessionId).modes?.currentModeId, 'ask');

    const other = home.client({ b: testAgent({ features: ['models'] }) });
    const plain = await begin(other);
    await assert.rejects(controls.setMode(other, { sessionId: plain.sessionId, modeId: 'ask' }), {
      code: 'not_supported',
    });
  });

  it('sets the model of an older agent through session/set_model', async () => {
    const client = home.client(agent('models', 'resume'));
    const { sessionId, configOptions } = await begin(client);
    assert.equal(configOptions?.[0]?.category, 'model');
    const set = () =>
      home.runs.controls.setConfigOption(client, { sessionId, configId: 'model', value: 'scripted-2' });
    assert.equal((await set()).configOptions[0]?.currentValue, 'scripted-2');
    await run(client, sessionId, 'controls');
    assert.match((await said(sessionId)) ?? '', /"model":"scripted-2"/);
    // Another process, which tells its models anew.
    await home.crash();
    const again = home.client(agent('models', 'resume'));
    await home.runs.controls.open(again, { sessionId });
    await home.runs.controls.setConfigOption(again, { sessionId, configId: 'model', value: 'scripted-2' });
    await run(again, sessionId, 'controls');
    assert.match((await said(sessionId)) ?? '', /"model":"scripted-2"/);
  });

  it('tells changes to everybody else once, whether or not the agent does', async () => {
    for (const features of [
      ['modes', 'options', 'silentmodes'],
      ['modes', 'options'],
    ]) {
      const client = home.client(agent(...features), { surface: 'acp' });
      const { sessionId } = await begin(client);
      const other = home.client(agent(...features), { surface: 'acp' });
      home.runs.resume(other, { sessionId, cwd: home.dir, mcpServers: [] });
      await home.runs.controls.setMode(client, { sessionId, modeId: 'code' });
      await home.runs.controls.setConfigOption(client, { sessionId, configId: 'effort', value: 'high' });
      const kinds = () => other.updates.map(({ update }) => update['sessionUpdate']);
      await until(() => kinds().length >= 2);
      assert.deepEqual(
        kinds().filter((kind) => kind !== 'available_commands_update'),
        ['current_mode_update', 'config_option_update'],
      );
    }
  });

  it('grows the generation with every change and only then, also across a restart', async () => {
    const client = home.client(agent('modes', 'options', 'resume'));
    const { sessionId } = await begin(client);
    const first = tooling(client, sessionId);
    assert.ok(first.generation > 0);
    assert.deepEqual(tooling(client, sessionId), first);
    await run(client, sessionId, 'mode code\noption effort high\ncommands plan review');
    const second = tooling(client, sessionId);
    assert.ok(second.generation > first.generation);
    assert.notEqual(second.catalog.id, first.catalog.id);
    assert.equal(second.modes?.currentModeId, 'code');
    assert.deepEqual(
      second.commands.map(({ name }) => name),
      ['plan', 'review'],
    );
    await run(client, sessionId, 'mode code\ncommands plan review');
    assert.equal(tooling(client, sessionId).generation, second.generation);

    await home.crash();
    const again = home.client(agent('modes', 'options', 'resume'));
    assert.deepEqual(tooling(again, sessionId), { ...second, live: false });
    assert.equal(
      home.runs.resume(again, { sessionId, cwd: home.dir, mcpServers: [] }).modes?.currentModeId,
      'code',
    );
    const opened = await home.runs.controls.open(again, { sessionId });
    assert.equal(opened.live, true);
    assert.ok(opened.generation > second.generation, 'another mode, so another generation');
    assert.equal(opened.modes?.currentModeId, 'ask');
  });

  it('tells every new generation whole, and grown, to those who asked', async () => {
    const client = home.client(agent('modes', 'options'));
    const stranger = home.client(agent('modes'));
    const { sessionId } = await begin(client);
    const before = tooling(client, sessionId).generation;
    for (let i = 0; i < 5; i += 1)
      await run(client, sessionId, `mode ${i % 2 ? 'ask' : 'code'}\nslow 80\ncommands c${i}\nslow 80`);
    const heard = updates(client);
    assert.ok(heard.length >= 5);
    let last = before;
    for (const { generation } of heard) {
      assert.ok(generation > last, `${String(generation)} after ${String(last)}`);
      last = generation;
    }
    assert.deepEqual(heard.at(-1), { ...Tooling.parse(tooling(client, sessionId)), sessionId });
    assert.equal(updates(stranger).length, 0);
  });

  it('lists what the host offers, MCP servers and why they are not there', async () => {
    const client = home.client(agent('http'));
    const mcpServers = [
      { name: 'files', command: 'mcp-files', args: [], env: [{ name: 'TOKEN', value: 'secret-of-files' }] },
      { type: 'http', name: 'web', url: 'https://mcp.example', headers: [] },
      { type: 'sse', name: 'old', url: 'https://sse.example', headers: [] },
    ];
    const { sessionId } = await begin(client, { mcpServers });
    assert.deepEqual(tooling(client, sessionId).mcp, [
      { server: 'files', available: true, reason: 'Scripted agent has not said whether it runs.' },
      { server: 'web', available: true, reason: 'Scripted agent has not said whether it runs.' },
      { server: 'old', available: false, reason: 'Scripted agent takes no MCP servers over SSE.' },
    ]);
    assert.deepEqual(
      tooling(client, sessionId).tools.map(({ name, origin, available }) => [name, origin, available]),
      [
        ['fs', 'host', true],
        ['terminal', 'host', true],
        ['elicitation', 'host', true],
      ],
    );
    await run(client, sessionId, 'mcpfail files\nmcpnotice web\nopened');
    assert.deepEqual(tooling(client, sessionId).mcp.slice(0, 2), [
      { server: 'files', available: false, reason: 'files failed to start: ENOENT' },
      { server: 'web', available: false, reason: 'MCP server "web" failed to start' },
    ]);
    const opened = (await said(sessionId)) ?? '';
    assert.match(opened, /secret-of-files/);
    assert.doesNotMatch(opened, /sse\.example/);
  });

  it('lists the tools that Claude Code tells when it is asked', async () => {
    const client = home.client(agent('claude'));
    const { sessionId } = await begin(client, {
      mcpServers: [{ name: 'db', command: 'db', args: [], env: [] }],
    });
    await run(client, sessionId, 'echo hi');
    await until(() => tooling(client, sessionId).tools.length > 3);
    const { tools, mcp } = tooling(client, sessionId);
    assert.deepEqual(tools.slice(0, 3), [
      { name: 'Read', origin: 'agent', available: true },
      { name: 'Bash', origin: 'agent', available: true },
      { name: 'mcp__files__list', origin: 'mcp:files', available: true },
    ]);
    assert.deepEqual(mcp, [
      { server: 'db', available: false, reason: 'Its state is "failed".' },
      { server: 'files', available: true },
    ]);
  });

  it('gives a session the same MCP servers again in the same service, and keeps them nowhere', async () => {
    const mcpServers = [{ name: 'files', command: 'x', args: [], env: [{ name: 'T', value: 's3cret' }] }];
    const client = home.client(agent('resume', 'close', 'dirs'), { surface: 'acp' });
    const { sessionId } = await begin(client, {
      mcpServers,
      additionalDirectories: [join(home.dir, 'more')],
    });
    await home.runs.close(client, { sessionId });
    await run(client, sessionId, 'opened');
    const opened: unknown = JSON.parse((await said(sessionId)) ?? '{}');
    assert.deepEqual(opened, {
      cwd: home.dir,
      mcpServers,
      additionalDirectories: [join(home.dir, 'more')],
    });
    await home.crash();
    const again = home.client(agent('resume'), { surface: 'acp' });
    await run(again, sessionId, 'opened');
    assert.deepEqual(JSON.parse((await said(sessionId)) ?? '{}'), { cwd: home.dir, mcpServers: [] });
  });

  it('begins a fork with what was chosen in its parent', async () => {
    const client = home.client(agent('modes', 'options'));
    const { sessionId } = await begin(client);
    await run(client, sessionId, 'echo hi');
    await home.runs.controls.setMode(client, { sessionId, modeId: 'code' });
    await home.runs.controls.setConfigOption(client, { sessionId, configId: 'effort', value: 'high' });
    const fork = await home.sessions.forkHead(
      client,
      { sessionId, cwd: home.dir, mcpServers: [] },
      unaborted,
    );
    await run(client, fork.sessionId, 'controls');
    assert.match((await said(fork.sessionId)) ?? '', /"mode":"code".*"effort":"high"/);
  });

  it('keeps to scope, folder and trust', async () => {
    const client = home.client(agent('modes'));
    const { sessionId } = await begin(client);
    assert.throws(() => tooling(client, sessionId, '/'), { code: 'session_unavailable' });
    assert.throws(() => tooling(client, 'unknown'), { code: 'session_unavailable' });
    const outside = home.client(agent('modes'), { workspaces: ['/nowhere'] });
    assert.throws(() => tooling(outside, sessionId), { code: 'session_unavailable' });
    await assert.rejects(home.runs.controls.open(outside, { sessionId }), { code: 'session_unavailable' });
    const restricted = home.client(agent('modes'), { trusted: false });
    assert.equal(tooling(restricted, sessionId).modes?.currentModeId, 'ask');
    await assert.rejects(home.runs.controls.open(restricted, { sessionId }), { code: 'forbidden' });
    await assert.rejects(home.runs.controls.setMode(restricted, { sessionId, modeId: 'code' }), {
      code: 'forbidden',
    });
  });
});

describe('prompts that an agent does not take as they are', function () {
  this.timeout(20_000);

  it('are handed over in a form that it takes', async () => {
    const home = await RunsHome.open({}, { initializeMs: 5000 });
    try {
      const blocks = [
        { type: 'image', data: 'AAAA', mimeType: 'image/png', uri: 'file:///tmp/shot.png' },
        { type: 'resource', resource: { uri: 'file:///tmp/a.txt', text: 'inside' } },
        { type: 'text', text: 'blocks' },
      ];
      const heard = async (...features: string[]) => {
        const client = home.client({ a: testAgent({ features }) });
        const { sessionId } = await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] });
        await home.runs.prompt(client, { sessionId, prompt: blocks }, unaborted);
        const entries = await home.entries(sessionId);
        assert.equal(entries[0]?.content[0]?.type, 'image', 'the transcript keeps what was typed');
        const said = entries.at(-1)?.content[0];
        return z.unknown().parse(JSON.parse(said?.type === 'text' ? said.text : ''));
      };
      assert.deepEqual(await heard('image', 'embed'), blocks);
      assert.deepEqual(await heard('audio'), [
        { type: 'resource_link', uri: 'file:///tmp/shot.png', name: 'shot.png', mimeType: 'image/png' },
        { type: 'text', text: '<attachment uri="file:///tmp/a.txt">\ninside\n</attachment>' },
        { type: 'text', text: 'blocks' },
      ]);
    } finally {
      await home.close();
    }
  });
});
