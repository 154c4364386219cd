import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { ControlsResult, NewResult, PromptResult } from '../../src/protocol/acp.js';
import { AcpPlace, type AcpPeer } from '../support/acp_place.js';
import { isAlive, until } from '../support/service.js';

const Chosen = z.object({ mode: z.string(), model: z.string(), effort: z.string(), fast: z.boolean() });
const Options = z.looseObject({ configOptions: z.array(z.looseObject({ id: z.string() })) });
const withBooleans = { session: { configOptions: { boolean: {} } } };

describe('modes, options and commands of ACP clients', function () {
  this.timeout(60_000);
  let place: AcpPlace;
  before(() => {
    const dir = fs.mkdtempSync(path.join(process.env['TMPDIR'] ?? '/tmp', 'deck-agent-'));
    const features = ['close', 'compact', 'load', 'resume', 'list', 'modes', 'options'];
    place = new AcpPlace({ features, dir });
  });
  afterEach(() => place.leaveAll());
  after(() => place.dispose());

  const optionIds = (value: unknown) => Options.parse(value).configOptions.map(({ id }) => id);
  const chosen = async (peer: AcpPeer, sessionId: string) => {
    const before = peer.text(sessionId).length;
    await peer.prompt(sessionId, 'controls');
    return Chosen.parse(JSON.parse(peer.text(sessionId).slice(before)));
  };
  const last = (peer: AcpPeer, sessionId: string, kind: string) => peer.updates(sessionId, kind).at(-1);

  it('are in the answers that open a session, switches only for who can show them', async () => {
    const plain = await place.open();
    const rich = await place.open(withBooleans);
    const params = { cwd: place.workspace, mcpServers: [] };
    const made = await rich.rpc.request('session/new', params, NewResult);
    assert.equal(made.modes?.currentModeId, 'ask');
    assert.deepEqual(optionIds(made), ['model', 'effort', 'fast']);
    assert.deepEqual(optionIds(await plain.rpc.request('session/new', params, z.unknown())), [
      'model',
      'effort',
    ]);
    const { sessionId } = made;
    await rich.prompt(sessionId, 'echo hello');
    for (const [peer, ids] of [
      [plain, ['model', 'effort']],
      [rich, ['model', 'effort', 'fast']],
    ] as const)
      for (const answer of [await peer.load(sessionId), await peer.resume(sessionId)]) {
        assert.equal(ControlsResult.parse(answer.result).modes?.currentModeId, 'ask');
        assert.deepEqual(optionIds(answer.result), ids);
      }
    const on = { sessionId, configId: 'fast', type: 'boolean', value: true };
    const set = await rich.rpc.call('session/set_config_option', on);
    assert.deepEqual(optionIds(set.result), ['model', 'effort', 'fast']);
    await until(() => last(plain, sessionId, 'config_option_update'), 'the others are told');
    assert.deepEqual(optionIds(last(plain, sessionId, 'config_option_update')), ['model', 'effort']);
    assert.equal((await chosen(rich, sessionId)).fast, true);
  });

  it('are applied before a turn that is asked for right after', async () => {
    const peer = await place.open();
    const sessionId = await peer.begin();
    const { rpc } = peer;
    const set = rpc.call('session/set_mode', { sessionId, modeId: 'code' });
    const option = rpc.call('session/set_config_option', { sessionId, configId: 'effort', value: 'high' });
    const turn = peer.prompt(sessionId, 'controls');
    const after = rpc.call('session/set_mode', { sessionId, modeId: 'ask' });
    assert.equal((await set).error, undefined);
    assert.equal((await option).error, undefined);
    assert.equal(PromptResult.parse((await turn).result).stopReason, 'end_turn');
    const { mode, effort } = Chosen.parse(JSON.parse(peer.text(sessionId)));
    assert.equal(effort, 'high');
    assert.ok(mode === 'code' || mode === 'ask');
    assert.equal((await after).error, undefined);
    assert.equal((await chosen(peer, sessionId)).mode, 'ask');
  });

  it('are told to every client that opened the session, and to no other', async () => {
    const peer = await place.open();
    const other = await place.open();
    const stranger = await place.open();
    const sessionId = await peer.begin();
    await peer.prompt(sessionId, 'echo hello');
    await other.resume(sessionId);
    await peer.rpc.call('session/set_mode', { sessionId, modeId: 'code' });
    const mode = (one: AcpPeer) => last(one, sessionId, 'current_mode_update')?.['currentModeId'];
    await until(() => mode(other) === 'code', 'the mode is told');
    await peer.prompt(sessionId, 'mode ask', 'commands one two', 'option effort high', 'usage 77');
    for (const one of [peer, other]) {
      await until(() => last(one, sessionId, 'usage_update')?.['used'] === 77, 'the last of it is told');
      assert.equal(mode(one), 'ask');
      const commands = JSON.stringify(last(one, sessionId, 'available_commands_update'));
      assert.match(commands, /"one".*"two"/);
      assert.match(JSON.stringify(last(one, sessionId, 'config_option_update')), /"currentValue":"high"/);
    }
    await until(() => stranger.updates(sessionId).length > 0, 'the list is told');
    const kinds = new Set(stranger.updates(sessionId).map(({ sessionUpdate }) => sessionUpdate));
    assert.deepEqual([...kinds], ['session_info_update']);
    const before = other.updates(sessionId, 'current_mode_update').length;
    assert.equal(before, 2, 'nothing is told twice');
  });

  it('are known again after the service ended', async () => {
    const peer = await place.open();
    const sessionId = await peer.begin();
    await peer.prompt(sessionId, 'commands one two', 'mode code');
    const pid = place.endpoint()?.pid ?? 0;
    process.kill(pid, 'SIGTERM');
    await until(() => !isAlive(pid), 'the service ends');
    const next = await place.open();
    const answer = ControlsResult.parse((await next.resume(sessionId)).result);
    assert.equal(answer.modes?.currentModeId, 'code');
    await until(() => last(next, sessionId, 'available_commands_update'), 'the commands are told');
    assert.match(JSON.stringify(last(next, sessionId, 'available_commands_update')), /"one".*"two"/);
    // The agent begins anew with other commands: the client hears of it, though it asked for nothing.
    await next.prompt(sessionId, 'echo again');
    await until(
      () => JSON.stringify(last(next, sessionId, 'available_commands_update')).includes('"compact"'),
      'the commands of the new process',
    );
  });

  it('answer the same to unknown and to hidden sessions', async () => {
    const peer = await place.open();
    const sessionId = await peer.begin();
    const elsewhere = path.join(place.workspace, 'elsewhere');
    fs.mkdirSync(elsewhere, { recursive: true });
    const narrow = await place.open({}, '--workspace', elsewhere);
    for (const [method, params] of [
      ['session/set_mode', { modeId: 'code' }],
      ['session/set_config_option', { configId: 'effort', value: 'high' }],
      ['session/fork', { cwd: place.workspace, mcpServers: [] }],
    ] as const) {
      const hidden = await narrow.rpc.call(method, { sessionId, ...params });
      const unknown = await narrow.rpc.call(method, { sessionId: 'never-was', ...params });
      assert.equal(hidden.error?.code, -32002, method);
      assert.deepEqual(hidden.error, unknown.error);
    }
  });
});
