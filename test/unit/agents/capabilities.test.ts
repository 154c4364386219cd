import assert from 'node:assert/strict';
import { capabilityWords, parseCapabilities } from '../../../src/service/agents/capabilities.js';

describe('capabilities of an agent', () => {
  it('counts an empty object as announced and null as not', () => {
    const capabilities = parseCapabilities({
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: false },
        mcpCapabilities: { http: true },
        sessionCapabilities: { resume: {}, close: null, list: {}, fork: {}, additionalDirectories: {} },
        auth: { logout: {} },
      },
      _meta: { steering: { supported: true } },
    });
    assert.deepEqual(capabilityWords(capabilities), [
      'load',
      'resume',
      'list',
      'fork',
      'additional directories',
      'steering',
      'images',
      'MCP over HTTP',
      'logout',
    ]);
    assert.equal(capabilities.close, false);
    assert.deepEqual(capabilities.prompt, { image: true, audio: false, embeddedContext: false });
    assert.deepEqual(capabilities.mcp, { http: true, sse: false });
  });

  it('reads how to sign in, and leaves out what has no id', () => {
    const { authMethods, agentName, agentVersion } = parseCapabilities({
      protocolVersion: 1,
      agentInfo: { name: 'x', title: 'X', version: '1.2' },
      authMethods: [
        { id: 'key', name: 'API key', description: 'From the environment' },
        { type: 'terminal', id: 'login', name: 'Log in', args: ['--cli', 7, 'login'], env: { A: 'b' } },
        { type: 'terminal', id: 'bare' },
        { name: 'nobody can ask for it' },
        'nonsense',
      ],
    });
    assert.equal(agentName, 'X');
    assert.equal(agentVersion, '1.2');
    assert.deepEqual(authMethods, [
      { id: 'key', name: 'API key', description: 'From the environment' },
      { id: 'login', name: 'Log in', terminal: { args: ['--cli', 'login'], env: { A: 'b' } } },
      { id: 'bare', name: 'bare', terminal: { args: [], env: {} } },
    ]);
  });

  it('survives malformed parts and announces nothing for them', () => {
    const capabilities = parseCapabilities({
      protocolVersion: 1,
      agentInfo: 'me',
      agentCapabilities: {
        loadSession: 'yes',
        sessionCapabilities: 7,
        promptCapabilities: null,
        mcpCapabilities: [],
        auth: 'no',
        _meta: 3,
      },
      authMethods: {},
      _meta: { steering: { supported: 'no' } },
    });
    assert.deepEqual(capabilityWords(capabilities), []);
    assert.deepEqual(capabilities.authMethods, []);
    assert.equal(capabilities.agentName, undefined);
    assert.equal(capabilities.claudeCode, false);
    assert.equal(parseCapabilities({ protocolVersion: 1, agentCapabilities: 'none' }).resume, false);
    assert.equal(parseCapabilities({ protocolVersion: 1, agentCapabilities: null }).resume, false);
  });

  it('refuses an answer without a version', () => {
    assert.throws(() => parseCapabilities('hello'));
    assert.throws(() => parseCapabilities({ agentCapabilities: {} }));
    assert.throws(() => parseCapabilities({ protocolVersion: '1' }));
  });
});
