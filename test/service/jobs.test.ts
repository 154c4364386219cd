import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BACKGROUND_TASKS_SCHEMA, WORKSPACE_SEARCH_SCHEMA } from '../../src/protocol/aster.js';
import type { ClientOptions, ServiceConfig, SmallJobs } from '../../src/protocol/deck.js';
import type { ParamsInput } from '../../src/protocol/methods.js';
import { testAgent } from '../support/agent_command.js';
import { EditorPeer } from '../support/editor_peer.js';
import { FakeModelEndpoint, json } from '../support/model_endpoint.js';
import { ServicePlace, until } from '../support/service.js';

describe('small jobs of the service', function () {
  this.timeout(60_000);
  let place: ServicePlace;
  let fake: FakeModelEndpoint;
  let peers: EditorPeer[];
  beforeEach(async () => {
    place = new ServicePlace();
    fake = await FakeModelEndpoint.open();
    peers = [];
  });
  afterEach(async () => {
    for (const peer of peers) peer.close();
    await place.dispose();
    await fake.close();
  });

  const agentDir = () => path.join(place.home, 'agent');
  const agentLog = () => path.join(place.home, 'agent.log');
  const agentLines = () =>
    existsSync(agentLog()) ? readFileSync(agentLog(), 'utf8').trim().split('\n') : [];
  async function window(
    config: Partial<ServiceConfig> = {},
    options: Partial<ClientOptions> & { job?: string; features?: readonly string[] } = {},
  ): Promise<EditorPeer> {
    const { job = 'echo nothing', features = ['load', 'list', 'close', 'delete'], ...more } = options;
    const env = { AGENT_JOB: job, AGENT_LOG: agentLog() };
    const agents = { scripted: testAgent({ dir: agentDir(), features, env }) };
    const peer = await EditorPeer.open(place, {
      workspaces: [place.workspace],
      allFolders: false,
      config: { agents, ...config },
      ...more,
    });
    peers.push(peer);
    return peer;
  }
  async function session(peer: EditorPeer, text = 'echo done'): Promise<string> {
    const { sessionId } = await peer.request('session/new', { cwd: place.workspace, mcpServers: [] });
    await peer.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
    return sessionId;
  }
  const followups = async (peer: EditorPeer, sessionId: string) =>
    (await peer.request('aster/followup/generate', { sessionId, prompt: '', response: '' })).suggestions;
  const titleOf = async (peer: EditorPeer, sessionId: string) =>
    (await peer.request('aster/session/info', { sessionId })).title;
  const endpoint = (model: SmallJobs['model'] = 'endpoint'): Partial<ServiceConfig> => ({
    smallJobs: { model, endpoint: { url: fake.url, model: 'small', apiKeyEnv: 'DECK_TEST_KEY' } },
  });

  it('sends nothing anywhere by default, and the title stays the first prompt', async () => {
    const asked: unknown[] = [];
    const peer = await window(
      { smallJobs: { model: 'off', endpoint: { url: fake.url, model: 'small' } } },
      { hasModel: true },
    );
    const other = await window({}, { hasModel: true });
    for (const one of [peer, other])
      one.connection.onRequest('deck/model/complete', (params) => {
        asked.push(params);
        return { text: '["A"]' };
      });
    const sessionId = await session(peer);
    assert.deepEqual(await followups(peer, sessionId), []);
    assert.deepEqual(await followups(other, sessionId), []);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(await titleOf(peer, sessionId), 'echo done');
    assert.deepEqual([fake.heard, asked], [[], []]);
    assert.equal(agentLines().filter((line) => line.startsWith('session/prompt')).length, 1);
  });

  it('asks the window that has a model, about the last turn, and opens no turn', async () => {
    const prompts: string[] = [];
    const peer = await window({ smallJobs: { model: 'editor' } }, { hasModel: true });
    peer.connection.onRequest('deck/model/complete', ({ prompt }: { prompt: string }) => {
      prompts.push(prompt);
      return { text: prompt.includes('a title') ? 'Say done' : '["Run the tests", "Commit"]' };
    });
    const sessionId = await session(peer);
    await until(async () => (await titleOf(peer, sessionId)) === 'Say done', 'the title');
    const before = await peer.request('aster/session/info', { sessionId });
    assert.deepEqual(await followups(peer, sessionId), ['Run the tests', 'Commit']);
    assert.match(prompts.at(-1) ?? '', /echo done[\s\S]*\ndone\n/);
    const after = await peer.request('aster/session/info', { sessionId });
    assert.deepEqual([after.cut, after.entryCount], [before.cut, before.entryCount]);

    const { tasks } = await peer.request('aster/session/background-tasks/v1', {
      schema: BACKGROUND_TASKS_SCHEMA,
      sessionId,
      operationId: 'tasks',
      cwd: place.workspace,
    });
    assert.deepEqual(
      tasks.map(({ kind, title, status }) => [kind, title, status]),
      [['service', 'Title for the session', 'completed']],
    );
    await peer.request('deck/session/rename', { sessionId, title: 'My own' });
    await peer.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'echo again' }] });
    assert.equal(await titleOf(peer, sessionId), 'My own');
  });

  it('asks the endpoint, with the key from its own environment, which it never logs', async () => {
    place.env['DECK_TEST_KEY'] = 'sk-test-secret';
    fake.text = '["Run the tests"]';
    const peer = await window(endpoint());
    const sessionId = await session(peer);
    assert.deepEqual(await followups(peer, sessionId), ['Run the tests']);
    assert.ok(fake.heard.length > 0);
    for (const { path: at, headers } of fake.heard)
      assert.deepEqual([at, headers.authorization], ['/v1/chat/completions', 'Bearer sk-test-secret']);
    fake.reply = (_, response) => json(response, { error: 'no sk-test-secret here' }, 500);
    assert.deepEqual(await followups(peer, sessionId), []);
    assert.match(place.log(), /status 500/);
    assert.doesNotMatch(place.log(), /sk-test-secret/);
  });

  it('ends the request to the model when a turn begins', async () => {
    place.env['DECK_TEST_KEY'] = 'k';
    fake.reply = () => undefined;
    const peer = await window(endpoint());
    const sessionId = await session(peer);
    const waiting = followups(peer, sessionId);
    await until(
      () => fake.heard.some(({ body }) => body.messages?.[0]?.content.includes('last exchange')),
      'a request',
    );
    await peer.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'echo more' }] });
    assert.deepEqual(await waiting, []);
    await until(() => fake.abandoned > 0, 'the request ends');
  });

  it("asks the session's own agent in a side session that refuses everything, ends, and is never listed", async () => {
    const job = 'ask Remove everything\necho ["Run the tests"]';
    const peer = await window(
      { smallJobs: { model: 'agent' } },
      { job, features: ['load', 'list', 'close'] },
    );
    const sessionId = await session(peer, 'echo done\ntitle Told by the agent');
    assert.deepEqual(await followups(peer, sessionId), ['Run the tests']);
    const log = agentLines();
    const jobs = log.filter((line) => line.startsWith('session/close ')).map((line) => line.split(' ')[1]);
    assert.equal(jobs.length, 1);
    assert.equal(readdirSync(agentDir()).length, 2, 'the agent keeps both');
    const said = readFileSync(path.join(agentDir(), `${jobs[0] ?? ''}.jsonl`), 'utf8');
    assert.match(said, /permission: reject/);
    assert.doesNotMatch(said, /permission: a/);

    await peer.request('deck/agent/discover', { agent: 'scripted' });
    const { sessions } = await peer.request('aster/session/list', {});
    assert.deepEqual(
      sessions.map((row) => row.sessionId),
      [sessionId],
    );
    assert.deepEqual((await peer.request('deck/inbox', {})).items, []);
  });

  it('has the agent delete the side session where it can', async () => {
    const peer = await window({ smallJobs: { model: 'auto', allowAgent: true } }, { job: 'echo ["Next"]' });
    const sessionId = await session(peer, 'echo done\ntitle Told by the agent');
    assert.deepEqual(await followups(peer, sessionId), ['Next']);
    assert.equal(readdirSync(agentDir()).length, 1);
    const deleted = agentLines().filter((line) => line.startsWith('session/delete '));
    assert.equal(deleted.length, 1);
  });

  it('does not ask the agent with auto unless it is allowed', async () => {
    const peer = await window({ smallJobs: { model: 'auto' } }, { job: 'echo ["Next"]' });
    const sessionId = await session(peer);
    assert.deepEqual(await followups(peer, sessionId), []);
    assert.equal(agentLines().filter((line) => line.startsWith('session/prompt')).length, 1);
  });

  describe('search of the working directory', () => {
    const method = 'aster/workspace/search/v1';
    const paramsOf = (sessionId: string, query: string): ParamsInput<typeof method> => ({
      schema: WORKSPACE_SEARCH_SCHEMA,
      sessionId,
      operationId: 'op-1',
      cwd: place.workspace,
      query,
    });
    const search = (peer: EditorPeer, sessionId: string, query: string) =>
      peer.request(method, paramsOf(sessionId, query));
    beforeEach(() => {
      mkdirSync(path.join(place.workspace, 'src'));
      const files = {
        'src/heron.ts': 'export const bird = 1;\n',
        'src/pond.md': 'The grey heron eats fish.\n',
        'src/.env': 'HERON=secret\n',
      };
      for (const [name, text] of Object.entries(files)) writeFileSync(path.join(place.workspace, name), text);
      writeFileSync(path.join(place.home, 'heron.txt'), 'heron');
      symlinkSync(place.home, path.join(place.workspace, 'out'));
    });

    it('merges words and names and sends nothing', async () => {
      const peer = await window();
      const sessionId = await session(peer);
      const found = await search(peer, sessionId, 'heron');
      assert.equal(found.operationId, 'op-1');
      assert.deepEqual(
        found.results.map(({ path: at, line, routes }) => [at, line, routes]),
        [
          ['src/heron.ts', undefined, ['names']],
          ['src/pond.md', 1, ['words']],
        ],
      );
      assert.deepEqual([found.failed, fake.heard], [[], []]);
    });

    it('adds meaning where an endpoint is set, asks once for each text, and names it when it fails', async () => {
      const peer = await window({ embeddings: { url: fake.url, model: 'embed' } });
      const sessionId = await session(peer);
      const byMeaning = (await search(peer, sessionId, 'a fish')).results;
      assert.equal(byMeaning[0]?.path, 'src/pond.md');
      assert.deepEqual(byMeaning[0].routes, ['words', 'meaning']);
      const sent = fake.under('/v1/embeddings').flatMap(({ body }) => body.input ?? []);
      assert.ok(sent.includes('a fish'));
      assert.ok(sent.every((text) => !text.includes('secret')));
      const requests = fake.heard.length;
      await search(peer, sessionId, 'a fish');
      assert.equal(fake.heard.length, requests);

      fake.reply = (_, response) => json(response, { error: 'no such model' }, 404);
      const { results, failed } = await search(peer, sessionId, 'heron');
      assert.equal(results.length, 2);
      assert.deepEqual(
        failed.map(({ route }) => route),
        ['meaning'],
      );
      assert.match(failed[0]?.reason ?? '', /status 404.*no such model/);
    });

    it('refuses unknown sessions, other folders and bad params', async () => {
      const peer = await window();
      const sessionId = await session(peer);
      const params = paramsOf(sessionId, 'heron');
      const unknown = await peer.refused(method, { ...params, sessionId: 'nobody' });
      assert.equal(unknown.code, 1404);
      assert.deepEqual(await peer.refused(method, { ...params, cwd: place.home }), unknown);
      for (const bad of [{ query: ' ' }, { query: 'x'.repeat(1001) }, { schema: 'x' }, { cwd: 'src' }])
        assert.equal((await peer.refused(method, { ...params, ...bad })).code, -32602);
    });
  });
});
