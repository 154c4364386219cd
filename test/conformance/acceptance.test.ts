import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { ForkResult, InfoResult, ListResult, ToolingResult } from '../../src/protocol/aster.js';
import { asked, refused } from './peers.js';
import { row, World } from './world.js';

describe('the acceptance flow', function () {
  this.timeout(60_000);
  let world: World;
  beforeEach(async () => {
    world = new World();
    await world.open();
  });
  afterEach(() => world.close());

  row(
    'lists, reads tools and two pages, forks well and badly, is refused, and deletes',
    () => world,
    async (peer, { cwd, elsewhere, place }) => {
      const mine = await world.session(peer, 'echo one', 'tool Read\necho two', 'echo three');

      const { sessions } = await asked(peer, 'aster/session/list', { cwd }, ListResult);
      assert.ok(sessions.some(({ sessionId }) => sessionId === mine));

      const tooling = await asked(
        peer,
        'aster/session/tooling/v1',
        {
          schema: 'aster.acp.session-tooling.v1',
          sessionId: mine,
          operationId: world.operation(),
          cwd,
        },
        ToolingResult,
      );
      assert.ok(tooling.commands.some(({ name }) => name === 'compact'));

      const first = await world.page(peer, mine, { limit: 3 });
      const second = await world.page(peer, mine, { limit: 3, cursor: first.prevCursor });
      const seen = [...second.entries, ...first.entries];
      assert.deepEqual(
        seen.map(({ ordinal }) => ordinal),
        seen.map((_, index) => index + (seen[0]?.ordinal ?? 0)),
      );

      const { entries, cut } = await world.page(peer, mine);
      const fork = (boundary: string | undefined, more: object = {}) => ({
        schema: 'aster.acp.session-prefix-fork.v1',
        sessionId: mine,
        operationId: world.operation(),
        request: {
          boundary_entry_id: boundary,
          expected_cut: cut,
          target_session_id: `${peer.surface}-fork-${world.operation()}`,
          expected_workspace: { cwd },
          ...more,
        },
      });
      const ends = entries.filter(({ boundary }) => boundary);
      assert.equal(ends.length, 3);
      const method = 'aster/session/fork/prefix/v1';
      const made = await asked(peer, method, fork(ends[1]?.id), ForkResult);
      assert.equal(made.entryCount, (ends[1]?.ordinal ?? 0) + 1);
      const inside = entries.find(({ kind }) => kind === 'tool');
      const refusals = [
        await refused(peer, method, fork(inside?.id), 'boundary_invalid'),
        await refused(peer, method, fork('only a piece of chat text'), 'boundary_invalid'),
        await refused(
          peer,
          method,
          fork(ends[1]?.id, { expected_cut: { generation: 7, revision: 0 } }),
          'cut_stale',
        ),
        await refused(peer, 'aster/session/info', { sessionId: mine, cwd: elsewhere }, 'session_unavailable'),
        await refused(peer, 'aster/session/list', { cursor: `${first.prevCursor ?? ''}x` }, 'cursor_invalid'),
        await refused(
          peer,
          'aster/session/transcript/page/v1',
          world.pageParams(mine, { cursor: 'of another time' }),
          'cursor_invalid',
        ),
        await refused(peer, 'aster/session/info', { sessionId: 'nobody-knows-it' }, 'session_unavailable'),
        await refused(
          peer,
          'aster/session/delete',
          { sessionId: 'nobody-knows-it', cwd },
          'session_unavailable',
        ),
      ];

      // A delete that fails says so and changes nothing.
      const trash = path.join(place.store, 'trash');
      fs.rmSync(trash, { recursive: true, force: true });
      fs.writeFileSync(trash, 'in the way');
      const { error } = await peer.call('aster/session/delete', { sessionId: world.onDisk, cwd });
      assert.ok(error && error.message !== '', 'the failure is told');
      const still = await asked(peer, 'aster/session/info', { sessionId: world.onDisk }, InfoResult);
      assert.ok(fs.existsSync(still.sourceInfo.path ?? ''));
      fs.rmSync(trash);

      for (const sessionId of [made.sessionId, mine]) {
        assert.equal((await peer.call('aster/session/delete', { sessionId, cwd })).error, undefined);
        refusals.push(await refused(peer, 'aster/session/info', { sessionId }, 'session_unavailable'));
      }
      return refusals.map((one) => JSON.stringify(one).replaceAll(/"revision":\d+/g, '"revision":0'));
    },
  );
});
