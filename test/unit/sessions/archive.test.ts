import assert from 'node:assert/strict';
import { mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { AcpListResult } from '../../../src/protocol/acp.js';
import { SessionsChanged } from '../../../src/protocol/deck.js';
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

describe('archived sessions', () => {
  let home: string;
  let store: string;
  let deck: Deck;
  beforeEach(async () => {
    home = temporaryFolder();
    store = temporaryFolder();
    for (const n of [1, 2, 3]) make(n);
    deck = await openDeck(home, store);
  });
  afterEach(async () => {
    await deck.close();
    removeFolders();
  });
  function make(n: number): ClaudeFile {
    const file = new ClaudeFile(home, uuid(n), '/w/a', Date.parse('2026-01-01T00:00:00Z') + n * 60_000);
    return file.write(file.turn(`prompt ${n}`));
  }
  const archive = (n: number, archived = true) =>
    deck.sessions.archive(deck.client, { sessionId: uuid(n) }, archived);
  const listed = async (archived?: 'include' | 'exclude' | 'only') =>
    (await deck.sessions.list(deck.client, archived === undefined ? {} : { archived })).sessions.map(
      ({ sessionId }) => sessionId,
    );

  it('are hidden from both lists unless asked for, and stay so', async () => {
    await archive(2);
    await archive(2);
    assert.deepEqual(await listed(), [uuid(3), uuid(1)]);
    assert.deepEqual(await listed('include'), [uuid(3), uuid(2), uuid(1)]);
    assert.deepEqual(await listed('only'), [uuid(2)]);
    const acp = async (params: Parameters<Deck['sessions']['acpList']>[1]) =>
      AcpListResult.parse(await deck.sessions.acpList(deck.client, params)).sessions.map((one) => [
        one.sessionId,
        one.archived ?? false,
      ]);
    assert.deepEqual(await acp({}), [
      [uuid(3), false],
      [uuid(1), false],
    ]);
    assert.deepEqual(await acp({ archived: 'only' }), [[uuid(2), true]]);
    assert.equal((await acp({ archived: 'include' })).length, 3);
    assert.equal(deck.sessions.status(deck.client).counts.total, 2);
    await deck.close();
    deck = await openDeck(home, store);
    assert.deepEqual(await listed('only'), [uuid(2)]);
    await archive(2, false);
    await archive(2, false);
    assert.deepEqual(await listed(), [uuid(3), uuid(2), uuid(1)]);
  });

  it('are closed first, and left as they were when that fails', async () => {
    await archive(1);
    assert.deepEqual(deck.runs.stopped, [uuid(1)]);
    deck.runs.refuse = new Error('deaf');
    await assert.rejects(archive(2), /deaf/);
    assert.deepEqual(await listed('only'), [uuid(1)]);
    await archive(1, false);
    assert.deepEqual(deck.runs.stopped, [uuid(1)], 'putting back touches no run');
  });

  it('stay archived while their file grows, and go by the tool once it moves the file', async () => {
    const file = make(4);
    await until(() => deck.sessions.status(deck.client).counts.total === 4);
    await archive(4);
    file.append(file.turn('more'));
    await until(() => deck.sessions.info(deck.client, { sessionId: uuid(4) }).turnCount === 2);
    assert.equal(deck.sessions.info(deck.client, { sessionId: uuid(4) }).archived, true);
    const moved = join(home, '.claude/projects/elsewhere', `${uuid(4)}.jsonl`);
    mkdirSync(dirname(moved), { recursive: true });
    renameSync(file.path, moved);
    await until(() => !deck.sessions.info(deck.client, { sessionId: uuid(4) }).archived);
  });

  it('have cursors of their own', async () => {
    const { nextCursor: cursor } = await deck.sessions.list(deck.client, { limit: 1, archived: 'include' });
    assert.ok(cursor);
    await deck.sessions.list(deck.client, { limit: 1, archived: 'include', cursor });
    await assert.rejects(deck.sessions.list(deck.client, { limit: 1, cursor }), withCode('cursor_invalid'));
  });

  it('are told to windows and to ACP clients', async () => {
    const acp = deck.clients.attach(new TestClient('acp', 'acp'));
    await archive(1);
    await until(() =>
      deck.client.told.some(
        ({ method, params }) =>
          method === 'deck/sessions/changed' &&
          SessionsChanged.parse(params).upserted.some((row) => row.sessionId === uuid(1) && row.archived),
      ),
    );
    await archive(1, false);
    const told = (archived: boolean) =>
      acp.updates.some(({ sessionId, update }) => {
        const meta = z.looseObject({ archived: z.boolean().optional() }).safeParse(update['_meta']).data;
        return sessionId === uuid(1) && meta?.archived === archived;
      });
    await until(() => told(true) && told(false));
  });

  it('are unknown to who cannot see them', async () => {
    const stranger = deck.clients.attach(new TestClient('stranger').only('/w/b'));
    for (const archived of [true, false])
      for (const sessionId of [uuid(1), 'never-was'])
        await assert.rejects(
          deck.sessions.archive(stranger, { sessionId }, archived),
          withCode('session_unavailable'),
        );
  });
});
