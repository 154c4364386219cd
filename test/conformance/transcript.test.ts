import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { AcpContentBlock, NewResult } from '../../src/protocol/acp.js';
import { ForkResult, InfoResult, PageResult } from '../../src/protocol/aster.js';
import type { Entry } from '../../src/protocol/entry.js';
import { until } from '../support/service.js';
import { asked, refused, type Peer } from './peers.js';
import { row, World } from './world.js';

const Loose = z.looseObject({});
const brief = ({ kind, content, tool }: Entry) =>
  `${kind} ${tool?.status ?? content.map((block) => AcpContentBlock.parse(block)['text']).join('')}`;

describe('the contract: transcripts and forks', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = new World();
    await world.open();
  });
  after(() => world.close());
  const the = () => world;
  const method = 'aster/session/transcript/page/v1';

  row('a page is ascending, whole, and knows its neighbours', the, async (peer) => {
    const all = await world.page(peer, world.onDisk);
    assert.equal(all.prevCursor, undefined);
    assert.equal(all.nextCursor, undefined);
    assert.deepEqual(
      all.entries.map(({ ordinal }) => ordinal),
      all.entries.map((_, index) => index),
    );
    const older: Entry[] = [];
    let cursor: string | undefined;
    do {
      const page = await world.page(peer, world.onDisk, {
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      older.unshift(...page.entries);
      cursor = page.prevCursor;
    } while (cursor !== undefined);
    assert.deepEqual(older, all.entries);
    const newer: Entry[] = [];
    let next: string | undefined;
    do {
      const page = await world.page(peer, world.onDisk, {
        limit: 3,
        ...(next === undefined ? { anchor: 'start', direction: 'newer' } : { cursor: next }),
      });
      newer.push(...page.entries);
      next = page.nextCursor;
    } while (next !== undefined);
    assert.deepEqual(newer, all.entries);
    return { entries: all.entries, total: all.total };
  });

  row('a page can begin at an entry', the, async (peer) => {
    const { entries } = await world.page(peer, world.onDisk);
    const middle = entries[3];
    const newer = await world.page(peer, world.onDisk, {
      anchor: { entryId: middle?.id },
      direction: 'newer',
      limit: 2,
    });
    assert.equal(newer.entries[0]?.id, middle?.id);
    const older = await world.page(peer, world.onDisk, {
      anchor: { entryId: middle?.id },
      direction: 'older',
      limit: 2,
    });
    assert.equal(older.entries.at(-1)?.id, middle?.id);
    return refused(
      peer,
      method,
      world.pageParams(world.onDisk, { anchor: { entryId: 'no-such-entry' } }),
      'invalid_params',
      'anchor',
    );
  });

  row('pages refuse what is not theirs', the, async (peer, { onDisk }) => [
    await refused(peer, method, world.pageParams(onDisk, { schema: 'other' }), 'invalid_params', 'schema'),
    await refused(peer, method, world.pageParams(onDisk, { limit: 201 }), 'invalid_params', 'limit'),
    await refused(peer, method, world.pageParams(onDisk, { cwd: undefined }), 'invalid_params', 'cwd'),
    await refused(peer, method, world.pageParams(onDisk, { cursor: 'x' }), 'cursor_invalid'),
    await refused(
      peer,
      method,
      world.pageParams(onDisk, { operationId: undefined }),
      'invalid_params',
      'operationId',
    ),
  ]);

  row('a cursor of a rewritten history is stale', the, async (peer, { cwd, place }) => {
    const folder = path.join(place.home, '.claude', 'projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'));
    const id = `aaaaaaaa-0000-4000-8000-00000000000${peer.surface === 'acp' ? '1' : '2'}`;
    const text = fs
      .readFileSync(path.join(folder, `${world.onDisk}.jsonl`), 'utf8')
      .replaceAll(world.onDisk, id);
    const file = path.join(folder, `${id}.jsonl`);
    fs.writeFileSync(file, text);
    const { prevCursor: cursor } = await until(async () => {
      const { result } = await peer.call(method, world.pageParams(id, { limit: 2 }));
      return result === undefined ? undefined : PageResult.parse(result);
    }, 'the new file can be read');
    assert.ok(cursor);
    const lines = text.trimEnd().split('\n');
    fs.writeFileSync(file, `${lines.slice(0, 1).join('\n').replace('List the files', 'Something else')}\n`);
    await until(
      async () => (await peer.call(method, world.pageParams(id, { cursor }))).error,
      'the cursor is refused',
    );
    return refused(peer, method, world.pageParams(id, { cursor }), 'cursor_stale');
  });

  row('turns and content are read by their own names', the, async (peer, { onDisk }) => {
    const { result } = await peer.call('deck/turns', { sessionId: onDisk });
    return [
      result,
      await refused(peer, 'deck/turns', { sessionId: onDisk, limit: 0 }, 'invalid_params', 'limit'),
      await refused(
        peer,
        'deck/entry/content',
        { sessionId: onDisk, ref: 'nonsense' },
        'invalid_params',
        'ref',
      ),
    ];
  });

  const forkParams = async (peer: Peer, sessionId: string, request: object = {}, more: object = {}) => {
    const { cut, entries } = await world.page(peer, sessionId);
    return {
      schema: 'aster.acp.session-prefix-fork.v1',
      sessionId,
      operationId: world.operation(),
      request: {
        boundary_entry_id: entries.find(({ boundary }) => boundary)?.id,
        expected_cut: cut,
        target_session_id: `${peer.surface}-${world.operation()}`,
        expected_workspace: { cwd: world.cwd },
        ...request,
      },
      ...more,
    };
  };
  const fork = 'aster/session/fork/prefix/v1';

  row('a prefix fork keeps all up to its boundary and leaves its source alone', the, async (peer) => {
    const before = await world.page(peer, world.onDisk);
    const params = await forkParams(peer, world.onDisk);
    const made = await asked(peer, fork, params, ForkResult);
    assert.equal(made.sessionId, params.request.target_session_id);
    assert.deepEqual(made.parent, {
      sessionId: world.onDisk,
      boundaryEntryId: params.request.boundary_entry_id,
    });
    const { entries } = await world.page(peer, made.sessionId);
    assert.deepEqual(entries.map(brief), before.entries.slice(0, made.entryCount).map(brief));
    assert.deepEqual(await world.page(peer, world.onDisk).then((page) => page.entries), before.entries);
    const again = await asked(peer, fork, params, ForkResult);
    assert.deepEqual(again, made);
    const conflict = await refused(
      peer,
      fork,
      { ...params, request: { ...params.request, target_session_id: 'another' } },
      'operation_conflict',
    );
    const taken = await refused(peer, fork, { ...params, operationId: world.operation() }, 'target_exists');
    return [
      made.entryCount,
      made.workspace.changedSinceBoundary,
      entries.map(brief),
      { ...Loose.parse(conflict), operationId: '' },
      taken,
    ];
  });

  row(
    'a fork refuses what is no boundary, what runs, what is stale, and another workspace',
    the,
    async (peer) => {
      const { onDisk } = world;
      const { entries, cut } = await world.page(peer, onDisk);
      const inner = entries.find(({ boundary }) => !boundary);
      const invalid = await refused(
        peer,
        fork,
        await forkParams(peer, onDisk, { boundary_entry_id: inner?.id }),
        'boundary_invalid',
      );
      const unknown = await refused(
        peer,
        fork,
        await forkParams(peer, onDisk, { boundary_entry_id: 'just some text' }),
        'boundary_invalid',
      );
      const stale = await refused(
        peer,
        fork,
        await forkParams(peer, onDisk, { expected_cut: { ...cut, generation: cut.generation + 1 } }),
        'cut_stale',
      );
      const elsewhere = await refused(
        peer,
        fork,
        await forkParams(peer, onDisk, { expected_workspace: { cwd: world.elsewhere } }),
        'workspace_mismatch',
      );
      const schema = await refused(
        peer,
        fork,
        await forkParams(peer, onDisk, {}, { schema: 'x' }),
        'invalid_params',
        'schema',
      );
      const agent = await refused(
        peer,
        fork,
        await forkParams(peer, onDisk, {}, { _meta: { agent: 'nobody' } }),
        'invalid_params',
        '_meta.agent',
      );
      const live = await world.session(peer, 'echo done');
      const { ended } = await world.running(peer, live, 'echo under way\nwait');
      const page = await world.page(peer, live);
      const running = await refused(
        peer,
        fork,
        await forkParams(peer, live, { boundary_entry_id: page.entries.at(-1)?.id }),
        'boundary_incomplete',
      );
      // Appends after the boundary do not stand in the way.
      const early = page.entries.find(({ boundary }) => boundary);
      const made = await asked(
        peer,
        fork,
        await forkParams(peer, live, { boundary_entry_id: early?.id }),
        ForkResult,
      );
      peer.notify('session/cancel', { sessionId: live });
      assert.equal(await ended, 'cancelled');
      return [invalid, unknown, stale, elsewhere, schema, agent, running, made.entryCount];
    },
  );

  row('session/fork branches at the last completed turn and goes on there', the, async (peer) => {
    const parent = await world.session(peer, 'echo one', 'echo two');
    const { result } = await peer.call('session/fork', { sessionId: parent, cwd: world.cwd, mcpServers: [] });
    const sessionId = NewResult.parse(result).sessionId;
    assert.notEqual(sessionId, parent);
    const before = await world.page(peer, sessionId);
    await world.prompt(peer, sessionId, 'echo three');
    const after = await world.page(peer, sessionId);
    assert.equal((await world.page(peer, parent)).total, 4);
    const empty = await world.session(peer);
    return [
      before.entries.map(brief),
      after.entries.slice(-1).map(brief),
      await refused(
        peer,
        'session/fork',
        { sessionId: empty, cwd: world.cwd, mcpServers: [] },
        'boundary_invalid',
      ),
    ];
  });

  row('a fork goes on in another agent, which is told what came before', the, async (peer) => {
    const parent = await world.session(peer, 'echo remember the word heron');
    const params = await forkParams(peer, parent, {}, { _meta: { agent: 'other' } });
    const made = await asked(peer, fork, params, ForkResult);
    const { agent } = await asked(peer, 'aster/session/info', { sessionId: made.sessionId }, InfoResult);
    assert.equal(agent, 'other');
    await world.prompt(peer, made.sessionId, 'heard');
    const { entries } = await world.page(peer, made.sessionId);
    assert.ok(entries.map(brief).some((text) => text.includes('heard:') && text.includes('heron')));
    return entries.map(({ kind }) => kind);
  });
});
