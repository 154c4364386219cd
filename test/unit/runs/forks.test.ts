import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PREFIX_FORK_SCHEMA } from '../../../src/protocol/aster.js';
import { testAgent, type TestAgentOptions } from '../../support/agent_command.js';
import { brief, prompt, RunsHome, unaborted } from '../../support/runs_home.js';
import type { TestClient } from '../../support/test_client.js';

const FORKS = ['close', 'load', 'resume', 'list', 'fork'];

describe('forks in their agent', function () {
  this.timeout(20_000);
  let home: RunsHome;
  let dir: string;
  let calls: string;
  beforeEach(async () => {
    home = await RunsHome.open({ quietMs: 40 });
    dir = join(home.userHome, 'agent');
    calls = join(home.userHome, 'calls.log');
  });
  afterEach(async () => {
    assert.deepEqual(home.problems, []);
    await home.close();
  });

  const agent = (options: TestAgentOptions = {}) =>
    testAgent({ dir, features: FORKS, ...options, env: { AGENT_LOG: calls, ...options.env } });
  const clientOf = (options: TestAgentOptions = {}): TestClient =>
    home.client(
      { scripted: agent(options), other: testAgent({ title: 'Other agent' }) },
      {
        config: {
          agents: { scripted: agent(options), other: testAgent({ title: 'Other agent' }) },
          defaultAgent: 'scripted',
        },
      },
    );
  const parentOf = async (client: TestClient, ...prompts: string[]): Promise<string> => {
    const { sessionId } = await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] });
    for (const text of prompts) await home.runs.prompt(client, prompt(sessionId, text), unaborted);
    return sessionId;
  };
  const forkOf = async (
    client: TestClient,
    sessionId: string,
    meta?: Record<string, unknown>,
  ): Promise<string> =>
    (
      await home.sessions.forkHead(
        client,
        { sessionId, cwd: home.dir, mcpServers: [], ...(meta ? { _meta: meta } : {}) },
        unaborted,
      )
    ).sessionId;
  const prefixFork = async (
    client: TestClient,
    sessionId: string,
    turn: number,
    target: string,
    agentId?: string,
  ) => {
    const boundary = (await home.turns(sessionId))[turn - 1]?.boundaryEntryId;
    assert.ok(boundary);
    await home.sessions.fork(client, {
      schema: PREFIX_FORK_SCHEMA,
      sessionId,
      operationId: target,
      request: {
        boundary_entry_id: boundary,
        expected_cut: home.sessions.info(client, { sessionId }).cut,
        target_session_id: target,
        expected_workspace: { cwd: home.dir },
      },
      ...(agentId === undefined ? {} : { _meta: { agent: agentId } }),
    });
    return target;
  };
  const say = (client: TestClient, sessionId: string, text: string) =>
    home.runs.prompt(client, prompt(sessionId, text), unaborted);
  const told = async (sessionId: string) => brief(await home.entries(sessionId));
  const called = (method: string) =>
    existsSync(calls)
      ? readFileSync(calls, 'utf8')
          .split('\n')
          .filter((line) => line.startsWith(`${method} `))
      : [];

  it('from the last turn go on natively, and the parent goes on as if nothing was', async () => {
    const client = clientOf();
    const parent = await parentOf(client, 'echo one', 'echo two');
    const fork = await forkOf(client, parent);
    assert.deepEqual(await told(fork), await told(parent));
    assert.equal(called('session/fork').length, 0, 'nothing is asked of the agent before the first prompt');
    await say(client, fork, 'recall');
    assert.deepEqual((await told(fork)).slice(4), ['user: recall', 'assistant: 2 before, last: echo two']);
    assert.equal(called('session/fork').length, 1);
    assert.equal(readdirSync(dir).length, 2);
    await say(client, parent, 'recall');
    assert.deepEqual((await told(parent)).slice(4), ['user: recall', 'assistant: 2 before, last: echo two']);
    await say(client, fork, 'recall');
    assert.equal((await told(fork)).at(-1), 'assistant: 3 before, last: recall');
    assert.equal(called('session/fork').length, 1);
  });

  it('are rows of their own with the parent, the agent, the model and what was chosen in it', async () => {
    const client = clientOf();
    const parent = await parentOf(client, 'echo one');
    const { sessionId: fork, configOptions } = await home.sessions.forkHead(
      client,
      { sessionId: parent, cwd: home.dir, mcpServers: [] },
      unaborted,
    );
    assert.equal(configOptions?.[0]?.id, 'model');
    const row = (await home.listed()).find(({ sessionId }) => sessionId === fork);
    assert.deepEqual(
      [row?.agent, row?.model, row?.parent?.sessionId, row?.parent?.relation, row?.title],
      ['scripted', 'scripted-1', parent, 'fork', 'echo one'],
    );
  });

  it('at an earlier turn, or of a parent that went on, are handed over, and the transcript says so', async () => {
    const client = clientOf();
    const parent = await parentOf(client, 'echo one', 'echo two');
    const early = await prefixFork(client, parent, 1, 'early');
    await say(client, early, 'heard');
    const [first, answer, asked, notice, heard] = await told(early);
    assert.deepEqual([first, answer, asked], ['user: echo one', 'assistant: one', 'user: heard']);
    assert.equal(notice, 'notice: Scripted agent was handed the conversation before this fork as text.');
    assert.match(heard ?? '', /User: echo one\n\nAssistant: one\n\n<\/earlier-conversation>/);
    assert.doesNotMatch(heard ?? '', /echo two/);
    assert.equal((await home.entries(early))[3]?.severity, 'info');
    await say(client, early, 'recall');
    assert.equal((await told(early)).filter((line) => line.startsWith('notice')).length, 1);

    const late = await forkOf(client, parent);
    await say(client, parent, 'echo three');
    await say(client, late, 'heard');
    assert.match((await told(late)).join('\n'), /notice: Scripted agent was handed/);
    assert.equal(called('session/fork').length, 0);
  });

  it('are handed over to an agent that cannot fork, and to another agent', async () => {
    const poor = clientOf({ features: ['close', 'load', 'resume'] });
    const parent = await parentOf(poor, 'echo one');
    const fork = await forkOf(poor, parent);
    await say(poor, fork, 'heard');
    assert.match(
      (await told(fork)).join('\n'),
      /notice: Scripted agent was handed.*\n.*heard: .*User: echo one/s,
    );

    const client = clientOf();
    const elsewhere = await prefixFork(client, parent, 1, 'elsewhere', 'other');
    const row = (await home.listed()).find(({ sessionId }) => sessionId === elsewhere);
    assert.deepEqual([row?.agent, row?.model], ['other', undefined]);
    await say(client, elsewhere, 'heard');
    assert.match((await told(elsewhere)).join('\n'), /notice: Other agent was handed/);
    assert.equal(called('session/fork').length, 0);
  });

  it('are handed over when the agent fails to fork', async () => {
    const client = clientOf();
    const parent = await parentOf(client, 'echo one');
    const fork = await forkOf(client, parent);
    // The agent has lost the file that it would copy.
    const { command, args = [], env = {} } = agent({ env: { AGENT_DIR: join(home.userHome, 'empty') } });
    const forgetful = home.client({ scripted: { command, args, env, title: 'Scripted agent' } });
    await say(forgetful, fork, 'heard');
    assert.match((await told(fork)).join('\n'), /notice: Scripted agent was handed/);
    assert.equal(called('session/fork').length, 1);
  });

  it('of a fork go on natively too', async () => {
    const client = clientOf();
    const parent = await parentOf(client, 'echo one');
    const fork = await forkOf(client, parent);
    await say(client, fork, 'echo two');
    const second = await forkOf(client, fork);
    await say(client, second, 'recall');
    assert.equal((await told(second)).at(-1), 'assistant: 2 before, last: echo two');
    assert.equal(called('session/fork').length, 2);
  });

  it('are refused for an agent that is not set, without a completed turn, and of an unknown session', async () => {
    const client = clientOf();
    const parent = await parentOf(client);
    await assert.rejects(forkOf(client, parent), { code: 'boundary_invalid' });
    await say(client, parent, 'echo one');
    await assert.rejects(forkOf(client, parent, { agent: 'nobody' }), {
      code: 'invalid_params',
      details: { field: '_meta.agent' },
    });
    await assert.rejects(forkOf(client, parent, { agent: 7 }), { code: 'invalid_params' });
    await assert.rejects(prefixFork(client, parent, 1, 'target', 'nobody'), { code: 'invalid_params' });
    await assert.rejects(forkOf(client, 'unknown'), { code: 'session_unavailable' });
    const outside = home.client({}, { workspaces: [join(home.dir, 'elsewhere')] });
    await assert.rejects(forkOf(outside, parent), { code: 'session_unavailable' });
    assert.equal((await home.listed()).length, 1);
  });

  it('from the head leave a turn that is running out', async () => {
    const client = clientOf();
    const parent = await parentOf(client, 'echo one');
    const running = say(client, parent, 'echo two\nwait');
    const fork = await forkOf(client, parent);
    assert.deepEqual(await told(fork), ['user: echo one', 'assistant: one']);
    await say(client, fork, 'heard');
    assert.match((await told(fork)).join('\n'), /notice: Scripted agent was handed/);
    home.runs.cancel(client, { sessionId: parent });
    assert.deepEqual(await running, { stopReason: 'cancelled' });
  });
});
