import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { client as acpClient, ndJsonStream } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { AcpListResult, NewResult, PromptResult } from '../../src/protocol/acp.js';
import { InfoResult, InterjectResult, ListResult, PageResult } from '../../src/protocol/aster.js';
import { testAgent } from '../support/agent_command.js';
import { EditorPeer } from '../support/editor_peer.js';
import { RawRpc } from '../support/rpc.js';
import { outcome, ServicePlace, until } from '../support/service.js';

const Update = z.object({
  sessionId: z.string(),
  update: z.looseObject({
    sessionUpdate: z.string(),
    messageId: z.string().nullish(),
    content: z.looseObject({ text: z.string().optional() }).optional().catch(undefined),
  }),
});
const Empty = z.object({});

describe('ACP on stdio, with a live agent', function () {
  this.timeout(60_000);
  let place: ServicePlace;
  let config: string;
  before(() => {
    place = new ServicePlace();
    place.env['SESSION_DECK_IDLE_MS'] = '20000';
    config = path.join(place.workspace, 'config.json');
    const agents = { scripted: testAgent({ features: ['close', 'compact', 'steering'] }) };
    fs.writeFileSync(config, JSON.stringify({ agents, defaultAgent: 'scripted' }));
  });
  after(() => place.dispose());

  const open = async (...args: string[]) => {
    const child = await place.command('acp', '--config', config, ...args);
    const rpc = new RawRpc(child.stdout, child.stdin);
    await rpc.initialize();
    return { child, rpc };
  };
  const say = (text: string) => [{ type: 'text', text }];
  const begin = (rpc: RawRpc) =>
    rpc
      .request('session/new', { cwd: place.workspace, mcpServers: [] }, NewResult)
      .then(({ sessionId }) => sessionId);
  const updates = (rpc: RawRpc, sessionId: string) =>
    rpc
      .notifications('session/update')
      .map((params) => Update.parse(params))
      .filter((one) => one.sessionId === sessionId)
      .map(({ update }) => update);
  const textOf = (rpc: RawRpc, sessionId: string, kind: string) =>
    updates(rpc, sessionId)
      .filter(({ sessionUpdate }) => sessionUpdate === kind)
      .map(({ content }) => content?.text ?? '')
      .join('');

  it('runs a turn, streams it before the answer, lists it, and replays it to another client', async () => {
    const { rpc, child } = await open();
    const sessionId = await begin(rpc);
    const prompt = say('think deeply\nstream 5\ntool Read\nplan');
    const result = await rpc.request('session/prompt', { sessionId, prompt }, PromptResult);
    assert.equal(result.stopReason, 'end_turn');
    const answered = rpc.received.findIndex(({ result: one }) => PromptResult.safeParse(one).success);
    const streamed = rpc.received.slice(0, answered).filter(({ method }) => method === 'session/update');
    assert.ok(streamed.length >= 8, `${streamed.length} updates before the answer`);
    assert.equal(textOf(rpc, sessionId, 'agent_message_chunk').replace(/\s+/g, ' ').trim(), '1 2 3 4 5');

    const list = await rpc.request('session/list', { cwd: place.workspace }, AcpListResult);
    assert.ok(list.sessions.some((one) => one.sessionId === sessionId));
    const rows = await rpc.request('aster/session/list', {}, ListResult);
    assert.equal(rows.sessions.find((one) => one.sessionId === sessionId)?.state, 'idle');

    const other = await open();
    await other.rpc.request('session/load', { sessionId, cwd: place.workspace, mcpServers: [] }, Empty);
    const replayed = updates(other.rpc, sessionId);
    const kinds = replayed.map(({ sessionUpdate }) => sessionUpdate);
    for (const kind of [
      'user_message_chunk',
      'agent_thought_chunk',
      'agent_message_chunk',
      'tool_call',
      'plan',
    ]) {
      assert.ok(kinds.includes(kind), `${kind} in ${kinds.join(' ')}`);
    }
    assert.equal(textOf(other.rpc, sessionId, 'user_message_chunk'), prompt[0]?.text);
    assert.equal(
      textOf(other.rpc, sessionId, 'agent_message_chunk').replace(/\s+/g, ' ').trim(),
      '1 2 3 4 5',
    );
    const page = await rpc.request(
      'aster/session/transcript/page/v1',
      { schema: 'aster.acp.session-transcript-page.v1', sessionId, operationId: 'p', cwd: place.workspace },
      PageResult,
    );
    const ids = new Set(page.entries.map(({ id }) => id));
    for (const { messageId } of replayed) if (messageId) assert.ok(ids.has(messageId));

    const third = await open();
    await third.rpc.request('session/resume', { sessionId, cwd: place.workspace }, Empty);
    const told = updates(third.rpc, sessionId).map(({ sessionUpdate }) => sessionUpdate);
    assert.deepEqual(
      told.filter((kind) => !['session_info_update', 'available_commands_update'].includes(kind)),
      [],
    );
    for (const one of [child, other.child, third.child]) one.stdin.end();
  });

  it('takes a permission question to the client and its answer back', async () => {
    const { rpc, child } = await open();
    rpc.answers.set('session/request_permission', (params) => {
      const { options } = z
        .looseObject({ options: z.array(z.object({ optionId: z.string(), kind: z.string() })) })
        .parse(params);
      const optionId = options.find(({ kind }) => kind === 'allow_once')?.optionId;
      return { outcome: { outcome: 'selected', optionId } };
    });
    const sessionId = await begin(rpc);
    await rpc.request('session/prompt', { sessionId, prompt: say('ask May I?') }, PromptResult);
    assert.match(textOf(rpc, sessionId, 'agent_message_chunk'), /permission: allow/);
    child.stdin.end();
  });

  it('cancels a turn by notification and by $/cancel_request', async () => {
    const { rpc, child } = await open();
    const sessionId = await begin(rpc);
    const first = rpc.request('session/prompt', { sessionId, prompt: say('wait') }, PromptResult);
    const running = await until(async () => {
      const info = await rpc.request('aster/session/info', { sessionId }, InfoResult);
      return info.activeRun;
    }, 'the run is active');
    assert.equal(running.state, 'running');
    assert.equal((await rpc.call('session/prompt', { sessionId, prompt: say('me too') })).error?.code, 1409);
    rpc.notify('session/cancel', { sessionId });
    assert.equal((await first).stopReason, 'cancelled');
    const lastId = rpc.call('session/prompt', { sessionId, prompt: say('wait') });
    await until(
      async () => (await rpc.request('aster/session/info', { sessionId }, InfoResult)).activeRun,
      'the second run is active',
    );
    rpc.notify('$/cancel_request', { requestId: rpc.lastId('session/prompt') });
    const { result, error } = await lastId;
    assert.ok(error?.code === -32800 || PromptResult.safeParse(result).data?.stopReason === 'cancelled');
    child.stdin.end();
  });

  it('keeps a turn running when its client goes, for the next one to see', async () => {
    const { rpc, child } = await open();
    const sessionId = await begin(rpc);
    void rpc
      .call('session/prompt', { sessionId, prompt: say('slow 1500\necho done') })
      .catch(() => undefined);
    await until(
      async () => (await rpc.request('aster/session/info', { sessionId }, InfoResult)).activeRun,
      'the run is active',
    );
    child.stdin.end();
    assert.equal((await outcome(child)).code, 0);
    const next = await open();
    await until(async () => {
      const info = await next.rpc.request('aster/session/info', { sessionId }, InfoResult);
      return info.activeRun === undefined && info.state === 'idle';
    }, 'the run ends');
    await next.rpc.request('session/load', { sessionId, cwd: place.workspace, mcpServers: [] }, Empty);
    assert.match(textOf(next.rpc, sessionId, 'agent_message_chunk'), /done/);
    next.child.stdin.end();
  });

  it('takes an interjection of exactly 1 MB, and gives an idle session its receipt', async () => {
    const { rpc, child } = await open();
    const sessionId = await begin(rpc);
    const text = 'x'.repeat(1024 * 1024);
    const receipt = await rpc.request('aster/interject', { sessionId, text }, InterjectResult);
    assert.equal(receipt.status, 'idle');
    const over = await rpc.call('aster/interject', { sessionId, text: `${text}x` });
    assert.equal(over.error?.code, -32602);
    child.stdin.end();
  });

  it('answers unknown, deleted and out of scope with the same bytes, on both surfaces', async () => {
    const { rpc, child } = await open();
    const deleted = await begin(rpc);
    const elsewhere = await begin(rpc);
    await rpc.request('session/delete', { sessionId: deleted }, Empty);
    await rpc.request('session/delete', { sessionId: deleted }, Empty);
    await rpc.request('session/delete', { sessionId: 'never-was' }, Empty);
    const other = path.join(place.workspace, 'other');
    fs.mkdirSync(other, { recursive: true });
    const narrow = await open('--workspace', other);
    const peer = await EditorPeer.open(place, { workspaces: [other], allFolders: false });
    const cwd = place.workspace;
    const request = (sessionId: string) => ({
      schema: 'aster.acp.session-prefix-fork.v1',
      sessionId,
      operationId: 'o',
      request: {
        boundary_entry_id: 'b',
        expected_cut: { generation: 0, revision: 0 },
        target_session_id: 'target',
        expected_workspace: { cwd },
      },
    });
    const calls: [string, (sessionId: string) => unknown][] = [
      ['aster/session/info', (sessionId) => ({ sessionId })],
      ['aster/session/delete', (sessionId) => ({ sessionId, cwd })],
      ['aster/interject', (sessionId) => ({ sessionId, text: 'x' })],
      ['aster/compact_conversation', (sessionId) => ({ sessionId })],
      ['aster/session/fork/prefix/v1', request],
      [
        'aster/session/transcript/page/v1',
        (sessionId) => ({ schema: 'aster.acp.session-transcript-page.v1', sessionId, operationId: 'o', cwd }),
      ],
      ['session/load', (sessionId) => ({ sessionId, cwd, mcpServers: [] })],
      ['session/resume', (sessionId) => ({ sessionId, cwd })],
      ['session/prompt', (sessionId) => ({ sessionId, prompt: say('x') })],
      ['session/close', (sessionId) => ({ sessionId })],
      ['deck/turns', (sessionId) => ({ sessionId })],
      ['deck/interjections', (sessionId) => ({ sessionId })],
    ];
    for (const [method, params] of calls) {
      const answers = [];
      for (const sessionId of [deleted, elsewhere, 'never-was']) {
        const { error } = await narrow.rpc.call(method, params(sessionId));
        assert.equal(error?.code, -32002, `${method} ${JSON.stringify(error)}`);
        answers.push(JSON.stringify(error));
      }
      assert.equal(new Set(answers).size, 1, `${method}: ${answers.join('\n')}`);
      const inEditor = [];
      for (const sessionId of [deleted, elsewhere, 'never-was']) {
        const error = await peer.refused(method, params(sessionId));
        assert.equal(error.code, 1404, method);
        inEditor.push(JSON.stringify(error));
      }
      assert.equal(new Set(inEditor).size, 1, method);
    }
    assert.equal((await narrow.rpc.request('session/list', {}, AcpListResult)).sessions.length, 0);
    await narrow.rpc.request('session/delete', { sessionId: elsewhere }, Empty);
    assert.equal((await rpc.call('aster/session/info', { sessionId: elsewhere })).error, undefined);
    peer.close();
    for (const one of [child, narrow.child]) one.stdin.end();
  });

  it('refuses a relative cwd, naming the field', async () => {
    const { rpc, child } = await open();
    const sessionId = await begin(rpc);
    const cwd = 'work';
    const calls: [string, unknown][] = [
      ['session/new', { cwd, mcpServers: [] }],
      ['session/list', { cwd }],
      ['session/load', { sessionId, cwd, mcpServers: [] }],
      ['session/resume', { sessionId, cwd }],
      ['aster/session/list', { cwd }],
      ['aster/session/info', { sessionId, cwd }],
      ['aster/session/delete', { sessionId, cwd }],
      [
        'aster/session/transcript/page/v1',
        { schema: 'aster.acp.session-transcript-page.v1', sessionId, operationId: 'o', cwd },
      ],
    ];
    for (const [method, params] of calls) {
      const { error } = await rpc.call(method, params);
      assert.equal(error?.code, -32602, `${method} ${JSON.stringify(error)}`);
      assert.equal(z.looseObject({ field: z.string() }).parse(error.data).field, 'cwd', method);
    }
    child.stdin.end();
  });

  it('refuses a cursor that is not ours', async () => {
    const { rpc, child } = await open();
    for (const method of ['session/list', 'aster/session/list']) {
      const { error } = await rpc.call(method, { cursor: 'eyJwYWdlIjogMn0=' });
      assert.equal(error?.code, -32602);
      assert.equal(z.looseObject({ code: z.string() }).parse(error.data).code, 'cursor_invalid');
    }
    child.stdin.end();
  });

  it('serves the client of the protocol’s own library', async () => {
    const child = await place.command('acp', '--config', config);
    const output = new ReadableStream<Uint8Array>({
      start(controller) {
        child.stdout.on('data', (bytes: Buffer) => controller.enqueue(bytes));
        child.stdout.once('end', () => controller.close());
      },
      cancel: () => void child.stdout.removeAllListeners(),
    });
    const stream = ndJsonStream(Writable.toWeb(child.stdin), output);
    const said: string[] = [];
    await acpClient({ name: 'test' })
      .onNotification('session/update', ({ params: { update } }) => {
        if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
          said.push(update.content.text);
      })
      .connectWith(stream, async (agent) => {
        await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
        const { sessionId } = await agent.request('session/new', { cwd: place.workspace, mcpServers: [] });
        const { stopReason } = await agent.request('session/prompt', {
          sessionId,
          prompt: [{ type: 'text', text: 'echo hello from the library' }],
        });
        assert.equal(stopReason, 'end_turn');
        const { sessions } = await agent.request('session/list', {});
        assert.ok(sessions.some((one) => one.sessionId === sessionId));
        await agent.request('session/close', { sessionId });
        await agent.request('session/delete', { sessionId });
        const after = await agent.request('session/list', {});
        assert.ok(!after.sessions.some((one) => one.sessionId === sessionId));
      });
    assert.match(said.join(''), /hello from the library/);
    child.stdin.end();
  });
});
