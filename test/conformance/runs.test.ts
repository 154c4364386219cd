import assert from 'node:assert/strict';
import * as z from 'zod';
import { NewResult } from '../../src/protocol/acp.js';
import { CompactResult, InterjectResult } from '../../src/protocol/aster.js';
import { InterjectionsResult } from '../../src/protocol/deck.js';
import { until } from '../support/service.js';
import { asked, refused } from './peers.js';
import { row, World } from './world.js';

const Empty = z.object({});
const Loose = z.looseObject({});
const say = (text: string) => [{ type: 'text', text }];

describe('the contract: runs', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = new World();
    await world.open();
  });
  after(() => world.close());
  const the = () => world;
  const kinds = async (peer: Parameters<World['page']>[0], sessionId: string) =>
    (await world.page(peer, sessionId)).entries.map(({ kind, interjection }) =>
      interjection === true ? 'interjection' : kind,
    );

  row('session/new begins in a folder in scope with an agent that is there', the, async (peer) => [
    await refused(peer, 'session/new', { cwd: 'here', mcpServers: [] }, 'invalid_params', 'cwd'),
    await refused(peer, 'session/new', { cwd: world.elsewhere, mcpServers: [] }, 'forbidden'),
    await refused(
      peer,
      'session/new',
      { cwd: world.cwd, mcpServers: [], _meta: { agent: 'nobody' } },
      'invalid_params',
      '_meta.agent',
    ),
    await refused(
      peer,
      'session/new',
      { cwd: world.cwd, mcpServers: [], _meta: { agent: 'broken' } },
      'agent_unavailable',
    ),
    await refused(
      peer,
      'session/new',
      { cwd: world.cwd, mcpServers: [], _meta: { agent: 'strict' } },
      'agent_failed',
    ),
  ]);

  row('a prompt ends with its reason; a second one waits for nobody', the, async (peer) => {
    const sessionId = await world.session(peer);
    const reasons = [
      await world.prompt(peer, sessionId, 'echo hello'),
      await world.prompt(peer, sessionId, 'stop max_tokens'),
      await world.prompt(peer, sessionId, 'stop refusal'),
    ];
    const { ended } = await world.running(peer, sessionId, 'wait');
    const busy = await refused(
      peer,
      'session/prompt',
      { sessionId, prompt: say('me too') },
      'turn_in_progress',
    );
    peer.notify('session/cancel', { sessionId });
    return [...reasons, busy, await ended, await kinds(peer, sessionId)];
  });

  row('a failing agent keeps its words, a dying one says how it ended', the, async (peer) => {
    const sessionId = await world.session(peer);
    const failed = await refused(
      peer,
      'session/prompt',
      { sessionId, prompt: say('error the tea is cold') },
      'agent_failed',
    );
    assert.match(JSON.stringify(failed), /the tea is cold/);
    await refused(peer, 'session/prompt', { sessionId, prompt: say('die 5') }, 'agent_failed');
    assert.equal(await world.prompt(peer, sessionId, 'echo back again'), 'end_turn');
    return failed;
  });

  row('session/close ends the run and keeps the session', the, async (peer) => {
    const sessionId = await world.session(peer);
    const { ended } = await world.running(peer, sessionId, 'wait');
    await asked(peer, 'session/close', { sessionId }, Empty);
    assert.equal(await ended, 'cancelled');
    await asked(peer, 'session/close', { sessionId }, Empty);
    return [await world.prompt(peer, sessionId, 'echo again'), await kinds(peer, sessionId)];
  });

  row('session/load and session/resume attach; both launch nothing', the, async (peer) => {
    const sessionId = await world.session(peer, 'echo one');
    const Controls = z.looseObject({});
    await asked(peer, 'session/load', { sessionId, cwd: world.cwd, mcpServers: [] }, Controls);
    await asked(peer, 'session/resume', { sessionId, cwd: world.cwd }, Controls);
    return refused(
      peer,
      'session/load',
      { sessionId, cwd: world.elsewhere, mcpServers: [] },
      'session_unavailable',
    );
  });

  row('aster/interject: idle, injected, and the receipt by its id', the, async (peer) => {
    const sessionId = await world.session(peer);
    const idle = await asked(peer, 'aster/interject', { sessionId, text: 'nobody hears' }, InterjectResult);
    const { ended, runId } = await world.running(peer, sessionId, 'steer');
    const interjectionId = `${peer.surface}-injected`;
    const params = { sessionId, text: 'turn left', interjectionId, expectedRunId: runId };
    const injected = await asked(peer, 'aster/interject', params, InterjectResult);
    assert.equal(injected.runId, runId);
    const again = await asked(peer, 'aster/interject', params, InterjectResult);
    assert.deepEqual(again, injected);
    await ended;
    return [
      idle.status,
      injected.status,
      await kinds(peer, sessionId),
      await refused(peer, 'aster/interject', { ...params, text: 'turn right' }, 'operation_conflict'),
    ];
  });

  row('aster/interject: queued and then a turn of its own; handed back when cancelled', the, async (peer) => {
    const sessionId = await world.session(peer);
    const first = await world.running(peer, sessionId, 'slow 400');
    const queued = await asked(peer, 'aster/interject', { sessionId, text: 'refuse first' }, InterjectResult);
    await first.ended;
    await until(async () => (await world.page(peer, sessionId)).entries.length >= 3, 'it became a turn');
    const second = await world.running(peer, sessionId, 'wait');
    const back = await asked(peer, 'aster/interject', { sessionId, text: 'refuse second' }, InterjectResult);
    peer.notify('session/cancel', { sessionId });
    await second.ended;
    const { interjections } = await asked(peer, 'deck/interjections', { sessionId }, InterjectionsResult);
    const [returned] = interjections;
    assert.equal(returned?.interjectionId, back.interjectionId);
    await asked(peer, 'deck/interjection/discard', { sessionId, interjectionId: back.interjectionId }, Empty);
    return [
      queued.status,
      back.status,
      returned.state,
      returned.text,
      await refused(
        peer,
        'deck/interjection/discard',
        { sessionId, interjectionId: back.interjectionId },
        'already_resolved',
      ),
      await refused(
        peer,
        'deck/interjection/discard',
        { sessionId, interjectionId: 'unknown' },
        'task_unavailable',
      ),
    ];
  });

  row('aster/interject refuses another run and another generation', the, async (peer) => {
    const sessionId = await world.session(peer);
    const { ended } = await world.running(peer, sessionId, 'wait');
    const refusals = [
      await refused(
        peer,
        'aster/interject',
        { sessionId, text: 'x', expectedRunId: 'another' },
        'no_active_run',
      ),
      await refused(
        peer,
        'aster/interject',
        { sessionId, text: 'x', expectedGeneration: 9 },
        'generation_stale',
      ),
      await refused(peer, 'aster/interject', { sessionId, text: '' }, 'invalid_params', 'text'),
    ].map((one) => ({ ...Loose.parse(one), runId: '' }));
    peer.notify('session/cancel', { sessionId });
    await ended;
    return refusals;
  });

  row(
    'aster/compact_conversation keeps the transcript; once at a time, not during a run',
    the,
    async (peer) => {
      const sessionId = await world.session(peer, 'echo one', 'usage 50000');
      const before = (await world.page(peer, sessionId)).total;
      const { ended } = await world.running(peer, sessionId, 'wait');
      const busy = await refused(peer, 'aster/compact_conversation', { sessionId }, 'turn_in_progress');
      peer.notify('session/cancel', { sessionId });
      await ended;
      const failed = await refused(
        peer,
        'aster/compact_conversation',
        { sessionId, userContext: 'fail' },
        'agent_failed',
      );
      const { status, tokensBefore, tokensAfter } = await asked(
        peer,
        'aster/compact_conversation',
        { sessionId, userContext: 'keep the heron' },
        CompactResult,
      );
      const { entries, total } = await world.page(peer, sessionId);
      assert.ok(total > before);
      assert.ok(entries.some(({ kind, content }) => kind === 'compaction' && content.length > 0));
      const mute = await asked(
        peer,
        'session/new',
        { cwd: world.cwd, mcpServers: [], _meta: { agent: 'other' } },
        NewResult,
      );
      return [
        busy,
        failed,
        status,
        tokensBefore,
        tokensAfter,
        await refused(peer, 'aster/compact_conversation', { sessionId: mute.sessionId }, 'not_supported'),
      ];
    },
  );

  row('methods nobody knows are not there, by their plain and their underscored name', the, async (peer) => {
    const codes = [];
    for (const name of [
      'nobody/knows',
      '_nobody/knows',
      'aster/nobody/knows',
      '_aster/nobody/knows',
      '_session/list',
    ])
      codes.push((await peer.call(name, {})).error?.code);
    assert.deepEqual(
      codes,
      codes.map(() => -32601),
    );
    const { result } = await peer.call('_aster/session/list', { limit: 1 });
    assert.ok(result);
    return codes;
  });
});
