import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { EditorPeer } from '../support/editor_peer.js';
import { RawRpc } from '../support/rpc.js';
import { isAlive, outcome, ServicePlace, until } from '../support/service.js';

/** What nobody serves. */
const UNKNOWN = ['nobody/knows', 'session/status', 'aster/session/tooling', 'toString'];

const id = 'sess-1';
const page = { schema: 'aster.acp.session-transcript-page.v1', sessionId: id, operationId: 'o', cwd: '/w' };
const fork = {
  schema: 'aster.acp.session-prefix-fork.v1',
  sessionId: id,
  operationId: 'o',
  request: {
    boundary_entry_id: 'b',
    expected_cut: { generation: 0, revision: 0 },
    target_session_id: 't',
    expected_workspace: { cwd: '/w' },
  },
};
const limits: unknown[] = [0, -1, 1e9, '5', 1.5];

/** Params that no schema takes: method, params, the field that the answer must name. */
const BAD: [string, unknown, string][] = [
  ['session/list', { cwd: 7 }, 'cwd'],
  ['session/list', { cursor: {} }, 'cursor'],
  ['session/new', {}, 'cwd'],
  ['session/new', { cwd: '' }, 'cwd'],
  ['session/load', { sessionId: id }, 'cwd'],
  ['session/resume', { cwd: '/w' }, 'sessionId'],
  ['session/prompt', { sessionId: id, prompt: [] }, 'prompt'],
  ['session/prompt', { sessionId: id, prompt: 'hi' }, 'prompt'],
  ['session/close', {}, 'sessionId'],
  ['session/delete', { sessionId: '' }, 'sessionId'],
  ['session/list', { archived: 'maybe' }, 'archived'],
  ['session/new', { cwd: '/w', additionalDirectories: '/w' }, 'additionalDirectories'],
  ['session/fork', { sessionId: id }, 'cwd'],
  ['session/archive', {}, 'sessionId'],
  ['session/unarchive', { sessionId: 5 }, 'sessionId'],
  ['session/set_title', { sessionId: id }, 'title'],
  ['session/set_mode', { sessionId: id }, 'modeId'],
  ['aster/session/list', { archived: 5 }, 'archived'],
  ...limits.map((limit): [string, unknown, string] => ['aster/session/list', { limit }, 'limit']),
  ['aster/session/list', { headless: 'maybe' }, 'headless'],
  ['aster/session/list', { _meta: { facets: { kind: 'dance' } } }, '_meta.facets.kind'],
  ['aster/session/list', { query: 'x'.repeat(2000) }, 'query'],
  ['aster/session/info', {}, 'sessionId'],
  ['aster/session/delete', { sessionId: id }, 'cwd'],
  ['aster/session/delete', { cwd: '/w' }, 'sessionId'],
  ...limits.map((limit): [string, unknown, string] => [
    'aster/session/transcript/page/v1',
    { ...page, limit },
    'limit',
  ]),
  ['aster/session/transcript/page/v1', { ...page, schema: 'v2' }, 'schema'],
  ['aster/session/transcript/page/v1', { ...page, operationId: 'x'.repeat(129) }, 'operationId'],
  ['aster/session/transcript/page/v1', { ...page, anchor: 'middle' }, 'anchor'],
  ['aster/session/fork/prefix/v1', { ...fork, schema: 'x' }, 'schema'],
  ['aster/session/fork/prefix/v1', { ...fork, request: {} }, 'request.boundary_entry_id'],
  ['aster/interject', { sessionId: id, text: '' }, 'text'],
  ['aster/interject', { sessionId: id, text: 'x'.repeat(1024 * 1024 + 1) }, 'text'],
  ['aster/interject', { sessionId: id, text: 'é'.repeat(512 * 1024 + 1) }, 'text'],
  ['aster/compact_conversation', { sessionId: id, userContext: 5 }, 'userContext'],
  ['deck/turns', { sessionId: id, limit: 0 }, 'limit'],
  ['deck/entry/content', { sessionId: id, ref: 'r', offset: -1 }, 'offset'],
  ['deck/session/rename', { sessionId: id }, 'title'],
];
const Refusal = z.object({ code: z.string(), field: z.string(), message: z.string() });

describe('the wire of an editor', function () {
  this.timeout(60_000);
  let place: ServicePlace;
  before(() => {
    place = new ServicePlace();
    place.env['SESSION_DECK_IDLE_MS'] = '20000';
  });
  after(() => place.dispose());

  it('answers initialize and refuses requests before it', async () => {
    const peer = await EditorPeer.open(place, {}, false);
    assert.equal((await peer.refused('deck/status', {})).code, -32002);
    const result = await peer.initialize({ workspaces: [], allFolders: true, trusted: true, config: {} });
    const { serverInfo, capabilities } = z
      .object({
        serverInfo: z.object({ name: z.string(), version: z.string() }),
        capabilities: z.object({
          experimental: z.object({
            sessionDeck: z.object({
              protocol: z.literal(1),
              version: z.string(),
              methods: z.array(z.string()),
            }),
          }),
        }),
      })
      .parse(result);
    assert.equal(serverInfo.name, 'session-deck');
    assert.equal(serverInfo.version, capabilities.experimental.sessionDeck.version);
    assert.ok(capabilities.experimental.sessionDeck.methods.includes('aster/session/list'));
    assert.equal((await peer.request('deck/status', {})).pid, peer.pid);
    peer.close();
  });

  it('takes the aster and deck families with a leading underscore too', async () => {
    const peer = await EditorPeer.open(place);
    const status: unknown = await peer.connection.sendRequest('_deck/status', {});
    assert.equal(z.looseObject({ pid: z.number() }).parse(status).pid, peer.pid);
    assert.equal((await peer.refused('_session/list', {})).code, -32601);
    peer.close();
  });

  it('answers -32601 to what is not there', async () => {
    const peer = await EditorPeer.open(place);
    for (const method of UNKNOWN) assert.equal((await peer.refused(method, {})).code, -32601, method);
    peer.close();
  });

  it('names the field that is wrong', async () => {
    const peer = await EditorPeer.open(place);
    for (const [method, params, field] of BAD) {
      const { code, data } = await peer.refused(method, params);
      assert.equal(code, -32602, method);
      const refusal = Refusal.parse(data);
      assert.equal(refusal.code, 'invalid_params');
      assert.equal(refusal.field, field, method);
    }
    peer.close();
  });

  it('answers who asks it to stop, and ends', async () => {
    const other = new ServicePlace();
    try {
      const peer = await EditorPeer.open(other);
      const answer = await peer.request('deck/service/stop', {});
      assert.deepEqual(answer, { stopping: true, activeRuns: 0 });
      await until(() => !isAlive(peer.pid), 'the service ends');
    } finally {
      await other.dispose();
    }
  });

  it('tolerates what editors send besides, and ends after shutdown and exit without ending the service', async () => {
    const peer = await EditorPeer.open(place);
    const other = await EditorPeer.open(place);
    await peer.connection.sendNotification('workspace/didChangeWorkspaceFolders', { event: {} });
    await peer.connection.sendNotification('$/setTrace', { value: 'off' });
    assert.equal(await peer.connection.sendRequest('shutdown'), null);
    await peer.connection.sendNotification('exit');
    await until(() => peer.socket.closed, 'the connection ends');
    assert.equal((await other.request('deck/status', {})).pid, other.pid);
    other.close();
  });

  it('ends only the connection that sends garbage', async () => {
    const other = await EditorPeer.open(place);
    const garbage: (string | Buffer)[] = [
      'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'Content-Length: banana\r\n\r\n{}',
      'Content-Length: 5\r\n\r\n{]!{}',
      Buffer.alloc(65 * 1024 * 1024, 0x78),
    ];
    for (const bytes of garbage) {
      const { socket } = await place.attach();
      socket.resume();
      socket.write(bytes);
      await until(() => socket.closed, `the connection that sent ${bytes.length} bytes ends`);
    }
    assert.equal((await other.request('deck/status', {})).pid, other.pid);
    assert.equal(isAlive(other.pid), true);
    other.close();
  });
});

describe('the wire of ACP on stdio', function () {
  this.timeout(60_000);
  let place: ServicePlace;
  before(() => {
    place = new ServicePlace();
    place.env['SESSION_DECK_IDLE_MS'] = '20000';
  });
  after(() => place.dispose());

  const open = async (...args: string[]) => {
    const child = await place.command('acp', ...args);
    return { child, rpc: new RawRpc(child.stdout, child.stdin) };
  };

  it('announces what works and speaks version 1 to whoever asks for another', async () => {
    const { rpc, child } = await open();
    const { result } = await rpc.call('initialize', { protocolVersion: 99, clientCapabilities: {} });
    const parsed = z
      .object({
        protocolVersion: z.literal(1),
        agentCapabilities: z.object({
          loadSession: z.literal(true),
          sessionCapabilities: z.record(z.string(), z.object({})),
          _meta: z.object({ sessionDeck: z.object({ methods: z.array(z.string()) }) }),
        }),
      })
      .parse(result);
    assert.deepEqual(Object.keys(parsed.agentCapabilities.sessionCapabilities).sort(), [
      'additionalDirectories',
      'archive',
      'close',
      'delete',
      'fork',
      'list',
      'resume',
      'title',
    ]);
    assert.ok(parsed.agentCapabilities._meta.sessionDeck.methods.includes('aster/session/list'));
    child.stdin.end();
    assert.equal((await outcome(child)).code, 0);
  });

  it('refuses requests before initialize', async () => {
    const { rpc, child } = await open();
    assert.equal((await rpc.call('session/list', {})).error?.code, -32600);
    child.stdin.end();
  });

  it('answers -32601 to what is not there, and to what only an editor may ask', async () => {
    const { rpc, child } = await open();
    await rpc.initialize();
    for (const method of [
      ...UNKNOWN,
      'deck/configure',
      'deck/service/stop',
      '_deck/configure',
      '_aster/none',
    ]) {
      assert.equal((await rpc.call(method, {})).error?.code, -32601, method);
    }
    child.stdin.end();
  });

  it('names the field that is wrong', async () => {
    const { rpc, child } = await open();
    await rpc.initialize();
    for (const [method, params, field] of BAD) {
      for (const name of method.startsWith('session/') ? [method] : [method, `_${method}`]) {
        const { error } = await rpc.call(name, params);
        assert.equal(error?.code, -32602, name);
        assert.equal(Refusal.parse(error.data).field, field, name);
      }
    }
    child.stdin.end();
  });

  it('answers a parse error and a batch, and goes on', async () => {
    const { rpc, child } = await open();
    await rpc.initialize();
    child.stdin.write('{nonsense\n[]\n');
    await until(() => rpc.received.filter(({ id: one }) => one === null).length === 2, 'two errors');
    assert.deepEqual(
      rpc.received.filter(({ id: one }) => one === null).map(({ error }) => error?.code),
      [-32700, -32600],
    );
    assert.equal((await rpc.call('deck/status', {})).error, undefined);
    child.stdin.end();
  });

  it('still answers what was asked before the client closed its end', async () => {
    const child = await place.command('acp');
    child.stdin.end(
      [
        { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } },
        { jsonrpc: '2.0', id: 2, method: '_deck/status', params: {} },
      ]
        .map((message) => `${JSON.stringify(message)}\n`)
        .join(''),
    );
    const { code, stdout } = await outcome(child);
    assert.equal(code, 0);
    const ids = stdout
      .trim()
      .split('\n')
      .map((line) => z.looseObject({ id: z.number() }).parse(JSON.parse(line)).id);
    assert.deepEqual(ids, [1, 2]);
  });

  it('ends with one sentence when the service dies', async () => {
    const { rpc, child } = await open();
    await rpc.initialize();
    const ended = outcome(child);
    process.kill(place.endpoint()!.pid, 'SIGKILL');
    const { code, stderr } = await ended;
    assert.equal(code, 1);
    assert.match(stderr, /^session-deck: [^\n]*ended[^\n]*\n$/);
  });

  it('says why there is no service to be had', async () => {
    const inTheWay = path.join(place.workspace, 'file');
    fs.writeFileSync(inTheWay, '');
    const { code, stdout, stderr } = await outcome(await place.command('acp', '--store', inTheWay));
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^session-deck: [^\n]+\n$/);
  });
});
