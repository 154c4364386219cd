import assert from 'node:assert/strict';
import { holds, toBlocks } from '../../../src/webview/blocks.js';
import { bytes, duration, short, time } from '../../../src/webview/format.js';
import { lineDiff } from '../../../src/webview/line_diff.js';
import { number, text, tool, type Draft } from '../../support/webview_story.js';

const calls = (count: number, status: 'completed' | 'failed' | 'in_progress' = 'completed'): Draft[] =>
  Array.from({ length: count }, (_, index) => tool({ title: `call ${String(index)}`, status }));
const keys = (drafts: Draft[]) => toBlocks(number(drafts)).map(({ key }) => key);

describe('pieces of the feed', () => {
  it('folds three calls in a row, not two', () => {
    assert.deepEqual(keys(calls(2)), ['e0', 'e1']);
    assert.deepEqual(keys(calls(3)), ['steps:e0']);
  });

  it('lets text and the end of a turn end a run', () => {
    const answer: Draft = { kind: 'assistant', content: text('so') };
    assert.deepEqual(keys([...calls(3), answer, ...calls(3)]), ['steps:e0', 'e3', 'steps:e4']);
    assert.deepEqual(keys([...calls(3), { ...answer, boundary: true }, ...calls(1)]), [
      'steps:e0',
      'e3',
      'end:e3',
      'e4',
    ]);
  });

  it('shows what runs and a last failure beside the run', () => {
    assert.deepEqual(keys([...calls(3), ...calls(1, 'in_progress')]), ['steps:e0', 'e3']);
    assert.deepEqual(keys([...calls(3), ...calls(1, 'failed')]), ['steps:e0', 'e3']);
  });

  it('knows which piece draws an entry', () => {
    const [run, end] = toBlocks(number([...calls(2), { ...tool({ title: 'x' }), boundary: true }]));
    assert.ok(run && end && holds(run, 'e1') && holds(run, 'e2'));
    assert.equal(holds(end, 'e2'), false);
  });
});

describe('the change of a file', () => {
  it('numbers lines before and after and counts them', () => {
    const diff = lineDiff({ path: 'a', oldText: 'a\nb\nc\n', newText: 'a\nB\nB2\nc\n' });
    assert.deepEqual([diff.added, diff.removed], [2, 1]);
    assert.deepEqual(
      diff.lines.map(({ kind, before, after, text: line }) => [kind, before, after, line]),
      [
        ['same', 1, 1, 'a'],
        ['del', 2, undefined, 'b'],
        ['add', undefined, 2, 'B'],
        ['add', undefined, 3, 'B2'],
        ['same', 3, 4, 'c'],
      ],
    );
  });

  it('takes a new file as added', () => {
    const diff = lineDiff({ path: 'a', oldText: null, newText: 'one\ntwo\n' });
    assert.deepEqual([diff.added, diff.removed], [2, 0]);
  });

  it('marks where lines are left out', () => {
    const lines = Array.from({ length: 60 }, (_, index) => `line ${String(index)}`);
    const changed = lines.map((line, index) => (index === 5 || index === 50 ? `${line}!` : line));
    const { lines: shown } = lineDiff({ path: 'a', oldText: lines.join('\n'), newText: changed.join('\n') });
    assert.equal(shown.filter(({ kind }) => kind === 'hunk').length, 1);
    assert.ok(shown.length < 20);
  });
});

describe('numbers and times', () => {
  it('are short', () => {
    assert.equal(short(41_812), '41.8k');
    assert.equal(short(812), '812');
    assert.equal(bytes(65_536), '64 KB');
    assert.equal(bytes(1_258_291), '1.2 MB');
    assert.equal(duration(100), '0.1 s');
    assert.equal(duration(34_000), '34 s');
    assert.equal(duration(161_000), '2 m 41 s');
  });

  it('leave a time alone that is none', () => {
    assert.equal(time('yesterday'), 'yesterday');
  });
});
