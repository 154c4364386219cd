import assert from 'node:assert/strict';
import type { PageResult, TranscriptUpdate } from '../../../src/protocol/aster.js';
import type { Entry } from '../../../src/protocol/entry.js';
import { EntryWindow } from '../../../src/webview/entry_window.js';
import { entry, SESSION_ID, text } from '../../support/webview_story.js';

const make = (ordinal: number, said = 'first') =>
  entry(ordinal, 1, { kind: 'assistant', content: text(said) });
const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => make(from + index));
const page = (entries: Entry[], total: number, revision = 1, generation = 1): PageResult => ({
  schema: 'aster.acp.session-transcript-page.v1',
  operationId: 'o',
  sessionId: SESSION_ID,
  cut: { generation, revision },
  entries,
  total,
});
const update = (entries: Entry[], base: number, total: number, generation = 1): TranscriptUpdate => ({
  schema: 'aster.acp.session-transcript-update.v1',
  sessionId: SESSION_ID,
  cut: { generation, revision: base + 1 },
  baseRevision: base,
  replay: false,
  changes: entries.map((item) => ({ op: 'replace', entry: item })),
  total,
});
const ordinals = (window: EntryWindow) => window.all.map(({ ordinal }) => ordinal);
const said = (window: EntryWindow, ordinal: number) => {
  const [block] = window.all.find((item) => item.ordinal === ordinal)?.content ?? [];
  return block?.type === 'text' ? block.text : undefined;
};

describe('the window of entries', () => {
  let window: EntryWindow;
  beforeEach(() => {
    window = new EntryWindow();
    window.reset(page(range(10, 20), 20));
  });

  it('joins pages that touch or overlap it, and refuses a hole', () => {
    assert.equal(window.join(page(range(5, 10), 20)), true);
    assert.equal(window.join(page(range(3, 7), 20)), true);
    assert.equal(window.join(page(range(0, 1), 20)), false);
    assert.deepEqual(ordinals(window), [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    assert.equal(window.hasOlder, true);
    assert.equal(window.holdsEnd, true);
  });

  it('refuses a page of another generation', () => {
    assert.equal(window.join(page(range(5, 10), 20, 1, 2)), false);
  });

  it('appends at the end and replaces in place', () => {
    assert.deepEqual(window.apply(update([make(12, 'second'), make(20)], 1, 21)), {
      kind: 'applied',
      appended: 1,
    });
    assert.equal(said(window, 12), 'second');
    assert.equal(window.last?.ordinal, 20);
    assert.equal(window.holdsEnd, true);
  });

  it('counts what comes after an end that it does not hold, and keeps no hole', () => {
    window.keepUpTo(14);
    assert.deepEqual(window.apply(update([make(20), make(21)], 1, 22)), { kind: 'applied', appended: 2 });
    assert.deepEqual(ordinals(window), [10, 11, 12, 13, 14]);
    assert.equal(window.holdsEnd, false);
  });

  it('sees gaps, what it knows already, and other generations', () => {
    assert.equal(window.apply(update([make(20)], 2, 21)).kind, 'gap');
    assert.equal(window.apply(update([make(20)], 0, 21)).kind, 'ignored');
    assert.equal(window.apply(update([make(20)], 1, 21, 2)).kind, 'gap');
    assert.equal(window.apply(update([make(20)], 1, 21, 0)).kind, 'ignored');
  });

  it('does not go back to what a page said that was read before a change', () => {
    window.apply(update([make(9, 'second'), make(12, 'second')], 1, 20));
    assert.equal(window.join(page(range(5, 15), 20, 1)), true);
    assert.equal(said(window, 9), 'second');
    assert.equal(said(window, 12), 'second');
    window.reset(page(range(5, 15), 20, 1));
    assert.equal(said(window, 12), 'second');
  });
});
