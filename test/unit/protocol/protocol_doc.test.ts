import assert from 'node:assert/strict';
import { generated, written } from '../../support/protocol_doc.js';

describe('docs/protocol.md', () => {
  it('lists every method, field and error of the code (npm run docs writes it)', () => {
    assert.equal(written(), generated().trim());
  });
});
