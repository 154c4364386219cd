import assert from 'node:assert/strict';
import type { Entry } from '../../../src/protocol/entry.js';
import { parseTextUri, TextWriter } from '../../../src/service/sessions/text.js';
import {
  ClaudeFile,
  type Deck,
  never,
  openDeck,
  removeFolders,
  temporaryFolder,
  TestClient,
  withCode,
} from './support.js';

const CWD = '/deck-test/app';
let ordinal = 0;
const entry = (kind: Entry['kind'], text: string, more: Partial<Entry> = {}): Entry => ({
  id: `e${ordinal}`,
  ordinal: ordinal++,
  turnId: 't1',
  turn: 1,
  kind,
  at: '2026-11-01T00:00:00.000Z',
  content: [{ type: 'text', text }],
  boundary: false,
  replay: false,
  ...more,
});
const call = (output: string): Entry =>
  entry('tool', '', {
    content: [],
    tool: {
      callId: 'c',
      name: 'Bash',
      title: 'npm test',
      kind: 'execute',
      status: 'completed',
      output: [{ type: 'text', text: output }],
    },
  });
const textOf = (...entries: Entry[]): string => {
  const writer = new TextWriter();
  for (const one of entries) writer.add(one);
  return writer.text();
};

describe('transcripts as text', () => {
  it('have a heading for each turn, prompts as quotes, and answers as they are', () => {
    const text = textOf(
      entry('user', 'fix it\n# please'),
      entry('thought', 'hmm'),
      entry('assistant', 'Done:\n\n- **a**'),
      entry('user', 'thanks', { turnId: 't2', turn: 2 }),
    );
    assert.equal(
      text,
      '## 1. fix it # please\n\n> fix it\n> # please\n\nDone:\n\n- **a**\n\n## 2. thanks\n\n> thanks\n',
    );
  });

  it('show a call on one line with the first lines of its result, whatever is in it', () => {
    const lines = Array.from({ length: 30 }, (_, n) => `line ${n}`).join('\n');
    const text = textOf(call(lines));
    assert.match(text, /^- \*\*Bash\*\* npm test \(completed\)$/m);
    assert.match(text, / {2}line 19\n {2}… 10 more lines\n {2}```\n$/);
    assert.doesNotMatch(text, /line 20/);
    assert.match(textOf(call('```\n# no heading\n```')), / {2}````\n {2}```\n/);
  });

  it('name compactions, notices, plans and what was asked', () => {
    const text = textOf(
      entry('compaction', 'we did this', { compaction: { tokensBefore: 9000, tokensAfter: 1000 } }),
      entry('notice', 'it failed', { severity: 'error' }),
      entry('plan', '', { content: [], plan: [{ content: 'look', status: 'completed' }] }),
      entry('permission', 'Run rm?', { ask: { options: [{ id: 'y', name: 'Allow' }], answer: 'y' } }),
      entry('question', 'Which?', { ask: { options: [] } }),
    );
    assert.match(text, /---\n\n\*\*Context compacted: 9000 to 1000 tokens\*\*\n\nwe did this\n\n---/);
    assert.match(text, /\*\*Error:\*\* it failed\n\n- \[x\] look\n\n\*\*Asked:\*\* Run rm\? — Allow/);
    assert.match(text, /\*\*Asked:\*\* Which\? — not answered/);
  });

  it('end with a sentence where they would be too long', () => {
    const writer = new TextWriter(1000);
    for (let n = 0; n < 100; n += 1) writer.add(entry('assistant', 'x'.repeat(100)));
    assert.equal(writer.isFull, true);
    assert.ok(writer.text().length < 1200);
    assert.match(writer.text(), /The rest is left out: this text ends at 1000 characters\.\n$/);
  });

  it('are asked for by an address, escaped by an editor or not', () => {
    assert.deepEqual(parseTextUri('session-deck:/abc/A%20title.md'), { sessionId: 'abc' });
    assert.deepEqual(parseTextUri('session-deck:/codex%3Aabc/x.md?from=a%3Ab'), {
      sessionId: 'codex:abc',
      from: 'a:b',
    });
    assert.deepEqual(parseTextUri('session-deck:/a/b/x.md?from%3Da%253Ab'), {
      sessionId: 'a/b',
      from: 'a:b',
    });
    for (const uri of [
      'file:///a/b.md',
      'session-deck:/abc',
      'session-deck:/abc/x.txt',
      'session-deck:/%/x.md',
    ])
      assert.throws(() => parseTextUri(uri), withCode('invalid_params'));
  });

  describe('of a session', () => {
    let deck: Deck;
    let file: ClaudeFile;
    beforeEach(async () => {
      const home = temporaryFolder();
      file = new ClaudeFile(home, 'aaaaaaaa-0000-4000-8000-000000000001', CWD);
      file.write(...Array.from({ length: 300 }, (_, n) => file.turn(`prompt ${n}`)));
      deck = await openDeck(home, temporaryFolder());
    });
    afterEach(async () => {
      await deck.close();
      removeFolders();
    });
    const textAt = async (query = '', client = deck.client) =>
      (await deck.sessions.text(client, { uri: `session-deck:/${file.id}/x.md${query}` }, never)).text;

    it('are whole, or what comes after an entry', async () => {
      const whole = await textAt();
      assert.match(whole, /^# prompt 0\n\n## 1\. prompt 0\n\n> prompt 0\n\n- \*\*Bash\*\* /);
      assert.match(whole, /\n## 300\. prompt 299\n/);
      const [turn] = (await deck.sessions.turns(deck.client, { sessionId: file.id, from: 298, limit: 1 }))
        .turns;
      const rest = await textAt(`?from=${encodeURIComponent(turn?.boundaryEntryId ?? '')}`);
      assert.match(rest, /^## 299\. prompt 298\n/);
      assert.ok(whole.endsWith(rest));
      await assert.rejects(textAt('?from=nothing'), withCode('invalid_params'));
    });

    it('are not told out of scope', async () => {
      const outside = deck.clients.attach(new TestClient('outside').only('/elsewhere'));
      await assert.rejects(textAt('', outside), withCode('session_unavailable'));
    });
  });
});
