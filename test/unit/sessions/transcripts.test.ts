import assert from 'node:assert/strict';
import { TranscriptUpdate } from '../../../src/protocol/aster.js';
import type { Entry } from '../../../src/protocol/entry.js';
import type { EntryDraft } from '../../../src/service/sessions/transcript.js';
import type { TestClient } from './support.js';
import {
  ClaudeFile,
  type Deck,
  never,
  openDeck,
  pageOf,
  removeFolders,
  temporaryFolder,
  until,
  withCode,
} from './support.js';

const CWD = '/deck-own/app';
const draft = (
  id: string,
  kind: 'user' | 'assistant',
  text: string,
  more: Partial<EntryDraft> = {},
): EntryDraft => ({
  id,
  kind,
  at: new Date().toISOString(),
  content: [{ type: 'text', text }],
  ...more,
});
const session = { cwd: CWD, agent: 'x', kind: 'build', headless: false } as const;

describe('transcripts of our own', () => {
  let deck: Deck;
  beforeEach(async () => {
    deck = await openDeck(temporaryFolder(), temporaryFolder());
  });
  afterEach(async () => {
    await deck.close();
    removeFolders();
  });
  const reopen = async () => {
    await deck.close();
    deck = await openDeck(deck.home, deck.storeDir);
  };
  const entries = async (id: string): Promise<Entry[]> =>
    (await deck.sessions.page(deck.client, pageOf(id, CWD, { limit: 200 }), never)).entries;
  const updates = (client: TestClient) =>
    client.told
      .filter(({ method }) => method === 'aster/session/transcript/update/v1')
      .map(({ params }) => TranscriptUpdate.parse(params));

  /** A run of the session, as the runs keep it. */
  function run(sessionId: string, turnId: string, id: string, startedAt: number, endedAt: number): void {
    deck.store.runs.addRun({ id, sessionId, turnId, kind: 'prompt', agent: 'x', startedAt });
    deck.store.runs.endRun(id, { status: 'completed', endedAt });
  }

  it('are listed with their first prompt, and keep every entry over a restart', async () => {
    const { id } = deck.sessions.create(session);
    assert.deepEqual((await deck.sessions.list(deck.client, {})).sessions, []);
    const { writer } = deck.sessions;
    const { turnId } = writer.beginTurn(id, draft('p1', 'user', 'Do\nthis'));
    assert.throws(() => writer.beginTurn(id, draft('p2', 'user', 'and that')), withCode('turn_in_progress'));
    writer.write(id, turnId, [draft('a1', 'assistant', 'wor', { status: 'in_progress' })]);
    writer.write(id, turnId, [
      draft('a1', 'assistant', 'working', { status: 'completed' }),
      draft('a2', 'assistant', 'done'),
    ]);
    writer.endTurn(id, turnId, { status: 'completed', usage: { input: 3 } });
    for (let round = 0; round < 2; round += 1) {
      const all = await entries(id);
      assert.deepEqual(
        all.map(({ id: entry, ordinal, boundary, content }) => [entry, ordinal, boundary, content[0]]),
        [
          ['p1', 0, false, { type: 'text', text: 'Do\nthis' }],
          ['a1', 1, false, { type: 'text', text: 'working' }],
          ['a2', 2, true, { type: 'text', text: 'done' }],
        ],
      );
      const info = deck.sessions.info(deck.client, { sessionId: id });
      assert.deepEqual(
        [info.title, info.messageCount, info.usage, info.turnCount],
        ['Do this', 3, { input: 3 }, 1],
      );
      await reopen();
    }
    const replayed: string[] = [];
    for await (const batch of deck.sessions.replay(id)) replayed.push(...batch.map((entry) => entry.id));
    assert.deepEqual(replayed, ['p1', 'a1', 'a2']);
  });

  it('tell watchers everything, in order, at most twenty times a second', async () => {
    const { id } = deck.sessions.create(session);
    const { writer } = deck.sessions;
    const { turnId } = writer.beginTurn(id, draft('p', 'user', 'go'));
    const { cut } = await deck.sessions.page(deck.client, pageOf(id, CWD), never);
    const started = Date.now();
    for (let n = 0; Date.now() - started < 400; n += 1) {
      writer.write(id, turnId, [draft('grows', 'assistant', 'x'.repeat(n + 1))]);
      if (n % 5 === 0) writer.write(id, turnId, [draft(`e${n}`, 'assistant', 'one')]);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    writer.endTurn(id, turnId, { status: 'completed' });
    const { cut: last } = deck.sessions.info(deck.client, { sessionId: id });
    await until(() => updates(deck.client).at(-1)?.cut.revision === last.revision);
    const elapsed = Date.now() - started;
    const told = updates(deck.client);
    assert.ok(told.length <= elapsed / 50 + 2, `${told.length} updates in ${elapsed} ms`);
    assert.ok(told.length >= 4);
    const shown = new Map<string, Entry>();
    let { revision } = cut;
    for (const update of told) {
      assert.equal(update.baseRevision, revision);
      revision = update.cut.revision;
      for (const { op, entry } of update.changes) {
        assert.equal(shown.has(entry.id) || entry.id === 'p', op === 'replace', `${op} ${entry.id}`);
        shown.set(entry.id, entry);
      }
    }
    assert.deepEqual(
      [...shown.values()],
      (await entries(id)).filter((entry) => entry.id !== 'p'),
    );
  });

  it('send an answer before the updates that follow it', async () => {
    const { id } = deck.sessions.create(session);
    const { writer } = deck.sessions;
    const { turnId } = writer.beginTurn(id, draft('p', 'user', 'go'));
    await deck.sessions.page(deck.client, pageOf(id, CWD), never);
    const asked = deck.sessions.page(deck.client, pageOf(id, CWD), never).then((page) => {
      deck.client.told.push({ method: 'answer', params: page.cut.revision });
    });
    for (let n = 0; n < 3; n += 1) writer.write(id, turnId, [draft(`e${n}`, 'assistant', 'one')]);
    await asked;
    const { cut } = deck.sessions.info(deck.client, { sessionId: id });
    await until(() => updates(deck.client).at(-1)?.cut.revision === cut.revision);
    let held = 0;
    for (const { method, params } of deck.client.told) {
      if (method === 'answer' && typeof params === 'number') held = params;
      if (method !== 'aster/session/transcript/update/v1' || held === 0) continue;
      const update = TranscriptUpdate.parse(params);
      assert.equal(update.baseRevision, held);
      held = update.cut.revision;
    }
    assert.equal(held, cut.revision);
  });

  it('stand for what the agent writes into its own file meanwhile', async () => {
    const start = Date.parse('2026-02-01T00:00:00Z');
    const file = new ClaudeFile(deck.home, 'aaaaaaaa-0000-4000-8000-000000000001', CWD, start);
    file.write(file.turn('before'));
    await until(() => deck.sessions.status(deck.client).counts.total === 1);
    await deck.sessions.page(deck.client, pageOf(file.id, CWD), never);
    const { writer } = deck.sessions;
    // The file's clock is that of its lines: the second turn falls into the run.
    const { turnId } = writer.beginTurn(
      file.id,
      draft('p', 'user', 'during', { at: new Date(start + 5000).toISOString() }),
    );
    deck.store.runs.addRun({
      id: 'r',
      sessionId: file.id,
      turnId,
      kind: 'prompt',
      agent: 'x',
      startedAt: start + 4500,
    });
    file.append(file.turn('during'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    writer.write(file.id, turnId, [draft('a', 'assistant', 'ours')]);
    writer.endTurn(file.id, turnId, { status: 'completed' });
    deck.store.runs.endRun('r', { status: 'completed', endedAt: start + 7500 });
    deck.sessions.update(file.id, { state: 'running' });
    deck.sessions.update(file.id, { state: 'idle' });
    file.append(
      file.line('user', { isMeta: true, message: { role: 'user', content: 'nothing' } }),
      file.turn('after'),
    );
    await until(() => deck.sessions.info(deck.client, { sessionId: file.id }).turnCount === 3);
    const all = await entries(file.id);
    assert.deepEqual(
      all.map(({ kind, content }) => [kind, content[0]?.type === 'text' ? content[0].text : undefined]),
      [
        ['user', 'before'],
        ['tool', undefined],
        ['assistant', 'Answer to before'],
        ['user', 'during'],
        ['assistant', 'ours'],
        ['user', 'after'],
        ['tool', undefined],
        ['assistant', 'Answer to after'],
      ],
    );
    assert.deepEqual(
      all.map(({ ordinal }) => ordinal),
      [0, 1, 2, 3, 4, 5, 6, 7],
    );
    const { cut } = deck.sessions.info(deck.client, { sessionId: file.id });
    assert.equal(cut.generation, 0);

    // A rewind in the tool: another history, and ours is still in its place.
    file.append(file.rewind(4).turn('another way'));
    await until(() => deck.sessions.info(deck.client, { sessionId: file.id }).cut.generation === 1);
    const texts = (await entries(file.id)).flatMap(({ kind, content }) =>
      kind === 'user' && content[0]?.type === 'text' ? [content[0].text] : [],
    );
    assert.deepEqual(texts, ['before', 'during', 'another way']);
  });

  it('begin behind what the tool wrote before, also when that was never read', async () => {
    await deck.close();
    const start = Date.parse('2026-02-01T00:00:00Z');
    const file = new ClaudeFile(deck.home, 'aaaaaaaa-0000-4000-8000-000000000001', CWD, start);
    file.write(...Array.from({ length: 300 }, (_, n) => file.turn(`before ${n}`)));
    deck = await openDeck(deck.home, deck.storeDir, { waitForIndex: false });
    await deck.sessions.ready;
    const { turnId } = deck.sessions.writer.beginTurn(file.id, draft('p', 'user', 'now'));
    deck.store.runs.addRun({
      id: 'r',
      sessionId: file.id,
      turnId,
      kind: 'prompt',
      agent: 'x',
      startedAt: Date.now(),
    });
    await deck.sessions.indexed();
    deck.sessions.writer.write(file.id, turnId, [draft('a', 'assistant', 'done')]);
    deck.sessions.writer.endTurn(file.id, turnId, { status: 'completed' });
    deck.store.runs.endRun('r', { status: 'completed', endedAt: Date.now() });
    deck.sessions.update(file.id, { state: 'failed' });
    await until(() => deck.sessions.info(deck.client, { sessionId: file.id }).entryCount === 902);
    const all = await entries(file.id);
    assert.deepEqual(
      all.slice(-3).map(({ ordinal, id, boundary }) => [ordinal, id, boundary]),
      [
        [899, all.at(-3)?.id, true],
        [900, 'p', false],
        [901, 'a', true],
      ],
    );
    assert.equal(deck.sessions.info(deck.client, { sessionId: file.id }).turnCount, 301);
  });

  it('are one session with the file that their agent writes', async () => {
    const file = new ClaudeFile(deck.home, 'aaaaaaaa-0000-4000-8000-000000000001', CWD);
    file.write(file.turn('typed here'));
    await until(() => deck.sessions.status(deck.client).counts.total === 1);
    const { id } = deck.sessions.create({ ...session, agentSession: file.id });
    const { turnId } = deck.sessions.writer.beginTurn(
      id,
      draft('p', 'user', 'typed here', { at: '2026-01-01T00:00:01Z' }),
    );
    run(id, turnId, 'r', Date.parse('2026-01-01T00:00:00Z'), Date.parse('2026-01-01T00:00:10Z'));
    deck.sessions.writer.endTurn(id, turnId, { status: 'completed' });
    const listed = async () =>
      (await deck.sessions.list(deck.client, {})).sessions.map(({ sessionId }) => sessionId);
    assert.deepEqual(await listed(), [id]);
    await reopen();
    assert.deepEqual(await listed(), [id]);
    assert.equal((await entries(id)).length, 1);
    const late = new ClaudeFile(deck.home, file.id, CWD, Date.parse('2026-01-01T01:00:00Z'));
    file.append(
      late
        .turn('typed in the tool')
        .replaceAll(`"uuid":"${file.id}-`, `"uuid":"late-`)
        .replaceAll(`"parentUuid":"${file.id}-`, `"parentUuid":"late-`)
        .replace('"parentUuid":null', `"parentUuid":"${file.id}-4"`),
    );
    await until(() => deck.sessions.info(deck.client, { sessionId: id }).entryCount === 4);
    assert.deepEqual(
      (await entries(id)).map(({ kind }) => kind),
      ['user', 'user', 'tool', 'assistant'],
    );
    await deck.sessions.delete(deck.client, { sessionId: id, cwd: CWD });
    await reopen();
    assert.deepEqual(await listed(), []);
    await deck.sessions.undoDelete(deck.client, { sessionId: id });
    assert.equal((await entries(id)).length, 4);
  });
});
