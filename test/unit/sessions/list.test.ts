import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SessionsChanged, Status } from '../../../src/protocol/deck.js';
import { ListResult } from '../../../src/protocol/aster.js';
import { AcpListResult } from '../../../src/protocol/acp.js';
import { generateCorpus } from '../../support/corpus.js';
import {
  ClaudeFile,
  type Deck,
  openDeck,
  removeFolders,
  temporaryFolder,
  TestClient,
  until,
  withCode,
} from './support.js';

const uuid = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, '0')}`;

describe('session lists', () => {
  let home: string;
  let deck: Deck | undefined;
  beforeEach(() => (home = temporaryFolder()));
  afterEach(async () => {
    await deck?.close();
    deck = undefined;
    removeFolders();
  });
  const open = async () => (deck = await openDeck(home, temporaryFolder()));
  function make(n: number, cwd: string, prompt = `prompt ${n}`, startMs?: number): ClaudeFile {
    const file = new ClaudeFile(
      home,
      uuid(n),
      cwd,
      startMs ?? Date.parse('2026-01-01T00:00:00Z') + n * 60_000,
    );
    return file.write(file.turn(prompt));
  }
  const ids = async (d: Deck, params: Parameters<Deck['sessions']['list']>[1] = {}, client = d.client) => {
    const found: string[] = [];
    for (let cursor: string | undefined; ;) {
      const result = ListResult.parse(
        await d.sessions.list(client, { limit: 2, ...params, ...(cursor === undefined ? {} : { cursor }) }),
      );
      found.push(...result.sessions.map(({ sessionId }) => sessionId));
      if (result.nextCursor === undefined) return found;
      assert.equal(result.sessions.length, params.limit ?? 2, 'only the last page may be short');
      cursor = result.nextCursor;
    }
  };

  it('equals what is on disk, newest first, by pages', async () => {
    const corpus = generateCorpus({ dir: home, seed: 5, sessions: 40, turns: 2 });
    const d = await open();
    const expected = corpus.sessions
      .filter(({ parentSessionId }) => parentSessionId === undefined)
      .map(({ sessionId }) => sessionId);
    for (const limit of [1, 7, 200]) assert.deepEqual((await ids(d, { limit })).sort(), [...expected].sort());
    const { sessions } = await d.sessions.list(d.client, { limit: 200 });
    const keys = sessions.map(({ updatedAt, sessionId }) => `${updatedAt} ${sessionId}`);
    assert.deepEqual(keys, [...keys].sort().reverse());
    for (const truth of corpus.sessions) {
      const info = d.sessions.info(d.client, { sessionId: truth.sessionId });
      assert.deepEqual(
        [info.cwd, info.entryCount, info.turnCount, info.sourceInfo.skipped, info.sourceInfo.indexing],
        [truth.cwd, truth.entries, truth.turns, truth.skipped, false],
        truth.file,
      );
      if (truth.parentSessionId !== undefined)
        assert.deepEqual(info.parent, { sessionId: truth.parentSessionId, relation: 'subagent' });
    }
    const parent = corpus.sessions.find(
      ({ parentSessionId }) => parentSessionId !== undefined,
    )?.parentSessionId;
    if (parent !== undefined) {
      const info = d.sessions.info(d.client, { sessionId: parent });
      assert.equal(info.childCount, info.children.length);
      assert.ok(info.children.length > 0);
    }
  });

  it('filters by words, kind, headless and folder before paging', async () => {
    make(1, '/deck-list/a', 'Überprüfe den Parser');
    make(2, '/deck-list/b', 'fix the PARSER now');
    make(3, '/deck-list/b', 'something else');
    make(4, '/deck-list/a', 'parser again');
    const d = await open();
    assert.deepEqual(await ids(d, { query: 'parser' }), [uuid(4), uuid(2), uuid(1)]);
    assert.deepEqual(await ids(d, { query: ' uberprufe  PARSER ' }), [uuid(1)]);
    assert.deepEqual(await ids(d, { query: 'parser list/b' }), [uuid(2)]);
    assert.deepEqual(await ids(d, { cwd: '/deck-list/a/' }), [uuid(4), uuid(1)]);
    assert.deepEqual(await ids(d, { cwd: '/deck-list' }), []);
    assert.deepEqual(await ids(d, { headless: 'only' }), []);
    assert.equal((await ids(d, { headless: 'exclude' })).length, 4);
    assert.deepEqual(await ids(d, { _meta: { facets: { kind: 'chat' } } }), []);
    assert.equal((await ids(d, { _meta: { facets: { kind: ['chat', 'build'] } } })).length, 4);
    await assert.rejects(d.sessions.list(d.client, { cwd: 'a' }), withCode('invalid_params'));
  });

  it('shows a client its own folders only, and no request widens them', async () => {
    const real = join(temporaryFolder(), 'real');
    mkdirSync(join(real, 'inner'), { recursive: true });
    symlinkSync(real, `${real}-link`);
    make(1, real);
    make(2, join(`${real}-link`, 'inner'));
    make(3, `${real}-not`);
    make(4, '/deck-list/a');
    const d = await open();
    const client = d.clients.attach(new TestClient('one').only(`${real}/`));
    assert.deepEqual(await ids(d, { allowRelax: true, limit: 1 }, client), [uuid(2), uuid(1)]);
    assert.deepEqual(await ids(d, { cwd: '/deck-list/a', allowRelax: true }, client), []);
    assert.throws(() => d.sessions.info(client, { sessionId: uuid(4) }), withCode('session_unavailable'));
    const both = [
      d.sessions.info.bind(d.sessions, client, { sessionId: uuid(4) }),
      d.sessions.info.bind(d.sessions, client, { sessionId: 'none' }),
    ];
    const said = both.map((work) => {
      try {
        return work();
      } catch (error) {
        return JSON.stringify(error);
      }
    });
    assert.equal(said[0], said[1]);
  });

  it('refuses a cursor of another filter or another scope', async () => {
    for (const n of [1, 2, 3]) make(n, '/deck-list/a');
    const d = await open();
    const { nextCursor: cursor } = await d.sessions.list(d.client, { limit: 1, query: 'prompt' });
    assert.ok(cursor);
    await d.sessions.list(d.client, { cursor, query: 'prompt' });
    for (const params of [{}, { query: 'prom' }, { query: 'prompt', cwd: '/deck-list/a' }])
      await assert.rejects(d.sessions.list(d.client, { cursor, ...params }), withCode('cursor_invalid'));
    const other = d.clients.attach(new TestClient('other').only('/deck-list'));
    await assert.rejects(d.sessions.list(other, { cursor, query: 'prompt' }), withCode('cursor_invalid'));
    await assert.rejects(d.sessions.acpList(d.client, { cursor }), withCode('cursor_invalid'));
  });

  it('speaks ACP: absolute folders, titles, meta', async () => {
    make(1, '/deck-list/a', 'A prompt\nof two lines');
    const d = await open();
    const { sessions } = AcpListResult.parse(await d.sessions.acpList(d.client, {}));
    assert.deepEqual(sessions, [
      {
        sessionId: uuid(1),
        cwd: '/deck-list/a',
        title: 'A prompt of two lines',
        updatedAt: '2026-01-01T00:01:04.000Z',
        _meta: {
          messageCount: 2,
          hasErrors: false,
          kind: 'build',
          headless: false,
          state: 'idle',
          agent: null,
          parent: null,
          archived: false,
        },
      },
    ]);
  });

  it('follows files that come, grow and go, and never drops a row', async () => {
    make(1, '/deck-list/a');
    const d = await open();
    const stranger = d.clients.attach(new TestClient('stranger').only('/deck-list/b'));
    const acp = d.clients.attach(new TestClient('acp', 'acp'));
    const file = make(2, '/deck-list/a');
    await until(() => d.sessions.status(d.client).counts.total === 2);
    await until(() =>
      d.client.told.some(
        ({ method, params }) =>
          method === 'deck/sessions/changed' &&
          SessionsChanged.parse(params).upserted.some(({ sessionId }) => sessionId === uuid(2)),
      ),
    );
    file.append(file.turn('grown', 'and more'));
    await until(() => d.sessions.info(d.client, { sessionId: uuid(2) }).entryCount === 6);
    rmSync(file.path);
    await until(() => d.sessions.info(d.client, { sessionId: uuid(2) }).unreadable);
    assert.deepEqual(await ids(d), [uuid(2), uuid(1)]);
    const rows = await until(() => {
      const told = d.client.told.flatMap(({ method, params }) =>
        method === 'deck/sessions/changed' ? SessionsChanged.parse(params).upserted : [],
      );
      return told.at(-1)?.unreadable === undefined ? undefined : told;
    });
    assert.equal(rows.at(-1)?.sessionId, uuid(2));
    assert.deepEqual(
      stranger.told.filter(({ method }) => method === 'deck/sessions/changed'),
      [],
    );
    assert.ok(
      d.client.told.some(
        ({ method, params }) => method === 'deck/status/update' && Status.parse(params).counts.total === 2,
      ),
    );
    await until(() =>
      acp.updates.some(({ sessionId, update }) => sessionId === uuid(2) && update['updatedAt'] !== undefined),
    );
  });

  it('keeps one row for a session that its tool moved', async () => {
    const file = make(1, '/deck-list/a');
    const d = await open();
    const moved = join(home, '.claude/projects/elsewhere', `${uuid(1)}.jsonl`);
    mkdirSync(dirname(moved), { recursive: true });
    renameSync(file.path, moved);
    await until(() => d.sessions.info(d.client, { sessionId: uuid(1) }).sourceInfo.path === moved);
    assert.deepEqual(await ids(d), [uuid(1)]);
    const details = d.sessions.info(d.client, { sessionId: uuid(1) });
    assert.equal(details.unreadable, undefined);
    assert.deepEqual(d.scanner.scanned, [file.path]);
  });

  it('lists a file that cannot be read, with the reason', async function () {
    if (process.platform === 'win32') this.skip();
    const file = make(1, '/deck-list/a');
    const broken = join(dirname(file.path), `${uuid(2)}.jsonl`);
    writeFileSync(broken, Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x7b, 0x0a]));
    if (process.getuid?.() !== 0) chmodSync(file.path, 0);
    const d = await open();
    assert.equal((await ids(d)).length, 2);
    if (process.getuid?.() !== 0) assert.ok(d.sessions.info(d.client, { sessionId: uuid(1) }).unreadable);
  });

  it('keeps a title that a person gave', async () => {
    const file = make(1, '/deck-list/a', 'first prompt');
    const d = await open();
    const row = () => d.sessions.info(d.client, { sessionId: uuid(1) });
    assert.equal(row().title, 'first prompt');
    assert.equal(d.sessions.rename(d.client, { sessionId: uuid(1), title: ' Mine\u202e ' }).title, 'Mine');
    d.sessions.update(uuid(1), { agentTitle: 'From the agent' });
    file.append(
      JSON.stringify({ type: 'custom-title', customTitle: 'From the tool', sessionId: uuid(1) }) + '\n',
      file.turn('next'),
    );
    await until(() => row().turnCount === 2);
    assert.equal(row().title, 'Mine');
    for (const title of ['', ' \u200b', 'x'.repeat(201)])
      assert.throws(
        () => d.sessions.rename(d.client, { sessionId: uuid(1), title }),
        withCode('invalid_params'),
      );
  });
});
