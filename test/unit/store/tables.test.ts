import assert from 'node:assert/strict';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import * as z from 'zod';
import { Database } from '../../../src/service/store/database.js';
import { aSession, anEntry, StorePlace } from '../../support/store_place.js';
import type { Store } from '../../../src/service/store/store.js';
import type { TurnToStore } from '../../../src/service/store/tables/turns.js';

describe('what the store keeps', () => {
  let place: StorePlace;
  let store: Store;
  beforeEach(async () => {
    place = new StorePlace();
    store = await place.open();
    store.records.putSession(aSession('one'));
  });
  afterEach(() => place.dispose());

  /** Closes the store and opens it again: only what is on the disk is left. */
  async function reopen(): Promise<void> {
    store.close();
    store = await place.open();
  }
  /** How many entries others see at each turn of the loop until there are none. */
  async function seenMeanwhile(sessionId: string, generation: number): Promise<number[]> {
    const seen: number[] = [];
    do {
      await turnOfTheLoop();
      seen.push(store.records.entries(sessionId, generation, 0, 10_000).length);
    } while (seen.at(-1) !== 0);
    return seen;
  }
  const aTurn = (number: number): TurnToStore => ({
    id: `turn-${number}`,
    number,
    prompt: `do ${number}`,
    at: number,
    status: 'completed',
    firstOrdinal: number * 10,
    lastOrdinal: number * 10 + 9,
    tools: 0,
    files: [],
    own: true,
  });

  it('is a session with every field, and without those that it does not have', async () => {
    const whole = aSession('whole', {
      source: 'claude-code',
      cwd: '/wörk/会',
      title: { text: 'A title', by: 'user' },
      preview: 'first words',
      kind: 'chat',
      headless: true,
      state: 'needs_input',
      archived: true,
      agent: 'claude',
      agentSession: 'agent-1',
      model: 'a model',
      parent: { sessionId: 'one', boundaryEntryId: 'entry-1', relation: 'fork' },
      messageCount: 3,
      hasErrors: true,
      unreadable: 'permission denied',
      empty: true,
      generation: 4,
      revision: 5,
      entryCount: 6,
      turnCount: 7,
      usage: { input: 1, output: 2 },
      skipped: 8,
      offBranch: 9,
      deletedAt: 1_700_000_000_001,
      undoUntil: 1_700_000_000_002,
    });
    store.records.putSession(whole);
    await reopen();
    assert.deepEqual(store.records.sessions(), [aSession('one'), whole]);
    store.records.putSession(aSession('whole'));
    await reopen();
    assert.deepEqual(store.records.sessions(), [aSession('one'), aSession('whole')]);
  });

  it('is entries by page and by id, each generation apart', async () => {
    const inFile = {
      ...anEntry(2),
      place: { in: 'file' as const, ranges: [[0, 10] as const, [20, 5] as const] },
    };
    store.records.putEntries('one', 1, [anEntry(0), anEntry(1), inFile]);
    store.records.putEntries('one', 2, [anEntry(0, 'rewritten')]);
    await reopen();
    const { records } = store;
    assert.deepEqual(
      records.entries('one', 1, 1, 1).map(({ id }) => id),
      ['entry-1'],
    );
    assert.deepEqual(records.entries('one', 1, 0, 2), [anEntry(0), anEntry(1)]);
    assert.deepEqual(records.entry('one', 1, 'entry-2')?.place, {
      in: 'file',
      ranges: [
        [0, 10],
        [20, 5],
      ],
      block: undefined,
    });
    assert.deepEqual(records.entry('one', 2, 'entry-0'), anEntry(0, 'rewritten'));
    assert.equal(records.entry('one', 2, 'entry-1'), undefined);
    assert.deepEqual(records.entries('unknown', 1, 0, 10), []);
  });

  it('is the newest version of an entry, and the highest revision up to a place', async () => {
    store.records.putEntries('one', 1, [anEntry(0), anEntry(1), anEntry(2)]);
    store.records.putEntries('one', 1, [{ ...anEntry(1, 'changed'), revision: 40 }]);
    await reopen();
    assert.equal(store.records.entries('one', 1, 0, 10).length, 3);
    assert.equal(store.records.entry('one', 1, 'entry-1')?.preview, 'changed');
    assert.deepEqual(
      [0, 1, 2].map((ordinal) => store.records.revisionUpTo('one', 1, ordinal)),
      [1, 40, 40],
    );
    assert.equal(store.records.revisionUpTo('one', 9, 5), 0);
  });

  it('is turns by number and by id', async () => {
    const full: TurnToStore = {
      ...aTurn(2),
      endedAt: 5,
      boundaryEntryId: 'entry-29',
      usage: { output: 3 },
      files: ['a.ts', 'b "c".ts'],
    };
    store.records.putTurns('one', 1, [aTurn(1), full, aTurn(3)]);
    await reopen();
    assert.deepEqual(
      store.records.turns('one', 1, 2, 5).map(({ number }) => number),
      [2, 3],
    );
    assert.deepEqual(store.records.turn('one', 1, 'turn-2'), full);
  });

  it('is nothing of a session that was removed, and all of the others', async () => {
    store.records.putSession(aSession('two'));
    for (const id of ['one', 'two']) {
      const many = Array.from({ length: 4500 }, (_, ordinal) => anEntry(ordinal));
      store.records.putEntries(id, 1, many);
      store.records.putTurns(id, 1, [aTurn(1)]);
      store.runs.addRun({
        id: `run-${id}`,
        sessionId: id,
        turnId: 'turn-1',
        kind: 'prompt',
        agent: 'a',
        startedAt: 1,
      });
      store.runs.addUsage({ sessionId: id, messageId: 'm', at: 1, usage: { input: 1 } });
    }
    const [left] = await Promise.all([seenMeanwhile('one', 1), store.records.removeSession('one')]);
    assert.ok(
      left.some((count) => count > 0 && count < 4500),
      'others had to wait for the whole removal',
    );
    await reopen();
    assert.deepEqual(store.records.sessions(), [aSession('two')]);
    assert.deepEqual(store.records.entries('one', 1, 0, 10), []);
    assert.equal(store.records.entries('two', 1, 0, 10_000).length, 4500);
    assert.deepEqual(
      store.runs.openRuns().map(({ id }) => id),
      ['run-two'],
    );
    // What comes under the same number starts with nothing.
    store.records.putSession(aSession('three'));
    store.records.putSession(aSession('one'));
    assert.deepEqual(store.records.entries('one', 1, 0, 10), []);
    assert.deepEqual(store.records.turns('three', 1, 0, 10), []);
  });

  it('is one generation only after the others were removed', async () => {
    store.records.putEntries('one', 1, [anEntry(0)]);
    store.records.putEntries('one', 2, [anEntry(0), anEntry(1)]);
    store.records.putEntries(
      'one',
      3,
      Array.from({ length: 4500 }, (_, ordinal) => anEntry(ordinal)),
    );
    const [left] = await Promise.all([
      seenMeanwhile('one', 3),
      store.records.removeOtherGenerations('one', 2),
    ]);
    assert.ok(
      left.some((count) => count > 0 && count < 4500),
      'others had to wait for the whole removal',
    );
    for (const other of [1, 3]) assert.deepEqual(store.records.entries('one', other, 0, 10), []);
    assert.equal(store.records.entries('one', 2, 0, 10).length, 2);
  });

  it('is nothing of a transaction that failed, whichever session comes next', async () => {
    const fail = new Error('no');
    assert.throws(
      () =>
        store.records.transaction(() => {
          store.records.putSession(aSession('failed'));
          store.records.putEntries('failed', 1, [anEntry(0)]);
          throw fail;
        }),
      fail,
    );
    store.records.putSession(aSession('next'));
    store.records.putEntries('next', 1, [anEntry(0, 'of next')]);
    assert.deepEqual(store.records.entries('failed', 1, 0, 10), []);
    store.records.putSession(aSession('failed'));
    store.records.putEntries('failed', 1, [anEntry(0, 'of failed')]);
    await reopen();
    assert.equal(store.records.entry('next', 1, 'entry-0')?.preview, 'of next');
    assert.equal(store.records.entry('failed', 1, 'entry-0')?.preview, 'of failed');
  });

  it('is runs until they end, with when they went on', () => {
    const run = { sessionId: 'one', turnId: 't', kind: 'prompt' as const, agent: 'a' };
    store.runs.addRun({ ...run, id: 'r1', startedAt: 10 });
    store.runs.addRun({ ...run, id: 'r2', startedAt: 20 });
    store.runs.endRun('r1', { status: 'completed', stopReason: 'end_turn', endedAt: 15 });
    assert.deepEqual(store.runs.openRuns(), [{ ...run, id: 'r2', startedAt: 20 }]);
    assert.deepEqual(store.runs.runWindows('one'), [
      { startedAt: 10, endedAt: 15 },
      { startedAt: 20, endedAt: undefined },
    ]);
  });

  it('is interjections with their state, in the order in which they came', async () => {
    const row = { sessionId: 'one', text: 'stop', createdAt: 1, updatedAt: 1 };
    store.runs.addInterjection({ ...row, id: 'i1', runId: 'r1', state: 'pending' });
    store.runs.addInterjection({ ...row, id: 'i2', state: 'queued' });
    store.runs.changeInterjection('i1', { state: 'returned', updatedAt: 2 });
    await reopen();
    assert.deepEqual(store.runs.interjection('i1'), {
      ...row,
      id: 'i1',
      runId: 'r1',
      state: 'returned',
      updatedAt: 2,
    });
    assert.deepEqual(
      store.runs.interjections(['queued', 'returned'], 'one').map(({ id }) => id),
      ['i1', 'i2'],
    );
    assert.deepEqual(store.runs.interjections(['pending']), []);
  });

  it('is questions until they are answered', () => {
    const question = {
      id: 'p1',
      sessionId: 'one',
      runId: 'r1',
      entryId: 'e1',
      request: { a: [1] },
      createdAt: 1,
    };
    store.runs.addPermission(question);
    store.runs.addPermission({ ...question, id: 'p2' });
    store.runs.endPermission('p2', { optionId: 'allow', endedAt: 2 });
    assert.deepEqual(store.runs.openPermissions(), [question]);
    assert.deepEqual(store.runs.inboxRow('p1'), { sessionId: 'one', kind: 'question', closed: false });
    assert.deepEqual(store.runs.inboxRow('p2'), { sessionId: 'one', kind: 'question', closed: true });
  });

  it('is runs that failed until somebody has seen it', async () => {
    const run = { sessionId: 'one', kind: 'prompt' as const, agent: 'a', startedAt: 1 };
    for (const id of ['f1', 'f2', 'f3']) store.runs.addRun({ ...run, id, turnId: `t-${id}` });
    store.runs.endRun('f1', { status: 'failed', error: 'broken', endedAt: 2 });
    store.runs.endRun('f2', { status: 'failed', endedAt: 3 });
    store.runs.endRun('f3', { status: 'completed', endedAt: 4 });
    store.runs.dismissRun('f2', 5);
    await reopen();
    assert.deepEqual(store.runs.failedRuns(10), [
      { id: 'f1', sessionId: 'one', error: 'broken', endedAt: 2 },
    ]);
    assert.deepEqual(
      ['f1', 'f2', 'f3'].map((id) => store.runs.inboxRow(id)?.closed),
      [false, true, undefined],
    );
  });

  it('is the answer to an operation until it is too old, and texts by key', async () => {
    store.records.putOperation('op', { method: 'm', fingerprint: 'f', result: { x: null }, at: 100 });
    store.records.putOperation('old', { method: 'm', fingerprint: 'f', result: 1, at: 50 });
    store.records.setMeta('key', 'value');
    store.records.removeOperations(100);
    await reopen();
    assert.deepEqual(store.records.operation('op'), {
      method: 'm',
      fingerprint: 'f',
      result: { x: null },
      at: 100,
    });
    assert.equal(store.records.operation('old'), undefined);
    assert.equal(store.records.getMeta('key'), 'value');
    assert.equal(store.records.getMeta('other'), undefined);
  });

  it('is deletions until they are undone or final', () => {
    const deletion = { name: 'one-5', sessionId: 'one', deletedAt: 5, undoUntil: 50 };
    store.records.putTrash(deletion);
    store.records.putTrash({ ...deletion, name: 'one-6' });
    store.records.removeTrash('one-6');
    assert.deepEqual(store.records.trash(), [deletion]);
  });

  it('is files of other tools with how far they are read', async () => {
    const file = {
      path: '/home/me/会.jsonl',
      source: 'codex' as const,
      role: 'subagent' as const,
      sessionId: 'one',
      size: 5_000_000_000,
      mtimeMs: 1_790_000_000_123.25,
      ino: '18446744073709551615',
      offset: 4_999_999_999,
      indexedSize: 4_999_999_999,
      indexedMtimeMs: 1_790_000_000_000.5,
    };
    const state = { open: ['x'] };
    store.records.putFile(file, state);
    store.records.putFile({ ...file, path: '/other' });
    await reopen();
    const byPath = () => store.records.files().sort((a, b) => a.path.localeCompare(b.path));
    assert.deepEqual(byPath(), [file, { ...file, path: '/other' }]);
    assert.deepEqual(store.records.fileState(file.path), state);
    assert.equal(store.records.fileState('/other'), undefined);
    store.records.putFile({ ...file, offset: 7 });
    assert.deepEqual(store.records.fileState(file.path), state);
    store.records.putFile(file, null);
    assert.equal(store.records.fileState(file.path), undefined);
    store.records.removeFile('/other');
    assert.deepEqual(store.records.files(), [file]);
  });

  it('is the tokens of a message once, and how a compaction ended', async () => {
    const at = 1_790_000_000_123;
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5 };
    const record = { sessionId: 'one', messageId: 'm1', agent: 'a', model: 'b', at, usage, elapsedMs: 9 };
    store.runs.addUsage(record);
    store.runs.addUsage({ ...record, at: at + 1, usage: { input: 100 } });
    store.records.putUsage('one', [
      { messageId: 'm1', at, usage },
      { messageId: 'm2', at, usage: {} },
    ]);
    const compaction = { sessionId: 'one', runId: 'r', entryId: 'e', startedAt: at };
    store.runs.addCompaction({ ...compaction, id: 'c1' });
    store.runs.addCompaction({ ...compaction, id: 'c2' });
    store.runs.endCompaction('c1', {
      status: 'completed',
      tokensBefore: 200_000,
      tokensAfter: 9,
      endedAt: at + 5,
    });
    store.runs.endCompaction('c2', { status: 'failed', error: 'no', endedAt: at + 6 });
    store.close();
    const database = await Database.open({ file: place.file });
    const rows = (sql: string) => database.all(z.record(z.string(), z.unknown()), sql);
    const recorded = rows(
      'SELECT message, agent, model, at, input, output, cache_read, cache_write, reasoning, elapsed_ms FROM usage_record ORDER BY message',
    );
    const ended = rows(
      'SELECT id, status, tokens_before, tokens_after, error, started_at, ended_at FROM compaction ORDER BY id',
    );
    database.close();
    assert.deepEqual(recorded.map(Object.values), [
      ['m1', 'a', 'b', at, 1, 2, 3, 4, 5, 9],
      ['m2', null, null, at, null, null, null, null, null, null],
    ]);
    assert.deepEqual(ended.map(Object.values), [
      ['c1', 'completed', 200_000, 9, null, at, at + 5],
      ['c2', 'failed', null, null, 'no', at, at + 6],
    ]);
  });
});
