import assert from 'node:assert/strict';
import { Cursors, ListCursor, PageCursor } from '../../../src/service/sessions/cursor.js';
import { withCode } from './support.js';

describe('cursors', () => {
  const cursors = new Cursors(Buffer.alloc(32, 7));
  const sealed = cursors.seal(['l', 'print', 1234, 'some-id']);

  it('open to what was sealed', () => {
    assert.deepEqual(cursors.open(sealed, ListCursor), ['l', 'print', 1234, 'some-id']);
  });

  it('are refused when any one character is changed, added or left out', () => {
    const alphabet = 'ABCXYZabcxyz0189-_=. ';
    for (let i = 0; i < sealed.length; i += 1)
      for (const character of alphabet) {
        if (sealed[i] === character) continue;
        const changed = sealed.slice(0, i) + character + sealed.slice(i + 1);
        assert.throws(() => cursors.open(changed, ListCursor), withCode('cursor_invalid'), changed);
      }
    for (const changed of [
      `${sealed}A`,
      `${sealed}=`,
      sealed.slice(1),
      sealed.slice(0, -1),
      ` ${sealed}`,
      'x',
    ])
      assert.throws(() => cursors.open(changed, ListCursor), withCode('cursor_invalid'), changed);
  });

  it('are refused by another store and for another purpose', () => {
    assert.throws(
      () => new Cursors(Buffer.alloc(32, 8)).open(sealed, ListCursor),
      withCode('cursor_invalid'),
    );
    assert.throws(() => cursors.open(sealed, PageCursor), withCode('cursor_invalid'));
  });
});
