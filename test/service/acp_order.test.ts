import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { PromptResult } from '../../src/protocol/acp.js';
import { InfoResult } from '../../src/protocol/aster.js';
import { AcpPlace, type AcpPeer } from '../support/acp_place.js';
import { outcome, until } from '../support/service.js';

const stopReason = (answer: { result?: unknown }) => PromptResult.parse(answer.result).stopReason;

describe('ACP clients on running sessions', function () {
  this.timeout(60_000);
  let place: AcpPlace;
  before(() => (place = new AcpPlace()));
  afterEach(() => place.leaveAll());
  after(() => place.dispose());

  const running = ({ rpc }: AcpPeer, sessionId: string) =>
    until(
      async () => (await rpc.request('aster/session/info', { sessionId }, InfoResult)).activeRun,
      'the run is active',
    );
  const numbers = (text: string) => text.trim().split(/\s+/).map(Number);
  const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

  it('replays a running turn to who loads it, without losing or repeating a chunk', async () => {
    const peer = await place.open();
    const sessionId = await peer.begin();
    await peer.prompt(sessionId, 'stream 30', 'tool Read', 'think about it');
    const turn = peer.prompt(sessionId, 'tool Early', 'stream 400 5', 'tool Late');
    await until(() => numbers(peer.text(sessionId)).length > 60, 'the stream has begun');
    const loaders: AcpPeer[] = [];
    // One after the other, so that they come at different moments; some twice.
    for (let i = 0; i < 6; i += 1) {
      const loader = await place.open();
      loaders.push(loader);
      assert.equal((await loader.load(sessionId)).error, undefined);
      await sleep(40 * i);
    }
    assert.equal(stopReason(await turn), 'end_turn');
    const whole = [...upTo(30), ...upTo(400)];
    for (const loader of loaders) {
      await until(
        () =>
          loader
            .updates(sessionId, 'tool_call', 'tool_call_update')
            .some(({ title }) => title === 'Late README.md'),
        'the last tool call',
      );
      assert.deepEqual(numbers(loader.text(sessionId)), whole);
      const calls = loader.updates(sessionId, 'tool_call').map(({ title }) => title);
      assert.deepEqual(calls, ['Read README.md', 'Early README.md', 'Late README.md']);
      const users = loader.text(sessionId, 'user_message_chunk');
      assert.equal(users.match(/stream 400/g)?.length, 1);
    }
  });

  it('replays a session anew to who loads it twice, and goes on from there', async () => {
    const peer = await place.open();
    const sessionId = await peer.begin();
    const turn = peer.prompt(sessionId, 'stream 200 5');
    await until(() => numbers(peer.text(sessionId)).length > 20, 'the stream has begun');
    const loader = await place.open();
    await loader.load(sessionId);
    const first = loader.updates(sessionId).length;
    await Promise.all([loader.load(sessionId), loader.load(sessionId)]);
    await turn;
    await until(() => loader.text(sessionId).includes('200'), 'the end of the stream');
    assert.ok(first > 0);
    const text = loader.text(sessionId);
    const last = numbers(text.slice(text.lastIndexOf('1 2 3 ')));
    assert.deepEqual(last, upTo(200));
  });

  it('replays nothing on resume, and passes on what comes', async () => {
    const peer = await place.open();
    const sessionId = await peer.begin();
    await peer.prompt(sessionId, 'echo before');
    const other = await place.open();
    assert.equal((await other.resume(sessionId)).error, undefined);
    await peer.prompt(sessionId, 'echo after');
    await until(() => other.text(sessionId) !== '', 'the live turn');
    assert.equal(other.text(sessionId), 'after');
    assert.equal(other.text(sessionId, 'user_message_chunk'), 'echo after');
  });

  it('tells who opens a session which commands there are and how full its context is', async () => {
    const peer = await place.open();
    const sessionId = await peer.begin();
    const commands = (one: AcpPeer) => one.updates(sessionId, 'available_commands_update').length;
    await until(() => commands(peer) > 0, 'commands of a new session');
    const answered = peer.rpc.received.findIndex(({ id }) => id === peer.rpc.lastId('session/new'));
    const told = peer.rpc.received.findLastIndex(({ params }) =>
      JSON.stringify(params ?? {}).includes('available_commands_update'),
    );
    assert.ok(told > answered, 'a client cannot know the session before the answer');
    await peer.prompt(sessionId, 'usage 4321');
    for (const way of ['load', 'resume'] as const) {
      const other = await place.open();
      await other[way](sessionId);
      await until(() => commands(other) > 0, `commands after ${way}`);
      const [usage] = other.updates(sessionId, 'usage_update');
      assert.equal(z.looseObject({ used: z.number() }).parse(usage).used, 4321);
    }
  });

  it('cancels a turn whose cancellation comes right after it, whatever comes before', async () => {
    const peer = await place.open();
    const sessionId = await peer.begin();
    const { rpc } = peer;
    const at = Date.now();
    const plain = peer.prompt(sessionId, 'wait');
    rpc.notify('session/cancel', { sessionId });
    assert.equal(stopReason(await plain), 'cancelled');
    // The turn waits for the replay, and is taken back before it began.
    const loading = peer.load(sessionId);
    const waiting = peer.prompt(sessionId, 'wait');
    rpc.notify('session/cancel', { sessionId });
    assert.equal((await loading).error, undefined);
    assert.equal(stopReason(await waiting), 'cancelled');
    const again = peer.load(sessionId);
    const withdrawn = peer.prompt(sessionId, 'wait');
    rpc.notify('$/cancel_request', { requestId: rpc.lastId('session/prompt') });
    assert.equal((await again).error, undefined);
    const answer = await withdrawn;
    assert.ok(answer.error?.code === -32800 || stopReason(answer) === 'cancelled');
    assert.ok(Date.now() - at < 10_000, 'nothing waits for a grace period');
    assert.equal(stopReason(await peer.prompt(sessionId, 'echo fine')), 'end_turn');
  });

  it('answers what is cancelled by $/cancel_request', async () => {
    const peer = await place.open();
    const sessionId = await peer.begin();
    await peer.prompt(sessionId, 'flood 500 2000');
    const { rpc } = peer;
    const cancel = (method: string) => rpc.notify('$/cancel_request', { requestId: rpc.lastId(method) });
    const other = await place.open();
    const loading = other.load(sessionId);
    other.rpc.notify('$/cancel_request', { requestId: other.rpc.lastId('session/load') });
    assert.equal((await loading).error?.code, -32800);
    const listing = rpc.call('session/list', {});
    cancel('session/list');
    const list = await listing;
    assert.ok(list.error === undefined || list.error.code === -32800);
    const compacting = rpc.call('aster/compact_conversation', { sessionId, userContext: 'slow' });
    await running(peer, sessionId);
    cancel('aster/compact_conversation');
    assert.equal((await compacting).error?.code, -32800);
    for (const requestId of [9999, 'nobody', null, {}]) rpc.notify('$/cancel_request', { requestId });
    rpc.notify('$/cancel_request', undefined);
    assert.equal((await other.load(sessionId)).error, undefined, 'what was cancelled can be asked again');
  });

  it('tells of a compaction once it has ended, live and on load, as each client can take it', async () => {
    const plain = await place.open();
    const rich = await place.open({ session: { compaction: {}, notices: {} } });
    const sessionId = await plain.begin();
    await rich.resume(sessionId);
    await plain.prompt(sessionId, 'echo before', 'notice look out');
    await plain.rpc.call('aster/compact_conversation', { sessionId, userContext: 'the plan' });
    await plain.rpc.call('aster/compact_conversation', { sessionId, userContext: 'fail' });
    await plain.prompt(sessionId, 'echo after');
    await until(() => rich.text(sessionId).endsWith('after'), 'the last turn is told');
    assert.equal(rich.text(sessionId), 'beforeafter');
    assert.equal(plain.text(sessionId), 'before[The context was compacted]\n\nCompacted. the plan' + 'after');
    assert.deepEqual(plain.updates(sessionId, 'notice', 'compaction_update', 'compaction_summary_chunk'), []);
    assert.equal(rich.updates(sessionId, 'notice').length, 1);
    const told = (peer: AcpPeer) =>
      peer
        .updates(sessionId, 'compaction_update')
        .map(({ compactionId, status }) => ({ compactionId, status }));
    const [id, , failedId] = told(rich).map(({ compactionId }) => compactionId);
    assert.deepEqual(told(rich), [
      { compactionId: id, status: 'in_progress' },
      { compactionId: id, status: 'completed' },
      { compactionId: failedId, status: 'in_progress' },
      { compactionId: failedId, status: 'failed' },
    ]);
    const later = await place.open({ session: { compaction: {}, notices: {} } });
    await later.load(sessionId);
    assert.deepEqual(told(later), [
      { compactionId: id, status: 'completed' },
      { compactionId: failedId, status: 'failed' },
    ]);
    assert.match(JSON.stringify(later.updates(sessionId, 'compaction_update')[0]), /Compacted\. the plan/);
    assert.equal(later.text(sessionId), 'beforeafter', 'what was compacted away is replayed');
    assert.deepEqual(later.updates(sessionId, 'notice'), [], 'a notice is live only');
    const other = await place.open();
    await other.load(sessionId);
    assert.match(
      other.text(sessionId),
      /^before\[The context was compacted\]\n\nCompacted\. the plan.*after$/s,
    );
  });

  it('runs sessions in parallel', async () => {
    const peer = await place.open();
    const waiting = await peer.begin();
    const other = await peer.begin();
    const turn = peer.prompt(waiting, 'wait');
    await running(peer, waiting);
    assert.equal(stopReason(await peer.prompt(other, 'echo meanwhile')), 'end_turn');
    assert.equal(peer.text(other), 'meanwhile');
    peer.rpc.notify('session/cancel', { sessionId: waiting });
    assert.equal(stopReason(await turn), 'cancelled');
  });

  it('leaves the turns and the connection of others alone when a client vanishes', async () => {
    const first = await place.open();
    const second = await place.open();
    const mine = await first.begin();
    const theirs = await second.begin();
    void first.prompt(mine, 'slow 1000', 'echo done').catch(() => undefined);
    void first.load(theirs).catch(() => undefined);
    await running(second, mine);
    const turn = second.prompt(theirs, 'slow 1200', 'echo through');
    first.vanish();
    await outcome(first.child);
    assert.equal(stopReason(await turn), 'end_turn');
    assert.equal(second.text(theirs), 'through');
    await second.load(mine);
    await until(() => second.text(mine) === 'done', 'the turn of who vanished goes on');
  });
});
