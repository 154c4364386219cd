import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { AcpListResult, NewResult, PromptResult } from '../../src/protocol/acp.js';
import { InfoResult, ListResult } from '../../src/protocol/aster.js';
import { FamilyResult } from '../../src/protocol/deck.js';
import { AcpPlace, type AcpPeer } from '../support/acp_place.js';
import { until } from '../support/service.js';

const Empty = z.strictObject({});
const Info = z.looseObject({
  title: z.string().nullish(),
  updatedAt: z.string().optional(),
  _meta: z.looseObject({ state: z.string().optional(), archived: z.boolean().optional() }).optional(),
});

describe('sessions of an ACP client', function () {
  this.timeout(60_000);
  let place: AcpPlace;
  before(() => (place = new AcpPlace()));
  afterEach(() => place.leaveAll());
  after(() => place.dispose());

  const listed = async ({ rpc }: AcpPeer, archived?: string) =>
    (await rpc.request('session/list', archived === undefined ? {} : { archived }, AcpListResult)).sessions;
  const ran = async (peer: AcpPeer, ...lines: string[]) => {
    const sessionId = await peer.begin();
    PromptResult.parse((await peer.prompt(sessionId, ...lines)).result);
    return sessionId;
  };

  it('announces on the wire what it can do', async () => {
    const peer = await place.connect();
    const { result } = await peer.rpc.initialize();
    const { agentCapabilities } = z
      .object({
        agentCapabilities: z.object({
          loadSession: z.literal(true),
          promptCapabilities: z.object({
            image: z.literal(true),
            audio: z.literal(false),
            embeddedContext: z.literal(true),
          }),
          sessionCapabilities: z.record(z.string(), z.strictObject({})),
        }),
      })
      .parse(result);
    const names = Object.keys(agentCapabilities.sessionCapabilities);
    for (const name of ['list', 'delete', 'resume', 'close', 'archive', 'title', 'additionalDirectories'])
      assert.ok(names.includes(name), `${name} in ${names.join(' ')}`);
  });

  it('archives and brings back', async () => {
    const peer = await place.open();
    const sessionId = await ran(peer, 'echo hello');
    for (let i = 0; i < 2; i += 1) await peer.rpc.request('session/archive', { sessionId }, Empty);
    const has = async (archived?: string) =>
      (await listed(peer, archived)).find((one) => one.sessionId === sessionId);
    assert.equal(await has(), undefined);
    assert.equal(await has('exclude'), undefined);
    assert.equal((await has('only'))?.archived, true);
    assert.equal((await has('include'))?.archived, true);
    const rows = await peer.rpc.request('aster/session/list', { archived: 'only' }, ListResult);
    assert.deepEqual(
      rows.sessions.map((row) => [row.sessionId, row.archived]),
      [[sessionId, true]],
    );
    for (let i = 0; i < 2; i += 1) await peer.rpc.request('session/unarchive', { sessionId }, Empty);
    assert.equal((await has())?.archived, undefined);
    assert.equal((await peer.rpc.call('session/list', { archived: 'maybe' })).error?.code, -32602);
  });

  it('ends the turn of a session that is archived', async () => {
    const peer = await place.open();
    const sessionId = await peer.begin();
    const turn = peer.prompt(sessionId, 'wait');
    await until(() => peer.updates(sessionId, 'session_info_update').length > 0, 'the turn has begun');
    await peer.rpc.request('session/archive', { sessionId }, Empty);
    assert.equal(PromptResult.parse((await turn).result).stopReason, 'cancelled');
  });

  it('answers about unknown, deleted and hidden sessions with the same bytes', async () => {
    const peer = await place.open();
    const deleted = await ran(peer, 'echo gone');
    await peer.rpc.request('session/delete', { sessionId: deleted }, Empty);
    const hidden = await ran(peer, 'echo hidden');
    const other = path.join(place.workspace, 'elsewhere');
    fs.mkdirSync(other, { recursive: true });
    const narrow = await place.open({}, '--workspace', other);
    const calls: [string, Record<string, unknown>][] = [
      ['session/archive', {}],
      ['session/unarchive', {}],
      ['session/set_title', { title: 'x' }],
      ['deck/session/family', {}],
    ];
    for (const [method, params] of calls) {
      const answers = [];
      for (const sessionId of [deleted, hidden, 'never-was']) {
        const { error } = await narrow.rpc.call(method, { sessionId, ...params });
        assert.equal(error?.code, -32002, method);
        answers.push(JSON.stringify(error));
      }
      assert.equal(new Set(answers).size, 1, answers.join('\n'));
    }
  });

  it('sets a title that nobody but a person changes again', async () => {
    const peer = await place.open();
    const sessionId = await ran(peer, 'echo hello');
    const set = (title: unknown) => peer.rpc.call('session/set_title', { sessionId, title });
    const { result } = await set('  My \u202etitle\u0007 ');
    assert.deepEqual(result, { title: 'My title' });
    await peer.prompt(sessionId, 'title From the agent');
    assert.equal((await listed(peer)).find((one) => one.sessionId === sessionId)?.title, 'My title');
    assert.deepEqual((await set('x'.repeat(200))).result, { title: 'x'.repeat(200) });
    for (const title of ['', ' \u200b ', 'x'.repeat(201), null, 7]) {
      const { error } = await set(title);
      assert.equal(error?.code, -32602);
      assert.equal(z.looseObject({ field: z.string() }).parse(error.data).field, 'title');
    }
  });

  it('tells every client of news in the list, changed fields only, a few times a second', async () => {
    const peer = await place.open();
    const other = await place.open();
    const elsewhere = path.join(place.workspace, 'elsewhere');
    fs.mkdirSync(elsewhere, { recursive: true });
    const narrow = await place.open({}, '--workspace', elsewhere);
    const sessionId = await ran(peer, 'echo hello');
    const told = (one: AcpPeer) =>
      one.updates(sessionId, 'session_info_update').map((update) => Info.parse(update));
    await until(() => told(other).some(({ title }) => title === 'echo hello'), 'the first title is told');
    await sleep(300);
    const before = told(other).length;
    await peer.rpc.request('session/set_title', { sessionId, title: 'Another' }, z.unknown());
    await until(() => told(other).length > before, 'the title is told');
    assert.deepEqual(told(other).at(-1), { sessionUpdate: 'session_info_update', title: 'Another' });
    const started = Date.now();
    const chatty = peer.prompt(sessionId, ...Array.from({ length: 40 }, (_, i) => `title t${i}\nslow 25`));
    await chatty;
    const seconds = (Date.now() - started) / 1000;
    const many = told(other).length - before - 1;
    assert.ok(many <= 5 * (seconds + 1), `${many} in ${seconds} s`);
    assert.deepEqual(told(narrow), []);
  });

  it('keeps further directories of a session, the whole list each time', async () => {
    const peer = await place.open({}, '--workspace', place.workspace);
    const inside = path.join(place.workspace, 'lib');
    fs.mkdirSync(inside, { recursive: true });
    const additionalDirectories = [inside];
    const sessionId = await peer.begin({ additionalDirectories });
    await peer.prompt(sessionId, 'echo hello');
    const told = async () =>
      (await listed(peer)).find((one) => one.sessionId === sessionId)?.additionalDirectories;
    assert.deepEqual(await told(), [inside]);
    assert.equal((await peer.load(sessionId)).error, undefined);
    assert.equal(await told(), undefined);
    assert.equal((await peer.resume(sessionId, { additionalDirectories })).error, undefined);
    assert.deepEqual(await told(), [inside]);
    const info = await peer.rpc.request('aster/session/info', { sessionId }, InfoResult);
    assert.deepEqual(info.additionalDirectories, [inside]);
    const cases: [string[], number][] = [
      [['lib'], -32602],
      [[path.dirname(place.workspace)], 1403],
      [[inside, `${place.workspace}-not`], 1403],
    ];
    for (const [wrong, code] of cases) {
      const more = { additionalDirectories: wrong };
      const answers = [
        await peer.rpc.call('session/new', { cwd: place.workspace, mcpServers: [], ...more }),
        await peer.load(sessionId, more),
        await peer.resume(sessionId, more),
      ];
      for (const { error } of answers) {
        assert.equal(error?.code, code);
        assert.equal(z.looseObject({ field: z.string() }).parse(error.data).field, 'additionalDirectories');
      }
    }
    assert.deepEqual(await told(), [inside]);
  });

  it('forks after the last completed turn, and tells the family', async () => {
    const peer = await place.open({}, '--workspace', place.workspace);
    const sessionId = await ran(peer, 'echo hello');
    const lib = path.join(place.workspace, 'lib');
    fs.mkdirSync(lib, { recursive: true });
    const params = { sessionId, cwd: place.workspace, mcpServers: [], additionalDirectories: [lib] };
    const fork = (await peer.rpc.request('session/fork', params, NewResult)).sessionId;
    assert.equal(peer.text(fork), '', 'nothing is replayed');
    const row = (await listed(peer)).find((one) => one.sessionId === fork);
    assert.deepEqual(row?.additionalDirectories, [lib]);
    await peer.load(fork);
    assert.equal(peer.text(fork), 'hello');
    const refused: [string[], number][] = [
      [['lib'], -32602],
      [[path.dirname(place.workspace)], 1403],
    ];
    for (const [additionalDirectories, code] of refused)
      assert.equal(
        (await peer.rpc.call('session/fork', { ...params, additionalDirectories })).error?.code,
        code,
      );
    for (const id of [sessionId, fork]) {
      const family = await peer.rpc.request('deck/session/family', { sessionId: id }, FamilyResult);
      assert.equal(family.rootId, sessionId);
      assert.deepEqual(
        family.members.map((member) => member.sessionId),
        [sessionId, fork],
      );
    }
  });
});
