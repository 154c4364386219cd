import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testAgent } from '../support/agent_command.js';
import { brief, prompt, RunsHome, unaborted, until } from '../support/runs_home.js';
import { allow, type TestClient } from '../support/test_client.js';

describe('runs: prompts', function () {
  this.timeout(30_000);
  let home: RunsHome;
  beforeEach(async () => {
    home = await RunsHome.open({ cancelMs: 400, openMs: 3000 }, { initializeMs: 3000 });
  });
  afterEach(async () => {
    await home.close();
  });
  const begin = async (client: TestClient) =>
    (await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] })).sessionId;
  const run = (client: TestClient, sessionId: string, text: string, signal = unaborted) =>
    home.runs.prompt(client, prompt(sessionId, text), signal);

  it('stores the turn in the order in which it was told', async () => {
    const client = home.client({ a: testAgent() }, { surface: 'acp' });
    const id = await begin(client);
    client.answer = () => allow('allow');
    const script =
      'echo one\nthink hm\ntool Grep\nstream 3 10\nplan\nask Delete it\nunknown\nedit a.txt hello\nusage 500';
    assert.deepEqual(await run(client, id, script), { stopReason: 'end_turn' });
    const entries = await home.entries(id);
    assert.deepEqual(brief(entries), [
      `user: ${script}`,
      'assistant: one',
      'thought: hm',
      'tool: Grep completed',
      'assistant: 1 2 3 ',
      'plan: ',
      'tool: execute completed',
      'permission: Delete it',
      'assistant: permission: allow',
      'raw: {"sessionUpdate":"_hologram","beams":3}',
      'tool: Edit completed',
    ]);
    assert.deepEqual(
      entries.map(({ boundary }) => boundary),
      [...Array<boolean>(10).fill(false), true],
    );
    assert.equal(entries[7]?.ask?.answer, 'allow');
    assert.equal(entries[10]?.tool?.diffs?.[0]?.newText, 'hello\n');
    assert.equal(await readFile(join(home.dir, 'a.txt'), 'utf8'), 'hello\n');
    assert.equal(home.state(id), 'idle');
    assert.equal(home.runs.activeCount, 0);
  });

  it('keeps the stop reason', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    assert.deepEqual(await run(client, id, 'stop max_tokens'), { stopReason: 'max_tokens' });
    assert.deepEqual(await run(client, id, 'stop refusal'), { stopReason: 'refusal' });
    assert.deepEqual(
      (await home.turns(id)).map(({ status }) => status),
      ['completed', 'completed'],
    );
  });

  it('tells the run at once and refuses a second prompt while it goes on', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    const first = run(client, id, 'slow 200');
    const active = home.runs.activeRun(id);
    assert.equal(active?.state, 'running');
    assert.equal(home.state(id), 'running');
    assert.deepEqual(brief(await home.entries(id)), ['user: slow 200']);
    await assert.rejects(run(client, id, 'echo no'), { code: 'turn_in_progress' });
    await first;
    assert.equal(home.runs.activeRun(id), undefined);
    assert.deepEqual(brief(await home.entries(id)), ['user: slow 200']);
    await run(client, id, 'echo yes');
  });

  it('forwards to ACP clients of the session only what is stored already', async () => {
    const editor = home.client({ a: testAgent() });
    const id = await begin(editor);
    const listener = home.client({}, { surface: 'acp' });
    const stranger = home.client({}, { surface: 'acp' });
    home.runs.resume(listener, { sessionId: id, cwd: home.dir, mcpServers: [] });
    const missing: string[] = [];
    listener.sessionUpdate = (sessionId, update) => {
      listener.updates.push({ sessionId, update });
      const content = update['content'];
      if (update['sessionUpdate'] !== 'agent_message_chunk') return;
      const { text } = content && typeof content === 'object' && 'text' in content ? content : { text: '' };
      void home.entries(id).then((entries) => {
        if (!brief(entries).join('').includes(String(text))) missing.push(String(text));
      });
    };
    await run(editor, id, 'stream 20 10\ntool\nechoed to the end');
    await sleep(20);
    assert.deepEqual(missing, []);
    assert.deepEqual(
      [...new Set(listener.updates.map(({ update }) => update['sessionUpdate']))].filter(
        (kind) => kind !== 'session_info_update',
      ),
      ['user_message_chunk', 'agent_message_chunk', 'tool_call', 'tool_call_update'],
    );
    assert.equal(
      listener.updates.every(({ sessionId }) => sessionId === id),
      true,
    );
    assert.equal(
      stranger.updates.filter(({ update }) => update['sessionUpdate'] !== 'session_info_update').length,
      0,
    );
  });

  it('goes on when its client leaves', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    const controller = new AbortController();
    const answer = run(client, id, 'slow 150\necho done', controller.signal);
    home.clients.detach(client);
    controller.abort();
    await answer;
    assert.deepEqual(brief(await home.entries(id)).slice(1), ['assistant: done']);
    assert.equal((await home.turns(id))[0]?.status, 'completed');
  });

  it('is cancelled by its client, through the signal or the method', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    const controller = new AbortController();
    const first = run(client, id, 'opentool\nwait', controller.signal);
    await until(async () => (await home.entries(id)).length === 2);
    controller.abort();
    assert.deepEqual(await first, { stopReason: 'cancelled' });
    assert.deepEqual(brief(await home.entries(id)), ['user: opentool\nwait', 'tool: execute cancelled']);
    const second = run(client, id, 'wait');
    home.runs.cancel(client, { sessionId: id });
    assert.deepEqual(await second, { stopReason: 'cancelled' });
    assert.deepEqual(
      (await home.turns(id)).map(({ status }) => status),
      ['cancelled', 'cancelled'],
    );
    assert.equal(home.state(id), 'idle');
  });

  it('ends an agent that is deaf to cancel, and tells the other sessions on it', async () => {
    const client = home.client({ a: testAgent() });
    const [deaf, other] = [await begin(client), await begin(client)];
    const hanging = run(client, deaf, 'hang');
    const innocent = run(client, other, 'echo half\nwait');
    await until(async () => (await home.entries(other)).length === 2);
    home.runs.cancel(client, { sessionId: deaf });
    assert.deepEqual(await hanging, { stopReason: 'cancelled' });
    await assert.rejects(innocent, {
      code: 'agent_failed',
      message: /did not stop a cancelled turn of a session/,
    });
    assert.equal(home.state(deaf), 'idle');
    assert.equal(home.state(other), 'failed');
    assert.match(brief(await home.entries(other)).at(-1) ?? '', /^notice: Scripted agent was ended because/);
    assert.deepEqual(await run(client, deaf, 'echo again'), { stopReason: 'end_turn' });
  });

  it('keeps what was said when the agent dies, and says how it died', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    await assert.rejects(run(client, id, 'echo before\nopentool\ndie 9'), {
      code: 'agent_failed',
      message: 'Scripted agent ended with exit code 9: dying on purpose',
    });
    const entries = await home.entries(id);
    assert.deepEqual(brief(entries).slice(1), [
      'assistant: before',
      'tool: execute failed',
      'notice: Scripted agent ended with exit code 9: dying on purpose',
    ]);
    assert.equal(entries.at(-1)?.severity, 'error');
    assert.equal(home.state(id), 'failed');
    await run(client, id, 'heard');
    assert.equal(home.state(id), 'idle');
    const heard = brief(await home.entries(id)).at(-1) ?? '';
    assert.match(
      heard,
      /<earlier-conversation>[^]*User: echo before[^]*Assistant: before[^]*<\/earlier-conversation>/,
    );
    assert.equal(heard.split('echo before').length, 2);
    assert.doesNotMatch(heard.split('</earlier-conversation>')[0] ?? '', /heard$/m);
  });

  it('keeps the text of a prompt whose agent does not start any more', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    client.options = { ...client.options, config: { agents: { a: testAgent({ start: 'die' }) } } };
    await assert.rejects(run(client, id, 'precious words'), {
      code: 'agent_unavailable',
      message: /no key, no agent/,
    });
    const [user, notice] = brief(await home.entries(id));
    assert.equal(user, 'user: precious words');
    assert.match(notice ?? '', /^notice: Scripted agent could not be started/);
    assert.equal((await home.turns(id))[0]?.status, 'failed');
  });

  it('keeps the error text that an agent answers', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    await assert.rejects(run(client, id, 'error out of quota'), {
      code: 'agent_failed',
      message: /out of quota/,
    });
    assert.match(brief(await home.entries(id))[1] ?? '', /^notice: .*out of quota/);
    await assert.rejects(run(client, id, 'auth'), { code: 'agent_failed', message: /sign in/ });
  });

  it('launches nothing for a restricted client and writes nothing', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    const restricted = home.client({ a: testAgent() }, { trusted: false });
    await assert.rejects(run(restricted, id, 'echo x'), {
      code: 'forbidden',
      message: /[Tt]rust the folder/,
    });
    await assert.rejects(begin(restricted), { code: 'forbidden' });
    assert.deepEqual(home.runs.can(restricted, { id, source: 'deck', agent: 'a' }).prompt, false);
    const bare = home.client({});
    await assert.rejects(run(bare, id, 'echo x'), {
      code: 'agent_unavailable',
      message: /sessionDeck\.agents/,
    });
    await assert.rejects(begin(bare), { code: 'agent_unavailable', message: /sessionDeck\.agents/ });
    assert.deepEqual(await home.entries(id), []);
  });

  it('leaves no session behind when its agent cannot begin one', async () => {
    for (const start of ['die', 'nonew', 'auth']) {
      const client = home.client({ a: testAgent({ start }) });
      await assert.rejects(begin(client), { name: 'DomainError' });
    }
    assert.equal(home.sessionCount, 0);
  });

  it('refuses a folder that is relative, out of scope or gone', async () => {
    const client = home.client({ a: testAgent() });
    const at = (cwd: string) => home.runs.newSession(client, { cwd, mcpServers: [] });
    await assert.rejects(at('some/where'), { code: 'invalid_params', details: { field: 'cwd' } });
    await assert.rejects(at('/'), { code: 'forbidden' });
    await assert.rejects(at(join(home.dir, 'gone')), { code: 'agent_unavailable', message: /gone/ });
  });

  it('picks the agent that _meta names', async () => {
    const client = home.client({ a: testAgent({ env: { WHO: 'a' } }), b: testAgent({ env: { WHO: 'b' } }) });
    await assert.rejects(begin(client), { code: 'agent_unavailable', message: /defaultAgent/ });
    const { sessionId } = await home.runs.newSession(client, {
      cwd: home.dir,
      mcpServers: [],
      _meta: { agent: 'b' },
    });
    await run(client, sessionId, 'env WHO');
    assert.equal(brief(await home.entries(sessionId))[1], 'assistant: b');
  });

  it('stores a flood whole, in entries of bounded size, while other sessions go on', async () => {
    const client = home.client({ a: testAgent() });
    const [flooded, other] = [await begin(client), await begin(client)];
    const flood = run(client, flooded, 'flood 2000 5000');
    await run(client, other, 'echo meanwhile');
    await flood;
    const texts = brief(await home.entries(flooded))
      .slice(1)
      .map((line) => line.length - 'assistant: '.length);
    assert.equal(
      texts.reduce((sum, length) => sum + length, 0),
      10_000_000,
    );
    assert.ok(Math.max(...texts) <= 270_000);
  });

  it('fails the run and says so when the store cannot take it in', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    const turn = run(client, id, 'echo lost\nslow 100\nwait');
    home.failWrites = true;
    await assert.rejects(turn, { code: 'store_full' });
    home.failWrites = false;
    assert.equal((await home.turns(id))[0]?.status, 'failed');
    await run(client, id, 'echo kept');
  });

  it('is over when its end could not be written, and says so once it can', async () => {
    const client = home.client({ a: testAgent() });
    const [id, other] = [await begin(client), await begin(client)];
    home.failWrites = home.failEnds = true;
    await assert.rejects(run(client, id, 'echo lost'), { code: 'store_full' });
    await assert.rejects(run(client, other, 'echo lost too'), { code: 'store_full' });
    home.failWrites = home.failEnds = false;
    await run(client, id, 'echo kept');
    // The other one as well, without being asked for.
    for (const one of [id, other]) assert.equal((await home.turns(one))[0]?.status, 'failed', one);
    assert.equal(home.state(other), 'failed');
  });

  it('goes on through garbage', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    await run(client, id, 'garbage\necho fine');
    assert.deepEqual(brief(await home.entries(id)).slice(1), ['assistant: fine']);
  });

  for (const how of ['resume', 'load'])
    it(`continues by session/${how} after the agent was started anew, without repeating anything`, async () => {
      const dir = join(home.dir, 'agent');
      const client = home.client({ a: testAgent({ dir, features: ['compact', how] }) });
      const id = await begin(client);
      await run(client, id, 'echo remember me');
      await assert.rejects(run(client, id, 'die'));
      const before = await home.entries(id);
      await run(client, id, 'recall');
      const after = await home.entries(id);
      assert.deepEqual(after.slice(0, before.length), before);
      assert.deepEqual(brief(after.slice(before.length)), ['user: recall', 'assistant: 2 before, last: die']);
    });

  it('hands its own record over when the agent has lost the session', async () => {
    const dir = join(home.dir, 'agent');
    const client = home.client({ a: testAgent({ dir }) });
    const id = await begin(client);
    await run(client, id, 'echo blue');
    await assert.rejects(run(client, id, 'die'));
    await rm(dir, { recursive: true });
    await mkdir(dir);
    await run(client, id, 'heard');
    assert.match(brief(await home.entries(id)).at(-1) ?? '', /Assistant: blue/);
  });

  it("continues a tool's own session in that tool's agent, after what its file holds", async () => {
    const id = '0a4e8f0e-7c1f-4a53-9d5e-3f2c5f1d7b11';
    const said = (uuid: string, parentUuid: string | null, type: string, content: unknown) => ({
      type,
      uuid,
      parentUuid,
      sessionId: id,
      cwd: home.dir,
      timestamp: '2026-10-01T10:00:00.000Z',
      isSidechain: false,
      message: { role: type, id: `msg_${uuid}`, model: 'claude', content },
    });
    const folder = join(home.userHome, '.claude', 'projects', home.dir.replace(/[^A-Za-z0-9]/g, '-'));
    await mkdir(folder, { recursive: true });
    const records = [
      said('11111111-1111-4111-8111-111111111111', null, 'user', 'what is blue'),
      said('22222222-2222-4222-8222-222222222222', '11111111-1111-4111-8111-111111111111', 'assistant', [
        { type: 'text', text: 'the sky' },
      ]),
    ];
    await writeFile(
      join(folder, `${id}.jsonl`),
      records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    );
    await home.crash();
    assert.deepEqual(
      (await home.listed()).map(({ sessionId, source }) => [sessionId, source]),
      [[id, 'claude-code']],
    );

    const dir = join(home.dir, 'agent');
    await mkdir(dir);
    const agentLines = [
      { id, cwd: home.dir },
      { role: 'user', text: 'what is blue' },
      { role: 'agent', text: 'the sky' },
    ];
    await writeFile(join(dir, `${id}.jsonl`), agentLines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const bare = home.client({ other: testAgent() });
    await assert.rejects(run(bare, id, 'echo x'), {
      code: 'agent_unavailable',
      message: /Claude Code.*"claude-code"/,
    });
    const forgetful = home.client({ claude: testAgent() });
    await assert.rejects(run(forgetful, id, 'echo x'), {
      code: 'not_supported',
      message: /neither session\/resume/,
    });

    const client = home.client({ claude: testAgent({ dir, features: ['load'] }) });
    await run(client, id, 'recall');
    const after = brief(await home.entries(id));
    assert.deepEqual(after.slice(0, 2), ['user: what is blue', 'assistant: the sky']);
    assert.deepEqual(after.slice(-2), ['user: recall', 'assistant: 1 before, last: what is blue']);
    assert.equal((await home.listed()).length, 1);

    void run(client, id, 'echo dying\nopentool\nhang').catch(() => undefined);
    await until(async () => (await home.entries(id)).length === after.length + 3);
    await home.crash();
    assert.deepEqual(brief(await home.entries(id)).slice(after.length), [
      'user: echo dying\nopentool\nhang',
      'assistant: dying',
      'tool: execute failed',
      'notice: The session service ended while this turn was running. What came before is kept.',
    ]);
    await home.runs.prompt(client, prompt(id, 'echo alive'), unaborted);
    assert.equal(home.state(id), 'idle');
  });

  it('hands exactly the prefix of a fork to its agent', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    await run(client, id, 'echo red');
    await run(client, id, 'echo green');
    const [first] = await home.turns(id);
    const { generation, revision } = home.sessions.resolve(client, id);
    const { sessionId } = await home.sessions.fork(client, {
      schema: 'aster.acp.session-prefix-fork.v1',
      sessionId: id,
      operationId: 'fork',
      request: {
        boundary_entry_id: first?.boundaryEntryId ?? '',
        expected_cut: { generation, revision },
        target_session_id: 'target',
        expected_workspace: { cwd: home.dir },
      },
    });
    await run(client, sessionId, 'heard');
    const entries = brief(await home.entries(sessionId));
    assert.deepEqual(entries.slice(0, 3), ['user: echo red', 'assistant: red', 'user: heard']);
    assert.match(entries[3] ?? '', /^notice: .* was handed the conversation before this fork as text/);
    assert.match(entries[4] ?? '', /User: echo red[^]*Assistant: red/);
    assert.doesNotMatch(entries[4] ?? '', /green/);
    await run(client, sessionId, 'heard');
    assert.doesNotMatch(brief(await home.entries(sessionId)).at(-1) ?? '', /earlier-conversation/);
    assert.equal((await home.entries(id)).length, 4);
  });

  it('closes: the run ends cancelled, the session stays', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    const answer = run(client, id, 'wait');
    await home.runs.close(client, { sessionId: id });
    assert.deepEqual(await answer, { stopReason: 'cancelled' });
    await run(client, id, 'echo again');
  });

  it('ends everything at the end of the service', async () => {
    const client = home.client({ a: testAgent() });
    const [waiting, deaf] = [await begin(client), await begin(client)];
    const answers = [run(client, waiting, 'wait'), run(client, deaf, 'hang')];
    await home.runs.stopAll();
    assert.deepEqual(await Promise.all(answers), [{ stopReason: 'cancelled' }, { stopReason: 'cancelled' }]);
    await assert.rejects(run(client, waiting, 'echo x'), { code: 'agent_unavailable' });
  });

  it('ends what a killed service left open', async () => {
    const client = home.client({ a: testAgent() });
    const id = await begin(client);
    void run(client, id, 'echo said\nask').catch(() => undefined);
    await until(() => home.state(id) === 'needs_input');
    await home.crash();
    assert.equal(home.state(id), 'failed');
    assert.equal((await home.turns(id)).at(-1)?.status, 'failed');
    const texts = brief(await home.entries(id));
    assert.ok(texts.includes('assistant: said'));
    assert.match(texts.join('\n'), /notice: The session service ended while this turn was running/);
    const statuses = (await home.entries(id)).map(({ kind, status }) => [kind, status]);
    assert.deepEqual(statuses.slice(1), [
      ['assistant', 'completed'],
      ['tool', 'failed'],
      ['permission', 'cancelled'],
      ['notice', undefined],
    ]);
    assert.equal(home.runs.activeRun(id), undefined);
    await run(client, id, 'echo again');
    assert.equal(home.state(id), 'idle');
  });
});
