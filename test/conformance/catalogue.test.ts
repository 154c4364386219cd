import assert from 'node:assert/strict';
import * as z from 'zod';
import { AcpListResult } from '../../src/protocol/acp.js';
import { DeleteResult, InfoResult, ListResult } from '../../src/protocol/aster.js';
import { alike, asked, refused } from './peers.js';
import { row, World } from './world.js';

const Empty = z.object({});

describe('the contract: sessions and their catalogue', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = new World();
    await world.open();
  });
  after(() => world.close());
  const the = () => world;

  row('session/list pages the sessions in scope, newest first', the, async (peer, { cwd, onDisk }) => {
    await world.session(peer, 'echo one');
    // Its messages are counted once it is in the index.
    await world.page(peer, onDisk);
    const { sessions } = await asked(peer, 'session/list', { cwd }, AcpListResult);
    assert.ok(sessions.every((one) => one.cwd === cwd));
    assert.ok(sessions.some(({ sessionId }) => sessionId === onDisk));
    const times = sessions.map(({ updatedAt = '' }) => updatedAt);
    assert.deepEqual(times, [...times].sort().reverse());
    assert.ok(sessions.every(({ sessionId }) => sessionId !== world.outOfScope));
    const disk = sessions.find(({ sessionId }) => sessionId === onDisk);
    return { title: disk?.title, meta: disk?._meta };
  });

  row('session/list of an empty folder is an empty list', the, async (peer, { elsewhere }) => {
    return asked(peer, 'session/list', { cwd: elsewhere }, AcpListResult);
  });

  row('session/list names what is wrong', the, async (peer) => [
    await refused(peer, 'session/list', { cwd: 'relative' }, 'invalid_params', 'cwd'),
    await refused(peer, 'session/list', { cwd: 7 }, 'invalid_params', 'cwd'),
    await refused(peer, 'session/list', { cursor: 'garbage' }, 'cursor_invalid'),
  ]);

  row('aster/session/list pages without a gap, refuses a cursor of another filter', the, async (peer) => {
    for (let i = 0; i < 3; i += 1) await world.session(peer, `echo row ${i}`);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page: z.infer<typeof ListResult> = await asked(
        peer,
        'aster/session/list',
        { limit: 2, ...(cursor === undefined ? {} : { cursor }) },
        ListResult,
      );
      seen.push(...page.sessions.map(({ sessionId }) => sessionId));
      if (page.nextCursor !== undefined) assert.equal(page.sessions.length, 2, 'only the last page is short');
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const { sessions } = await asked(peer, 'aster/session/list', { limit: 200 }, ListResult);
    assert.deepEqual(
      seen,
      sessions.map(({ sessionId }) => sessionId),
    );
    const first = await asked(peer, 'aster/session/list', { limit: 2 }, ListResult);
    return refused(
      peer,
      'aster/session/list',
      { limit: 2, query: 'other', cursor: first.nextCursor },
      'cursor_invalid',
    );
  });

  row('aster/session/list filters by query, headless and kind, and by nothing else', the, async (peer) => {
    const found = await asked(peer, 'aster/session/list', { query: 'LIST fïles' }, ListResult);
    assert.deepEqual(
      found.sessions.map(({ sessionId }) => sessionId),
      [world.onDisk],
    );
    const kinds = await asked(
      peer,
      'aster/session/list',
      { query: 'list files', headless: 'exclude', _meta: { facets: { kind: ['build', 'chat'] } } },
      ListResult,
    );
    assert.equal(kinds.sessions.length, 1);
    const only = await asked(
      peer,
      'aster/session/list',
      { query: 'list files', headless: 'only' },
      ListResult,
    );
    assert.deepEqual(only.sessions, []);
    const widened = await asked(peer, 'aster/session/list', { allowRelax: true, limit: 200 }, ListResult);
    assert.ok(widened.sessions.every(({ sessionId }) => sessionId !== world.outOfScope));
    return [
      await refused(peer, 'aster/session/list', { headless: 'maybe' }, 'invalid_params', 'headless'),
      await refused(
        peer,
        'aster/session/list',
        { _meta: { facets: { kind: 'dance' } } },
        'invalid_params',
        '_meta.facets.kind',
      ),
      await refused(peer, 'aster/session/list', { limit: 0 }, 'invalid_params', 'limit'),
      await refused(peer, 'aster/session/list', { limit: 201 }, 'invalid_params', 'limit'),
    ];
  });

  row('aster/session/info tells everything about one session', the, async (peer, { cwd, onDisk }) => {
    const { cut, source, sourceInfo, children, usage, activeRun } = await asked(
      peer,
      'aster/session/info',
      { sessionId: onDisk, cwd },
      InfoResult,
    );
    assert.equal(activeRun, undefined);
    assert.equal(source, 'claude-code');
    assert.ok(sourceInfo.path?.endsWith('.jsonl'));
    assert.equal(cut.generation, 0);
    return { skipped: sourceInfo.skipped, children, usage };
  });

  row('unknown, out of scope and deleted are one and the same answer', the, async (peer, { cwd }) => {
    const gone = await world.session(peer, 'echo gone');
    await asked(peer, 'aster/session/delete', { sessionId: gone, cwd }, DeleteResult);
    const refusals = [];
    for (const sessionId of ['nobody-knows-it', world.outOfScope, gone])
      for (const [method, params] of [
        ['aster/session/info', { sessionId }],
        ['aster/session/delete', { sessionId, cwd }],
        ['aster/session/transcript/page/v1', { ...world.pageParams(sessionId), operationId: 'same' }],
        ['aster/interject', { sessionId, text: 'x' }],
        ['aster/compact_conversation', { sessionId }],
        ['aster/followup/generate', { sessionId, prompt: 'a', response: 'b' }],
        ['session/load', { sessionId, cwd, mcpServers: [] }],
        ['session/resume', { sessionId, cwd }],
        ['session/prompt', { sessionId, prompt: [{ type: 'text', text: 'x' }] }],
        ['session/fork', { sessionId, cwd }],
        ['session/archive', { sessionId }],
        ['session/unarchive', { sessionId }],
        ['session/set_title', { sessionId, title: 'x' }],
        ['session/set_mode', { sessionId, modeId: 'x' }],
        ['session/set_config_option', { sessionId, configId: 'x', value: 'y' }],
        ['deck/session/rename', { sessionId, title: 'x' }],
        ['deck/session/open', { sessionId }],
        ['deck/session/family', { sessionId }],
        ['deck/turns', { sessionId }],
        ['deck/interjections', { sessionId }],
      ] as const)
        refusals.push(await refused(peer, method, params, 'session_unavailable'));
    alike('one answer for all', refusals);
    return refusals[0];
  });

  row('another cwd than the session has is the same answer too', the, async (peer, { elsewhere, onDisk }) => [
    await refused(peer, 'aster/session/info', { sessionId: onDisk, cwd: elsewhere }, 'session_unavailable'),
    await refused(peer, 'aster/session/delete', { sessionId: onDisk, cwd: elsewhere }, 'session_unavailable'),
    await refused(
      peer,
      'aster/session/transcript/page/v1',
      world.pageParams(onDisk, { cwd: elsewhere }),
      'session_unavailable',
    ),
  ]);

  row(
    'aster/session/delete needs both fields, deletes everywhere, and can be undone',
    the,
    async (peer, { cwd }) => {
      const sessionId = await world.session(peer, 'echo delete me');
      const bad = [
        await refused(peer, 'aster/session/delete', { sessionId }, 'invalid_params', 'cwd'),
        await refused(peer, 'aster/session/delete', { cwd }, 'invalid_params', 'sessionId'),
      ];
      const { undoUntil } = await asked(peer, 'aster/session/delete', { sessionId, cwd }, DeleteResult);
      assert.ok(Date.parse(undoUntil) > Date.now() + 29 * 24 * 3_600_000);
      const { sessions } = await asked(peer, 'aster/session/list', { limit: 200 }, ListResult);
      assert.ok(sessions.every((one) => one.sessionId !== sessionId));
      await refused(peer, 'aster/session/delete', { sessionId, cwd }, 'session_unavailable');
      await asked(peer, 'deck/session/undo_delete', { sessionId }, InfoResult);
      assert.equal((await asked(peer, 'aster/session/info', { sessionId }, InfoResult)).turnCount, 1);
      return bad;
    },
  );

  row('session/delete is silent about what it does not know', the, async (peer) => {
    const known = await world.session(peer, 'echo mine');
    await asked(peer, 'session/delete', { sessionId: 'nobody-knows-it' }, Empty);
    await asked(peer, 'session/delete', { sessionId: world.outOfScope }, Empty);
    await asked(peer, 'session/delete', { sessionId: known }, Empty);
    await asked(peer, 'session/delete', { sessionId: known }, Empty);
    return refused(peer, 'aster/session/info', { sessionId: known }, 'session_unavailable');
  });

  row('session/archive hides, session/unarchive shows, both twice', the, async (peer) => {
    const sessionId = await world.session(peer, 'echo archive me');
    const listed = async (archived?: string) => {
      const rows: string[] = [];
      let cursor: string | undefined;
      do {
        const page: z.infer<typeof AcpListResult> = await asked(
          peer,
          'session/list',
          { ...(archived && { archived }), ...(cursor && { cursor }) },
          AcpListResult,
        );
        rows.push(...page.sessions.map((one) => one.sessionId));
        cursor = page.nextCursor;
      } while (cursor);
      return rows.includes(sessionId);
    };
    await asked(peer, 'session/archive', { sessionId }, Empty);
    await asked(peer, 'session/archive', { sessionId }, Empty);
    const hidden = [await listed(), await listed('include'), await listed('only')];
    await asked(peer, 'session/unarchive', { sessionId }, Empty);
    await asked(peer, 'session/unarchive', { sessionId }, Empty);
    const shown = [await listed(), await listed('include'), await listed('only')];
    assert.deepEqual(
      [hidden, shown],
      [
        [false, true, true],
        [true, true, false],
      ],
    );
    return refused(peer, 'session/list', { archived: 'perhaps' }, 'invalid_params', 'archived');
  });

  row('session/set_title keeps what a person set, and refuses what is no title', the, async (peer) => {
    const sessionId = await world.session(peer, 'echo title me');
    const Title = z.object({ title: z.string() });
    const stored = await asked(
      peer,
      'session/set_title',
      { sessionId, title: ' My\u202e \u0007title ' },
      Title,
    );
    await world.prompt(peer, sessionId, 'title What the agent calls it');
    const { title } = await asked(peer, 'aster/session/info', { sessionId }, InfoResult);
    assert.equal(title, stored.title);
    return [
      stored,
      await refused(peer, 'session/set_title', { sessionId, title: '   ' }, 'invalid_params', 'title'),
      await refused(
        peer,
        'session/set_title',
        { sessionId, title: 'x'.repeat(201) },
        'invalid_params',
        'title',
      ),
    ];
  });

  row('deck/status tells the agents and the counts', the, async (peer) => {
    const Status = z.looseObject({
      agents: z.array(z.looseObject({ id: z.string(), default: z.boolean() })),
      listReady: z.boolean(),
    });
    const { agents } = await asked(peer, 'deck/status', {}, Status);
    return agents.map(({ id, default: standard }) => [id, standard]);
  });
});
