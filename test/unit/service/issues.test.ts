import assert from 'node:assert/strict';
import type * as z from 'zod';
import { SetConfigParams } from '../../../src/protocol/acp.js';
import { PageParams } from '../../../src/protocol/aster.js';
import { ServiceConfig } from '../../../src/protocol/deck.js';
import { InboxAnswerParams } from '../../../src/protocol/inbox.js';
import { describeIssue } from '../../../src/service/issues.js';

const fieldOf = (schema: z.ZodType, value: unknown) => {
  const { error } = schema.safeParse(value);
  assert.ok(error);
  return describeIssue(error).field;
};

describe('what is wrong with a value', () => {
  it('is named by its path', () => {
    assert.equal(fieldOf(ServiceConfig, { agents: { a: { args: [7] } } }), 'agents.a.command');
    assert.equal(fieldOf(ServiceConfig, { agents: { a: { command: 'x', args: [7] } } }), 'agents.a.args.0');
    assert.equal(fieldOf(ServiceConfig, 5), 'params');
  });

  it('is what the nearest of several shapes misses, or the whole when none is nearer', () => {
    assert.equal(fieldOf(SetConfigParams, { sessionId: 's', configId: 'c' }), 'value');
    assert.equal(fieldOf(InboxAnswerParams, { id: 'i', answer: { maybe: 1 } }), 'answer');
    assert.equal(fieldOf(PageParams.pick({ anchor: true }), { anchor: 'middle' }), 'anchor');
  });
});
