import assert from 'node:assert/strict';
import * as z from 'zod';
import { PromptResult } from '../../src/protocol/acp.js';
import { InfoResult } from '../../src/protocol/aster.js';
import { Status } from '../../src/protocol/deck.js';
import { AcpPlace, type AcpPeer } from '../support/acp_place.js';
import { outcome, until } from '../support/service.js';

describe('bad ACP clients', function () {
  this.timeout(60_000);
  let place: AcpPlace;
  /** Another client with a turn that runs, which must not notice anything. */
  let witness: AcpPeer;
  let sessionId: string;
  let turn: ReturnType<AcpPeer['prompt']>;
  before(async () => {
    place = new AcpPlace();
    witness = await place.open();
    sessionId = await witness.begin();
    turn = witness.prompt(sessionId, 'wait', 'echo never');
    await until(
      async () => (await witness.rpc.request('aster/session/info', { sessionId }, InfoResult)).activeRun,
      'the turn runs',
    );
  });
  afterEach(async () => {
    const info = await witness.rpc.request('aster/session/info', { sessionId }, InfoResult);
    assert.equal(info.activeRun?.state, 'running');
  });
  after(async () => {
    witness.rpc.notify('session/cancel', { sessionId });
    assert.equal(PromptResult.parse((await turn).result).stopReason, 'cancelled');
    await place.dispose();
  });

  const works = async ({ rpc }: AcpPeer) => Status.parse((await rpc.call('_deck/status', {})).result);
  /** Errors that name no request, in the order in which they came. */
  const refusals = ({ rpc }: AcpPeer) =>
    rpc.received.flatMap(({ id, error }) => (id === null && error ? [error.code] : []));

  it('get an answer before they are initialized, whatever they ask', async () => {
    const peer = await place.connect();
    for (const method of ['session/list', 'session/prompt', 'aster/session/list', 'nobody/knows'])
      assert.equal((await peer.rpc.call(method, {})).error?.code, -32600, method);
    // Nobody has said who asks.
    peer.rpc.notify('session/cancel', { sessionId });
    assert.equal((await peer.rpc.call('initialize', { protocolVersion: 'one' })).error?.code, -32602);
    assert.equal((await peer.rpc.call('session/list', {})).error?.code, -32600);
    await peer.rpc.initialize();
    await works(peer);
    peer.leave();
  });

  it('may initialize twice, and ask along with it', async () => {
    const peer = await place.connect();
    const answers = await Promise.all([
      peer.rpc.initialize(),
      works(peer),
      peer.rpc.initialize(),
      works(peer),
    ]);
    assert.deepEqual(answers[0].result, answers[2].result);
    const { total } = answers[3].counts;
    assert.equal(typeof total, 'number');
    peer.leave();
    assert.equal((await outcome(peer.child)).code, 0);
  });

  it('get an answer to what is no request, and go on', async () => {
    const peer = await place.connect();
    const lines: [string, number][] = [
      ['{nonsense', -32700],
      ['{"jsonrpc":"2.0","id":1,"method":"session/list"', -32700],
      ['[]', -32600],
      ['[{"jsonrpc":"2.0","id":1,"method":"session/list"}]', -32600],
      ['42', -32600],
      ['null', -32600],
      ['"text"', -32600],
      ['{}', -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"session/list"}', -32600],
      ['{"jsonrpc":"2.0","id":{},"method":"initialize","params":{"protocolVersion":1}}', -32600],
      ['{"jsonrpc":"2.0","id":true,"method":"session/list"}', -32600],
      ['{"jsonrpc":"2.0","id":[1],"method":"session/list"}', -32600],
      ['{"jsonrpc":"2.0","id":7,"method":7}', -32600],
    ];
    for (const [line] of lines) peer.child.stdin.write(`${line}\n`);
    peer.child.stdin.write('\n   \n\r\n');
    await until(() => refusals(peer).length >= lines.length, 'every line is answered');
    assert.deepEqual(refusals(peer).sort(), lines.map(([, code]) => code).sort());
    await peer.rpc.initialize();
    // Answers to what nobody asked, and notifications that nobody knows.
    for (const message of [
      { jsonrpc: '2.0', id: 99, result: {} },
      { jsonrpc: '2.0', id: 'x', error: { code: 1, message: 'no' } },
      { jsonrpc: '2.0', id: 98 },
      { jsonrpc: '2.0', method: 'nobody/knows', params: 5 },
      { jsonrpc: '2.0', method: 'session/cancel', params: 'all of them' },
      { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 5 } },
    ])
      peer.rpc.send(message);
    await works(peer);
    peer.leave();
  });

  it('get answers under odd and repeated ids', async () => {
    const peer = await place.open();
    const ids = ['text', '', 0, -1, 1.5, 1e300, null, 'text', 7, 7];
    for (const id of ids) peer.rpc.send({ jsonrpc: '2.0', id, method: '_deck/status', params: {} });
    const answered = () => peer.rpc.received.filter(({ result }) => Status.safeParse(result).success);
    await until(() => answered().length === ids.length, 'every request is answered');
    assert.deepEqual(
      answered()
        .map(({ id }) => String(id))
        .sort(),
      ids.map(String).sort(),
    );
    await works(peer);
    peer.leave();
  });

  it('are told that a line is too long, and go on', async () => {
    const peer = await place.open();
    const long = `{"jsonrpc":"2.0","id":"long","method":"_deck/status","params":{"x":"${'y'.repeat(33 * 1024 * 1024)}"}}\n`;
    peer.child.stdin.write(long);
    await works(peer);
    assert.deepEqual(refusals(peer), [-32600]);
    const [refusal] = peer.rpc.received.filter(({ id }) => id === null);
    assert.match(refusal?.error?.message ?? '', /longer than \d+ bytes/);
    // Up to the limit it is a request like any other.
    const text = 'z'.repeat(20 * 1024 * 1024);
    assert.equal((await peer.rpc.call('aster/interject', { sessionId, text })).error?.code, -32602);
    peer.leave();
    assert.equal((await outcome(peer.child)).code, 0);
  });

  it('may send what is no text', async () => {
    const peer = await place.open();
    peer.child.stdin.write(Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x0a]));
    const title = Buffer.concat([
      Buffer.from(
        `{"jsonrpc":"2.0","id":"odd","method":"session/set_title","params":{"sessionId":"${sessionId}","title":"a`,
      ),
      Buffer.from([0xc3, 0x28, 0xf0, 0x9f]),
      Buffer.from('b"}}\n'),
    ]);
    peer.child.stdin.write(title);
    const answer = await until(
      () => peer.rpc.received.find(({ id }) => id === 'odd'),
      'the title is answered',
    );
    assert.equal(z.object({ title: z.string() }).parse(answer.result).title, 'a\ufffd(\ufffdb');
    assert.deepEqual(refusals(peer), [-32700]);
    peer.leave();
  });

  it('may send wrong types and unknown methods', async () => {
    const peer = await place.open();
    const odd: unknown[] = [undefined, null, 5, 'x', true, [], [1], {}, { sessionId: {} }];
    for (const params of odd)
      for (const method of [
        'session/new',
        'session/load',
        'session/resume',
        'session/prompt',
        'session/close',
        'session/archive',
        'session/set_title',
        'session/set_mode',
        'session/set_config_option',
        'aster/interject',
      ]) {
        const { error } = await peer.rpc.call(method, params);
        assert.equal(error?.code, -32602, `${method} ${JSON.stringify(params)} ${JSON.stringify(error)}`);
      }
    for (const method of [
      '',
      'toString',
      '__proto__',
      'session/status',
      '_session/list',
      'fs/read_text_file',
    ])
      assert.equal((await peer.rpc.call(method, {})).error?.code, -32601, method);
    peer.leave();
  });

  it('may end in the middle of a line, and of anything that was asked', async () => {
    const half = await place.open();
    half.child.stdin.end('{"jsonrpc":"2.0","id":5,"meth');
    assert.equal((await outcome(half.child)).code, 0);
    for (const method of ['session/new', 'session/load', 'session/list', 'aster/compact_conversation']) {
      const peer = await place.open();
      const own = await peer.begin();
      const cwd = place.workspace;
      const asked = peer.rpc.call(method, { sessionId: own, cwd, mcpServers: [] });
      asked.catch(() => undefined);
      peer.vanish();
      await outcome(peer.child);
    }
    await until(() => works(witness).then(({ pid }) => pid > 0), 'the service is still there');
  });

  it('get their answer when they have said their last word', async () => {
    const peer = await place.open();
    const asked = peer.begin();
    peer.leave();
    assert.match(await asked, /./);
    assert.equal((await outcome(peer.child)).code, 0);
  });

  it('keep nobody waiting when they do not read', async () => {
    const peer = await place.open();
    const own = await witness.begin();
    await peer.load(own);
    peer.child.stdout.pause();
    peer.child.stdout.removeAllListeners('data');
    const flood = witness.prompt(own, 'flood 200 40000');
    assert.equal(PromptResult.parse((await flood).result).stopReason, 'end_turn');
    await works(witness);
    peer.vanish();
  });
});
