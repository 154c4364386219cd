import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DeletedResult } from '../../../src/protocol/deck.js';
import { loadSqlite } from '../../../src/service/store/sqlite.js';
import { Trash } from '../../../src/service/sessions/trash.js';
import {
  ClaudeFile,
  type Deck,
  never,
  openDeck,
  pageOf,
  removeFolders,
  temporaryFolder,
  TestClient,
  until,
  withCode,
} from './support.js';

const ID = 'aaaaaaaa-0000-4000-8000-000000000001';
const CWD = '/deck-delete/app';

describe('deleting sessions', () => {
  let deck: Deck;
  let file: ClaudeFile;
  let agentPath: string;
  beforeEach(async () => {
    const home = temporaryFolder();
    file = new ClaudeFile(home, ID, CWD);
    file.write(file.turn('first'), file.turn('second'));
    const agent = new ClaudeFile(home, ID, CWD);
    agentPath = join(dirname(file.path), ID, 'subagents/agent-1.jsonl');
    mkdirSync(dirname(agentPath), { recursive: true });
    writeFileSync(
      agentPath,
      agent.turn('sub').replaceAll('"isSidechain":false', '"isSidechain":true,"agentId":"1"'),
    );
    deck = await openDeck(home, temporaryFolder());
  });
  afterEach(async () => {
    await deck.close();
    removeFolders();
  });

  const reopen = async () => {
    await deck.close();
    deck = await openDeck(deck.home, deck.storeDir);
  };
  const listed = async () =>
    (await deck.sessions.list(deck.client, {})).sessions.map(({ sessionId }) => sessionId);
  const remove = (client = deck.client) => deck.sessions.delete(client, { sessionId: ID, cwd: CWD });

  it('works on a full disk, with the room that is kept for it', async () => {
    const { files } = await loadSqlite();
    const ballast = join(deck.storeDir, 'ballast');
    assert.ok(existsSync(ballast));
    files.beforeWrite = () => {
      if (existsSync(ballast)) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    };
    try {
      await remove();
    } finally {
      files.beforeWrite = undefined;
    }
    assert.deepEqual(await listed(), []);
    assert.equal(existsSync(file.path) || existsSync(ballast), false);
    await reopen();
    assert.deepEqual(await listed(), []);
  });

  it('moves the files away, survives restarts, and comes back byte for byte', async () => {
    const bytes = readFileSync(file.path);
    const agentBytes = readFileSync(agentPath);
    assert.equal(deck.sessions.info(deck.client, { sessionId: ID }).children.length, 1);
    const { undoUntil } = await remove();
    assert.ok(Date.parse(undoUntil) > Date.now() + 29 * 24 * 60 * 60 * 1000);
    assert.equal(existsSync(file.path) || existsSync(agentPath), false);
    assert.deepEqual(deck.runs.stopped.includes(ID), true);
    for (let round = 0; round < 2; round += 1) {
      assert.deepEqual(await listed(), []);
      for (const id of [ID, 'agent-1'])
        assert.throws(
          () => deck.sessions.info(deck.client, { sessionId: id }),
          withCode('session_unavailable'),
        );
      const { sessions } = DeletedResult.parse(deck.sessions.deleted(deck.client));
      assert.deepEqual(
        sessions.map(({ session }) => session.sessionId),
        [ID],
      );
      if (round === 0) await reopen();
    }
    const stranger = deck.clients.attach(new TestClient('s').only('/elsewhere'));
    assert.deepEqual(deck.sessions.deleted(stranger).sessions, []);
    await assert.rejects(
      deck.sessions.undoDelete(stranger, { sessionId: ID }),
      withCode('session_unavailable'),
    );

    const details = await deck.sessions.undoDelete(deck.client, { sessionId: ID });
    assert.equal(details.entryCount, 6);
    assert.deepEqual(readFileSync(file.path), bytes);
    assert.deepEqual(readFileSync(agentPath), agentBytes);
    await reopen();
    assert.deepEqual(await listed(), [ID]);
    assert.equal(deck.sessions.info(deck.client, { sessionId: ID }).children.length, 1);
    assert.deepEqual(deck.scanner.scanned, [], 'the index is still there');
    const page = await deck.sessions.page(deck.client, pageOf(ID, CWD), never);
    assert.equal(page.total, 6);
    assert.ok(page.entries.every(({ kind }) => kind !== 'raw'));
    await assert.rejects(
      deck.sessions.undoDelete(deck.client, { sessionId: ID }),
      withCode('session_unavailable'),
    );
  });

  it('does nothing when the run cannot be stopped', async () => {
    deck.runs.refuse = new Error('it goes on');
    await assert.rejects(remove(), /it goes on/);
    assert.deepEqual(await listed(), [ID]);
    assert.ok(existsSync(file.path) && existsSync(agentPath));
    assert.deepEqual(deck.sessions.deleted(deck.client).sessions, []);
  });

  it('is undone when the store cannot keep it', async () => {
    const { records } = deck.store;
    const put = records.putTrash.bind(records);
    records.putTrash = () => {
      throw new Error('disk full');
    };
    await assert.rejects(remove(), /disk full/);
    records.putTrash = put;
    assert.deepEqual(await listed(), [ID]);
    assert.ok(existsSync(file.path) && existsSync(agentPath));
    assert.equal((await deck.sessions.page(deck.client, pageOf(ID, CWD), never)).total, 6);
    await remove();
    assert.deepEqual(await listed(), []);
  });

  it('can be undone one by one when many were made at once', async () => {
    const ids = Array.from({ length: 20 }, (_, n) => `bbbbbbbb-0000-4000-8000-0000000000${String(n + 10)}`);
    for (const id of ids) {
      const other = new ClaudeFile(deck.home, id, CWD);
      other.write(other.turn(`of ${id}`));
    }
    await until(() => deck.sessions.status(deck.client).counts.total === ids.length + 1);
    await Promise.all(ids.map((sessionId) => deck.sessions.delete(deck.client, { sessionId, cwd: CWD })));
    assert.equal(deck.sessions.deleted(deck.client).sessions.length, ids.length);
    for (const [n, sessionId] of ids.entries()) {
      await deck.sessions.undoDelete(deck.client, { sessionId });
      assert.equal((await listed()).length, n + 2);
    }
  });

  it('keeps what the person made of the session when the sources are looked at meanwhile', async () => {
    deck.sessions.rename(deck.client, { sessionId: ID, title: 'My name for it' });
    await remove();
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object below
    const { restore } = Trash.prototype;
    // A slow disk: the file is seen at its place before the undo is done.
    Trash.prototype.restore = async function (name) {
      await restore.call(this, name);
      await setTimeout(700);
    };
    try {
      const [back, again] = await Promise.all([
        deck.sessions.undoDelete(deck.client, { sessionId: ID }),
        deck.sessions.undoDelete(deck.client, { sessionId: ID }).catch((error: unknown) => error),
      ]);
      assert.equal(back.title, 'My name for it');
      assert.equal(back.cut.generation, 0);
      assert.ok(withCode('session_unavailable')(again));
    } finally {
      Trash.prototype.restore = restore;
    }
    assert.deepEqual(deck.sessions.deleted(deck.client).sessions, []);
    assert.deepEqual(await listed(), [ID]);
  });

  it('is undone wholly or not at all when the store cannot keep it', async () => {
    await remove();
    const { records } = deck.store;
    const put = records.removeTrash.bind(records);
    records.removeTrash = () => {
      throw new Error('disk full');
    };
    await assert.rejects(deck.sessions.undoDelete(deck.client, { sessionId: ID }), /disk full/);
    records.removeTrash = put;
    assert.equal(existsSync(file.path) || existsSync(agentPath), false);
    assert.deepEqual(await listed(), []);
    await deck.sessions.undoDelete(deck.client, { sessionId: ID });
    assert.ok(existsSync(file.path) && existsSync(agentPath));
  });

  it('has its undo ended at the next start when the service died in the middle', async () => {
    deck.sessions.rename(deck.client, { sessionId: ID, title: 'My name for it' });
    await remove();
    const [trash] = deck.store.records.trash();
    assert.ok(trash);
    await deck.close();
    // The transcript is back, its sub-agents are not.
    renameSync(join(deck.storeDir, 'trash', trash.name, '0'), file.path);
    deck = await openDeck(deck.home, deck.storeDir);
    assert.deepEqual(await listed(), [ID]);
    assert.ok(existsSync(file.path) && existsSync(agentPath));
    const info = deck.sessions.info(deck.client, { sessionId: ID });
    assert.equal(info.title, 'My name for it');
    assert.equal(info.children.length, 1);
    assert.deepEqual(deck.sessions.deleted(deck.client).sessions, []);
  });

  it('is undone at the next start when the service died in the middle', async () => {
    await deck.close();
    const bytes = readFileSync(file.path);
    await new Trash(join(deck.storeDir, 'trash')).put(
      ID,
      [file.path, dirname(dirname(agentPath))],
      Date.now(),
    );
    assert.equal(existsSync(file.path), false);
    deck = await openDeck(deck.home, deck.storeDir);
    assert.deepEqual(readFileSync(file.path), bytes);
    assert.deepEqual(await listed(), [ID]);
    assert.equal(deck.sessions.info(deck.client, { sessionId: ID }).unreadable, undefined);
  });

  it("lists a file that appears anew as the tool's own, and loses neither", async () => {
    await remove();
    const other = new ClaudeFile(deck.home, ID, CWD);
    other.write(other.turn('written after the delete'));
    await until(() => deck.sessions.status(deck.client).counts.total === 1);
    await deck.sessions.indexed();
    const page = await deck.sessions.page(deck.client, pageOf(ID, CWD), never);
    assert.equal(page.total, 3);
    await assert.rejects(deck.sessions.undoDelete(deck.client, { sessionId: ID }), withCode('target_exists'));
    assert.equal((await deck.sessions.page(deck.client, pageOf(ID, CWD), never)).total, 3);
    await remove();
    assert.equal((await deck.sessions.undoDelete(deck.client, { sessionId: ID })).entryCount, 3);
    await reopen();
    assert.deepEqual(await listed(), [ID]);
  });

  it('is final only when its time is over', async () => {
    await remove();
    const [trash] = deck.store.records.trash();
    assert.ok(trash);
    await reopen();
    assert.equal(deck.store.records.sessions().length, 2);
    deck.store.records.putTrash({ ...trash, undoUntil: Date.now() - 1 });
    await reopen();
    await until(() => deck.store.records.sessions().length === 0);
    assert.equal(existsSync(join(deck.storeDir, 'trash', trash.name)), false);
    assert.deepEqual(deck.sessions.deleted(deck.client).sessions, []);
  });

  it('wants the folder of the session', async () => {
    await assert.rejects(
      async () => deck.sessions.delete(deck.client, { sessionId: ID, cwd: 'app' }),
      withCode('invalid_params'),
    );
    await assert.rejects(
      async () => deck.sessions.delete(deck.client, { sessionId: ID, cwd: '/deck-delete' }),
      withCode('session_unavailable'),
    );
    assert.ok(existsSync(file.path));
  });
});
