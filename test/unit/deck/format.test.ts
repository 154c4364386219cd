import assert from 'node:assert/strict';
import { escapeMarkdown, plainLine, relativeTime } from '../../../src/deck/format.js';

const NOW = new Date(2026, 10, 20, 12, 0, 0).getTime();
const ago = (ms: number) => relativeTime(new Date(NOW - ms).toISOString(), NOW, 'en');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('the time behind a title', () => {
  it('counts minutes, hours and days, each until the next one fits', () => {
    assert.equal(ago(0), 'now');
    assert.equal(ago(MINUTE - 1), 'now');
    assert.equal(ago(MINUTE), '1 min');
    assert.equal(ago(HOUR - 1), '59 min');
    assert.equal(ago(HOUR), '1 hr');
    assert.equal(ago(DAY - 1), '23 hr');
    assert.equal(ago(DAY), '1 day');
    assert.equal(ago(7 * DAY - 1), '6 days');
  });

  it('is a date after a week, with the year when it is another one', () => {
    assert.equal(ago(10 * DAY), 'Nov 10');
    assert.equal(relativeTime(new Date(2024, 1, 3, 12).toISOString(), NOW, 'en'), 'Feb 3, 2024');
  });

  it('does not go wrong on a clock that is ahead', () => {
    assert.equal(ago(-5 * MINUTE), 'now');
  });

  it('speaks the language of the editor', () => {
    assert.equal(relativeTime(new Date(NOW - 5 * MINUTE).toISOString(), NOW, 'zh-cn'), '5分钟');
  });
});

describe('text that a person or a model wrote', () => {
  it('becomes one line without what could disguise it', () => {
    assert.equal(plainLine('  a\r\n\tb \u0000 c\u001b[31m'), 'a b c [31m');
    assert.equal(plainLine('exe.\u202Egnp\u2066x\u2069'), 'exe. gnp x');
  });

  it('stays text in markdown', () => {
    const link = '[click](command:evil) <img src=x> $(trash) `code` https://x.y';
    const escaped = escapeMarkdown(link);
    assert.equal(escaped.replaceAll(/\\(.)/g, '$1'), link);
    for (const sign of ['[', ']', '(', '<', '`', '$', ':'])
      assert.ok(!new RegExp(`(?<!\\\\)\\${sign}`).test(escaped), `${sign} in ${escaped}`);
  });
});
