import assert from 'node:assert/strict';
import type { Entry } from '../../../src/protocol/entry.js';
import type { EntryDraft } from '../../../src/service/sessions/transcript.js';
import { type Deck, openDeck, removeFolders, temporaryFolder } from './support.js';

const draft = (id: string, text: string, kind: EntryDraft['kind'] = 'assistant'): EntryDraft => ({
  id,
  kind,
  at: '2026-01-01T00:00:00Z',
  content: [{ type: 'text', text }],
});

describe('the replay of a session', () => {
  let deck: Deck;
  let sessionId: string;
  beforeEach(async () => {
    deck = await openDeck(temporaryFolder(), temporaryFolder());
    const session = { cwd: temporaryFolder(), agent: 'a', kind: 'build', headless: false } as const;
    sessionId = deck.sessions.create(session).id;
  });
  afterEach(async () => {
    await deck.close();
    removeFolders();
  });

  const turn = (name: string, entries: number): string => {
    const { writer } = deck.sessions;
    const { turnId } = writer.beginTurn(sessionId, draft(`${name}-prompt`, `prompt ${name}`, 'user'));
    writer.write(
      sessionId,
      turnId,
      Array.from({ length: entries }, (_, i) => draft(`${name}-${i}`, 'before')),
    );
    return turnId;
  };
  const end = (turnId: string) => deck.sessions.writer.endTurn(sessionId, turnId, { status: 'completed' });
  const textOf = (entries: readonly Entry[], id: string) =>
    entries
      .filter((entry) => entry.id === id)
      .flatMap(({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')));

  it('is of one moment in the turn that runs, however long that is', async () => {
    const { writer } = deck.sessions;
    end(turn('first', 150));
    const turnId = turn('second', 250);
    const entries: Entry[] = [];
    let ends = 0;
    let batches = 0;
    const change = (text: string) =>
      writer.write(sessionId, turnId, [draft('second-0', text), draft(`second-249`, text)]);
    for await (const batch of deck.sessions.replay(sessionId, () => (ends += 1))) {
      entries.push(...batch);
      batches += 1;
      // What is told before the end is part of the replay, what is told later is not.
      if (ends === 0) change('told before the end');
      else change('told after it');
    }
    assert.equal(ends, 1);
    assert.ok(batches >= 4);
    assert.equal(entries.length, 402);
    assert.equal(new Set(entries.map(({ id }) => id)).size, 402);
    for (const id of ['second-0', 'second-249'])
      assert.deepEqual(textOf(entries, id), ['told before the end']);
  });

  it('has what comes while it goes on, also a turn that begins and ends meanwhile', async () => {
    end(turn('first', 120));
    const entries: Entry[] = [];
    let ended = false;
    for await (const batch of deck.sessions.replay(sessionId, () => (ended = true))) {
      assert.equal(ended, entries.length >= 242);
      if (entries.length === 0) end(turn('second', 120));
      entries.push(...batch);
    }
    assert.equal(ended, true);
    assert.deepEqual(
      entries.map(({ ordinal }) => ordinal),
      Array.from({ length: 242 }, (_, i) => i),
    );
  });

  it('ends also when there is nothing to tell', async () => {
    let ends = 0;
    for await (const batch of deck.sessions.replay(sessionId, () => (ends += 1))) assert.deepEqual(batch, []);
    assert.equal(ends, 1);
  });
});
