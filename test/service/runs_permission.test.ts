import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { InboxChanged, type InboxItem } from '../../src/protocol/inbox.js';
import { testAgent } from '../support/agent_command.js';
import { brief, prompt, RunsHome, unaborted, until } from '../support/runs_home.js';
import { allow, type TestClient } from '../support/test_client.js';

describe('runs: permissions and the inbox', function () {
  this.timeout(20_000);
  let home: RunsHome;
  let owner: TestClient;
  let sessionId: string;
  const begin = async (client: TestClient) =>
    (await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] })).sessionId;
  beforeEach(async () => {
    home = await RunsHome.open({ cancelMs: 400 });
    owner = home.client({ a: testAgent() });
    sessionId = await begin(owner);
  });
  afterEach(async () => {
    await home.close();
  });
  const run = (text: string, client = owner, id = sessionId) =>
    home.runs.prompt(client, prompt(id, text), unaborted);
  const last = async (id = sessionId) => brief(await home.entries(id)).at(-1);
  const items = (client: TestClient) => home.runs.inbox.list(client).items;
  const item = async (client = owner): Promise<InboxItem> => {
    await until(() => items(client).length > 0);
    return items(client)[0]!;
  };
  const answer = (client: TestClient, id: string, optionId: string) =>
    home.runs.inbox.answer(client, { id, answer: { optionId } });
  /** What a client was told, newest last. */
  const changes = (client: TestClient) =>
    client.heard('deck/inbox/changed').map((one) => InboxChanged.parse(one));

  it('shows that it waits, and records the answer of the window', async () => {
    const turn = run('ask Delete everything');
    const asked = await item();
    assert.equal(home.state(sessionId), 'needs_input');
    assert.equal(home.runs.activeRun(sessionId)?.state, 'needs_input');
    assert.equal(owner.asked.length, 0);
    assert.equal(asked.kind, 'permission');
    const { title, tool, options, runId } = asked;
    assert.deepEqual(
      [title, tool.kind, runId],
      ['Delete everything', 'execute', home.runs.activeRun(sessionId)?.runId],
    );
    assert.deepEqual(
      options.map(({ optionId }) => optionId),
      ['allow', 'always', 'reject'],
    );
    assert.deepEqual(changes(owner).at(-1)?.upserted, [asked]);
    assert.throws(() => answer(owner, asked.id, 'root'), {
      code: 'invalid_params',
      details: { field: 'optionId' },
    });
    assert.throws(() => home.runs.inbox.answer(owner, { id: asked.id, answer: { dismiss: true } }), {
      code: 'invalid_params',
    });
    answer(owner, asked.id, 'reject');
    // Durable before it is answered.
    const permission = (await home.entries(sessionId)).find(({ kind }) => kind === 'permission');
    assert.deepEqual(
      [permission?.id, permission?.status, permission?.ask?.answer],
      [asked.entryId, 'completed', 'reject'],
    );
    await turn;
    assert.deepEqual(changes(owner).at(-1)?.removed, [{ id: asked.id, reason: 'answered' }]);
    assert.equal(await last(), 'assistant: permission: reject');
    assert.equal(home.state(sessionId), 'idle');
  });

  it('takes the first answer only, of whoever sees the session and is trusted', async () => {
    const outside = home.client({}, { workspaces: ['/elsewhere'] });
    const restricted = home.client({}, { trusted: false });
    const window = home.client({});
    const turn = run('ask');
    const { id } = await item();
    assert.deepEqual([items(window).length, items(restricted).length, items(outside).length], [1, 1, 0]);
    assert.throws(() => answer(outside, id, 'allow'), { code: 'task_unavailable' });
    assert.throws(() => answer(restricted, id, 'allow'), { code: 'forbidden' });
    answer(window, id, 'allow');
    assert.throws(() => answer(owner, id, 'reject'), { code: 'already_resolved' });
    assert.throws(() => answer(outside, id, 'reject'), { code: 'task_unavailable' });
    assert.throws(() => answer(owner, 'nothing', 'reject'), { code: 'task_unavailable' });
    await turn;
    assert.equal(await last(), 'assistant: permission: allow');
    for (const client of [owner, window, restricted])
      assert.deepEqual(changes(client).at(-1)?.removed, [{ id, reason: 'answered' }]);
    assert.deepEqual(changes(outside), []);
  });

  it('asks the ACP client that owns the turn, and takes it back when a window answers', async () => {
    const acp = home.client({ a: testAgent() }, { surface: 'acp' });
    const id = await begin(acp);
    const turn = run('ask', acp, id);
    await until(() => acp.asked.length === 1);
    assert.equal(acp.asked[0]?.params.sessionId, id);
    answer(owner, (await item()).id, 'always');
    assert.equal(acp.asked[0].signal.aborted, true);
    await turn;
    assert.equal(await last(id), 'assistant: permission: always');
    acp.answer = () => allow('reject');
    await run('ask', acp, id);
    assert.equal(await last(id), 'assistant: permission: reject');
    assert.deepEqual(items(owner), []);
  });

  it('waits while nobody is there, and asks who comes', async () => {
    home.clients.detach(owner);
    const turn = run('ask');
    await until(() => home.state(sessionId) === 'needs_input');
    await sleep(100);
    assert.equal(home.runs.activeCount, 1);
    const window = home.client({});
    const [waiting] = items(window);
    const acp = home.client({}, { surface: 'acp' });
    assert.equal(acp.asked.length, 0);
    home.runs.resume(acp, { sessionId, cwd: home.dir, mcpServers: [] });
    assert.equal(acp.asked.length, 1);
    home.runs.cancel(window, { sessionId });
    assert.deepEqual(await turn, { stopReason: 'cancelled' });
    assert.equal(acp.asked[0]?.signal.aborted, true);
    assert.deepEqual(changes(window).at(-1)?.removed, [{ id: waiting?.id, reason: 'withdrawn' }]);
    assert.throws(() => answer(window, waiting?.id ?? '', 'allow'), { code: 'already_resolved' });
  });

  it('refuses at once when the owner cannot answer and nobody else is there', async () => {
    home.clients.detach(owner);
    const acp = home.client({ a: testAgent() }, { surface: 'acp' });
    acp.abilities = { ...acp.abilities, permission: false };
    const id = await begin(acp);
    assert.deepEqual(await run('ask', acp, id), { stopReason: 'end_turn' });
    assert.equal(await last(id), 'assistant: permission: cancelled');
  });

  it('answers the agent with cancelled when the run is cancelled', async () => {
    const turn = run('ask');
    const { id } = await item();
    home.runs.cancel(owner, { sessionId });
    assert.deepEqual(await turn, { stopReason: 'cancelled' });
    const permission = (await home.entries(sessionId)).find(({ kind }) => kind === 'permission');
    assert.equal(permission?.status, 'cancelled');
    assert.equal(await last(), 'assistant: permission: cancelled');
    assert.deepEqual(changes(owner).at(-1)?.removed, [{ id, reason: 'withdrawn' }]);
  });

  it('withdraws the question when the turn ends without waiting for the answer', async () => {
    assert.deepEqual(await run('asknot\necho bye'), { stopReason: 'end_turn' });
    await until(() => items(owner).length === 0);
    const entries = await home.entries(sessionId);
    assert.equal(entries.find(({ kind }) => kind === 'permission')?.status, 'cancelled');
    assert.equal(brief(entries).at(-1), 'assistant: bye');
    assert.equal(home.state(sessionId), 'idle');
    await run('echo again');
  });

  it('needs input as long as one of several questions is open', async () => {
    const turn = run('asknot First\nask Second');
    await until(() => items(owner).length === 2);
    const [first, second] = items(owner);
    assert.deepEqual(
      [first, second].map((one) => one?.kind === 'permission' && one.title),
      ['First', 'Second'],
    );
    answer(owner, first!.id, 'allow');
    assert.equal(home.state(sessionId), 'needs_input');
    answer(owner, second!.id, 'allow');
    assert.equal(home.state(sessionId), 'running');
    await turn;
    assert.equal(home.state(sessionId), 'idle');
  });

  it('withdraws the question when the agent dies', async () => {
    const dying = run('ask').catch((error: unknown) => error);
    await item();
    await home.runs.stopAll();
    await dying;
    assert.deepEqual(items(owner), []);
    assert.equal(home.runs.activeCount, 0);
  });

  it('keeps runs that failed until somebody has seen them, or a later one completed', async () => {
    const restricted = home.client({}, { trusted: false });
    await assert.rejects(run('error something broke'));
    const [failed] = items(owner);
    assert.ok(failed?.kind === 'failed');
    assert.match(failed.message, /something broke/);
    assert.deepEqual(changes(owner).at(-1)?.upserted, [failed]);
    assert.throws(() => answer(owner, failed.id, 'allow'), { code: 'invalid_params' });
    home.runs.inbox.answer(restricted, { id: failed.id, answer: { dismiss: true } });
    assert.deepEqual(changes(owner).at(-1)?.removed, [{ id: failed.id, reason: 'dismissed' }]);
    assert.deepEqual(items(owner), []);
    assert.throws(() => home.runs.inbox.answer(owner, { id: failed.id, answer: { dismiss: true } }), {
      code: 'already_resolved',
    });
    await assert.rejects(run('error again'));
    await assert.rejects(run('error and again'));
    assert.equal(items(owner).length, 2);
    await run('echo fine');
    assert.deepEqual(items(owner), []);
    assert.equal(changes(owner).at(-1)?.removed.length, 2);
  });

  it('has expired questions and failed runs after a restart of the service', async () => {
    void run('ask').catch(() => undefined);
    const asked = await item();
    await home.crash();
    assert.throws(() => answer(owner, asked.id, 'allow'), { code: 'already_resolved' });
    const permission = (await home.entries(sessionId)).find(({ kind }) => kind === 'permission');
    assert.equal(permission?.status, 'cancelled');
    assert.deepEqual(
      items(owner).map(({ kind, runId }) => [kind, runId]),
      [['failed', asked.runId]],
    );
  });

  it('refuses what nobody could answer, and goes on', async () => {
    const call = (params: unknown) => `call session/request_permission ${JSON.stringify(params)}`;
    const option = { optionId: 'a', name: 'A', kind: 'allow_once' };
    const toolCall = { toolCallId: 't', title: 'T' };
    await run(call({ toolCall, options: [] }));
    assert.equal(
      await last(),
      'assistant: error -32602: Invalid params: a permission needs an option to choose',
    );
    await run(call({ toolCall, options: [{ ...option, name: 'A'.repeat(300 * 1024) }] }));
    assert.match((await last()) ?? '', /error -32602: .*too long for a person to read/);
    assert.deepEqual(items(owner), []);
  });

  it('keeps no more than a hundred open at once', async () => {
    const asked = Array.from({ length: 100 }, (_, index) => `asknot Question ${index}`);
    const more = {
      toolCall: { toolCallId: 't' },
      options: [{ optionId: 'a', name: 'A', kind: 'allow_once' }],
    };
    const turn = run(
      [...asked, `call session/request_permission ${JSON.stringify(more)}`, 'wait'].join('\n'),
    );
    await until(async () => (await last())?.startsWith('assistant: error -32600: ') === true, 15_000);
    assert.match((await last()) ?? '', /too many questions are open/);
    assert.equal(items(owner).length, 100);
    home.runs.cancel(owner, { sessionId });
    await turn;
    assert.deepEqual(items(owner), []);
  });
});
