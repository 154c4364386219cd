import assert from 'node:assert/strict';
import { stretches } from '../../../src/webview/ansi.js';
import { hitsIn } from '../../../src/webview/hits.js';
import { lineDiff } from '../../../src/webview/line_diff.js';
import { toBlocks } from '../../../src/webview/blocks.js';
import { number, text, tool } from '../../support/webview_story.js';

describe('terminal output', () => {
  const plain = (output: string) =>
    stretches(output)
      .map((part) => part.text)
      .join('');

  it('gets the colours of the theme', () => {
    assert.deepEqual(stretches('\u001b[1;31mbad\u001b[0m plain \u001b[90mdim\u001b[39m.'), [
      { text: 'bad', look: 'strong bad' },
      { text: ' plain ', look: '' },
      { text: 'dim', look: 'dim' },
      { text: '.', look: '' },
    ]);
  });

  it('does not take the numbers of a colour of 256 or of 16 million for others', () => {
    assert.deepEqual(stretches('\u001b[38;5;31ma\u001b[38;2;31;32;33mb'), [
      { text: 'a', look: '' },
      { text: 'b', look: '' },
    ]);
  });

  it('swallows what moves the cursor, names windows and rings', () => {
    assert.equal(
      plain('\u001b[2K\u001b[1;1Ha\u001b]0;title\u0007b\u0007c\u001b]8;;https://x\u001b\\d'),
      'abcd',
    );
  });

  it('shows what was written over a line last', () => {
    assert.equal(plain('10 %\r50 %\r100 %\nnext\r\nlast'), '100 %\nnext\nlast');
  });
});

describe('the output of a search', () => {
  it('is places when most lines are', () => {
    assert.deepEqual(hitsIn('src/a.ts:12:const a = 1;\nC b/c.ts:3:7: x: y\n'), [
      { path: 'src/a.ts', line: 12, text: 'const a = 1;' },
      { path: 'C b/c.ts', line: 3, text: ' x: y' },
    ]);
  });

  it('is text when most lines are not', () => {
    assert.equal(hitsIn('Found 3 files\nsrc/a.ts\nsrc/b.ts:1:x'), undefined);
    assert.equal(hitsIn(''), undefined);
  });
});

describe('changed words', () => {
  const words = (oldText: string, newText: string) =>
    lineDiff({ path: 'a', oldText, newText }).lines.map((line) =>
      line.words?.filter((part) => part.changed).map((part) => part.text.trim()),
    );

  it('are marked on both sides of a line that is a version of the other', () => {
    assert.deepEqual(words('insert(entries, rows);\n', 'insert(entries, keyed);\n'), [['rows'], ['keyed']]);
  });

  it('are not marked where the lines share nothing', () => {
    assert.deepEqual(words('alpha beta gamma\n', 'something wholly different\n'), [undefined, undefined]);
  });
});

describe('the last edit of a turn', () => {
  const edit = (title: string) =>
    tool({ kind: 'edit', title, diffs: [{ path: title, oldText: 'a', newText: 'b' }] });

  it('stands by itself, the others fold', () => {
    const blocks = toBlocks(
      number([
        { kind: 'user', content: text('go') },
        edit('a'),
        edit('b'),
        edit('c'),
        edit('d'),
        tool({ kind: 'read', title: 'e' }),
        { kind: 'assistant', content: text('done'), boundary: true },
      ]),
    );
    const drawn = blocks.map((block) => (block.kind === 'entry' && block.lead ? 'lead' : block.kind));
    assert.deepEqual(drawn, ['entry', 'steps', 'lead', 'entry', 'entry', 'end']);
  });
});
