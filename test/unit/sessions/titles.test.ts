import assert from 'node:assert/strict';
import { fold, titleFromPerson, titleFromPrompt } from '../../../src/service/sessions/titles.js';
import { withCode } from './support.js';

describe('titles', () => {
  it('from a prompt are one line of at most 80 characters as a person counts', () => {
    assert.equal(titleFromPrompt('  Fix\n\nthe\tbug \u202E now '), 'Fix the bug now');
    assert.equal(titleFromPrompt(' \n\u200b\u202e '), undefined);
    const family = '👨‍👩‍👧‍👦';
    const title = titleFromPrompt(family.repeat(81)) ?? '';
    assert.equal([...new Intl.Segmenter().segment(title)].length, 80);
    assert.ok(title.startsWith(family.repeat(79)) && title.endsWith('…'));
    assert.equal(titleFromPrompt('x'.repeat(80)), 'x'.repeat(80));
    assert.ok((titleFromPrompt('y'.repeat(5_000_000)) ?? '').length === 80);
  });

  it('of a person are trimmed, cleaned, and refused when blank or too long', () => {
    assert.equal(titleFromPerson('  a\u0000b\u2066c\n d '), 'a b c d');
    for (const blank of ['', '  ', '\n\u202e\u0007'])
      assert.throws(() => titleFromPerson(blank), withCode('invalid_params'));
    assert.equal(titleFromPerson('é'.repeat(200)).length, 200);
    assert.throws(() => titleFromPerson('é'.repeat(201)), withCode('invalid_params'));
  });

  it('fold case, accents and compatibility forms', () => {
    assert.equal(fold('Ünïcode ＦＵＬＬ ﬁne'), 'unicode full fine');
  });
});
