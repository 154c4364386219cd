import assert from 'node:assert/strict';
import type { Entry } from '../../../src/protocol/entry.js';
import { Handover } from '../../../src/service/runs/handover.js';

let ordinal = 0;
const entry = (kind: Entry['kind'], text: string, more: Partial<Entry> = {}): Entry => ({
  id: String(ordinal),
  ordinal: ordinal++,
  turnId: 't',
  turn: 1,
  kind,
  at: '2026-11-01T00:00:00.000Z',
  content: [{ type: 'text', text }],
  boundary: false,
  replay: false,
  ...more,
});

describe('handover', () => {
  it('is nothing for a session without a conversation', () => {
    const handover = new Handover();
    handover.add(entry('notice', 'hello'));
    assert.equal(handover.text(), undefined);
  });

  it('tells prompts, answers and tool calls in order, and no thoughts', () => {
    const handover = new Handover();
    handover.add(entry('user', 'first'));
    handover.add(entry('thought', 'secret'));
    handover.add(
      entry('tool', '', {
        tool: {
          callId: 'c',
          name: 'Read',
          title: 'a.ts',
          kind: 'read',
          status: 'completed',
          output: [{ type: 'text', text: 'code' }],
        },
      }),
    );
    handover.add(entry('assistant', 'answer'));
    const text = handover.text() ?? '';
    assert.match(text, /User: first\n\nTool Read \(completed\): a\.ts\ncode\n\nAssistant: answer/);
    assert.doesNotMatch(text, /secret/);
  });

  it('stays bounded: the first prompt and the end are kept, and it says how much is left out', () => {
    const handover = new Handover(20_000);
    handover.add(entry('user', 'the very first prompt'));
    for (let i = 0; i < 1000; i += 1)
      handover.add(entry('assistant', `answer ${String(i)} ${'x'.repeat(500)}`));
    handover.add(entry('assistant', `huge ${'y'.repeat(1_000_000)}`));
    const text = handover.text() ?? '';
    assert.ok(text.length < 21_000, String(text.length));
    assert.match(text, /the very first prompt/);
    assert.match(text, /answer 999 /);
    assert.doesNotMatch(text, /answer 10 /);
    assert.match(text, /huge y+ \[… 996005 more characters …\]/);
    assert.match(text, /\[… \d+ entries left out …\]/);
  });

  const read = (n: number, bytes: number) =>
    entry('tool', '', {
      tool: {
        callId: String(n),
        name: 'Read',
        title: `file ${String(n)}`,
        kind: 'read',
        status: 'completed',
        output: [{ type: 'text', text: `result ${String(n)} ${'r'.repeat(bytes)}` }],
        diffs: [{ path: `/src/${String(n)}.ts`, oldText: null, newText: 'x' }],
      },
    });

  it('leaves out older results before older words', () => {
    const handover = new Handover(10_000);
    handover.add(entry('user', 'first'));
    for (let n = 0; n < 20; n += 1) {
      handover.add(read(n, 1_000));
      handover.add(entry('assistant', `answer ${String(n)}`));
    }
    const text = handover.text() ?? '';
    assert.ok(text.length < 12_000, String(text.length));
    assert.equal(handover.leftOut, 0);
    assert.match(text, /answer 0\n/);
    assert.match(text, /Tool Read \(completed\): file 0\n\n/);
    assert.doesNotMatch(text, /result 0 /);
    assert.match(text, /result 19 r/);
    assert.match(text, /Files changed so far: \/src\/0\.ts, .*\/src\/19\.ts/);
  });

  it('tells the last summary instead of what it sums up', () => {
    const handover = new Handover();
    handover.add(entry('user', 'first'));
    handover.add(entry('assistant', 'long ago'));
    handover.add(entry('compaction', 'we built a house'));
    handover.add(entry('assistant', 'and a garden'));
    const text = handover.text() ?? '';
    assert.match(
      text,
      /User: first\n\n\[… 1 entries left out …\]\n\nSummary of what came before: we built a house/,
    );
    assert.match(text, /Assistant: and a garden/);
    assert.doesNotMatch(text, /long ago/);
  });
});
