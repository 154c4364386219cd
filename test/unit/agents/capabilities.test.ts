import assert from 'node:assert/strict';
import { parseCapabilities } from '../../../src/service/agents/capabilities.js';

describe('capabilities of an agent', () => {
  it('counts an empty object as announced and null as not', () => {
    const capabilities = parseCapabilities({
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {}, close: null, list: {} } },
      _meta: { steering: { supported: true } },
    });
    assert.equal(capabilities.loadSession, true);
    assert.equal(capabilities.resume, true);
    assert.equal(capabilities.close, false);
    assert.equal(capabilities.list, true);
    assert.equal(capabilities.steering, true);
  });

  it('survives malformed parts and announces nothing for them', () => {
    const capabilities = parseCapabilities({
      protocolVersion: 1,
      agentInfo: 'me',
      agentCapabilities: { loadSession: 'yes', sessionCapabilities: 7, promptCapabilities: null },
      authMethods: {},
      _meta: { steering: { supported: 'no' } },
    });
    assert.deepEqual(capabilities, {
      protocolVersion: 1,
      loadSession: false,
      resume: false,
      close: false,
      list: false,
      image: false,
      steering: false,
      authMethods: [],
    });
    assert.equal(parseCapabilities({ protocolVersion: 1, agentCapabilities: 'none' }).resume, false);
  });

  it('refuses an answer without a version', () => {
    assert.throws(() => parseCapabilities('hello'));
    assert.throws(() => parseCapabilities({ agentCapabilities: {} }));
  });
});
