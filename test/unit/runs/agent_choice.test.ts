import assert from 'node:assert/strict';
import { titleOf } from '../../../src/service/agents/registry.js';
import type { ClientOptions, ServiceConfig } from '../../../src/protocol/deck.js';
import { agentForNew, agentForSession } from '../../../src/service/runs/agent_choice.js';

const options = (config: ServiceConfig, trusted = true): ClientOptions => ({
  workspaces: [],
  allFolders: true,
  trusted,
  config,
});
const agents = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, { command: `run-${id}` }]));

describe('the choice of an agent', () => {
  it('takes the wanted one, else the default, else the only one', () => {
    const two = options({ agents: agents('a', 'b'), defaultAgent: 'b' });
    assert.equal(agentForNew(two, 'a').command, 'run-a');
    assert.equal(agentForNew(two, undefined).id, 'b');
    assert.equal(agentForNew(options({ agents: agents('a') }), undefined).id, 'a');
  });

  it('says what to set when it cannot choose', () => {
    assert.throws(() => agentForNew(options({}), undefined), {
      code: 'agent_unavailable',
      message: /sessionDeck\.agents/,
    });
    assert.throws(() => agentForNew(options({ agents: agents('a', 'b') }), undefined), {
      code: 'agent_unavailable',
      message: /a, b.*sessionDeck\.defaultAgent/,
    });
    assert.throws(() => agentForNew(options({ agents: agents('a') }), 'x'), { code: 'invalid_params' });
    assert.throws(() => agentForNew(options({ agents: agents('a') }), 'constructor'), {
      code: 'invalid_params',
    });
  });

  it('launches nothing for a restricted window', () => {
    const restricted = options({ agents: agents('a') }, false);
    assert.throws(() => agentForNew(restricted, 'a'), { code: 'forbidden' });
    assert.throws(() => agentForSession(restricted, { source: 'deck', agent: 'a' }), { code: 'forbidden' });
  });

  it("continues a tool's own session in the agent of that tool under any of its names", () => {
    for (const id of ['claude-code', 'claude', 'claude-code-acp'])
      assert.equal(
        agentForSession(options({ agents: agents('other', id) }), { source: 'claude-code' }).id,
        id,
      );
    assert.equal(
      agentForSession(options({ agents: agents('codex-acp') }), { source: 'codex' }).id,
      'codex-acp',
    );
    assert.throws(() => agentForSession(options({ agents: agents('other') }), { source: 'codex' }), {
      code: 'agent_unavailable',
      message: /Codex.*"codex".*sessionDeck\.agents/,
    });
  });

  it('stays with the agent that a session of ours is bound to', () => {
    const both = options({ agents: agents('a', 'b'), defaultAgent: 'b' });
    assert.equal(agentForSession(both, { source: 'deck', agent: 'a' }).id, 'a');
    assert.throws(() => agentForSession(both, { source: 'deck', agent: 'gone' }), {
      code: 'agent_unavailable',
      message: /"gone"/,
    });
    assert.equal(agentForSession(both, { source: 'deck' }).id, 'b');
  });

  it('takes definitions of known agents by id or alias, with what is adjusted', () => {
    const registry = options({
      agents: {
        'claude-acp': { type: 'registry', env: { A: 'b' }, default_mode: 'plan', default_model: 'opus' },
        mine: { command: 'mine', default_model: 'm' },
      },
    });
    const claude = agentForNew(registry, 'claude-acp');
    assert.equal(claude.title, 'Claude Code');
    assert.equal(claude.command, 'npx');
    assert.equal(claude.preferred?.command, 'claude-agent-acp');
    assert.deepEqual(claude.env, { A: 'b' });
    assert.deepEqual(claude.defaults, { mode: 'plan', model: 'opus' });
    assert.deepEqual(agentForNew(registry, 'mine').defaults, { mode: undefined, model: 'm' });
    assert.equal(agentForSession(registry, { source: 'claude-code' }).id, 'claude-acp');
    assert.equal(agentForSession(registry, { source: 'deck', agent: 'claude-code' }).id, 'claude-acp');
    assert.throws(() => agentForNew(options({ agents: { x: { type: 'registry' } } }), 'x'), {
      code: 'agent_unavailable',
      message: /"x" has no command.*claude-code, codex/,
    });
  });

  it('calls an agent as it is named, else as it is known, else by its id', () => {
    assert.equal(titleOf('codex', { title: 'My Codex' }), 'My Codex');
    assert.equal(titleOf('claude-acp', undefined), 'Claude Code');
    assert.equal(titleOf('mine', {}), 'mine');
  });
});
