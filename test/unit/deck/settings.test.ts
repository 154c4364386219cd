import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bySmallness } from '../../../src/deck/model_choice.js';
import { findRipgrep } from '../../../src/deck/ripgrep.js';
import { parseSettings } from '../../../src/deck/settings_schema.js';

const read = (settings: Record<string, unknown>) => parseSettings((id) => settings[id]);

describe('the settings', () => {
  it('are quiet when nothing is set', () => {
    assert.deepEqual(read({ agents: {}, 'smallJobs.endpoint': {}, embeddings: null, defaultAgent: '' }), {
      agents: {},
      allFolders: false,
      groupBy: 'folder',
      smallJobs: { model: 'off', allowAgent: false },
      problems: [],
    });
  });

  it('take definitions in the shape of agent_servers, whatever else they say', () => {
    const agents = {
      'claude-code': { type: 'registry', default_mode: 'plan', favorite_models: ['x'] },
      mine: { type: 'custom', command: 'mine', args: ['--acp'], env: { A: '1' }, default_model: 'm' },
      short: { command: 'short' },
    };
    const settings = read({ agents });
    assert.deepEqual(settings.problems, []);
    assert.deepEqual(settings.agents, {
      'claude-code': { type: 'registry', default_mode: 'plan' },
      mine: agents.mine,
      short: agents.short,
    });
  });

  it('name the field that does not fit, and keep the others', () => {
    const settings = read({
      agents: { broken: { args: [] }, wrong: { command: 'x', args: 'y' }, good: { command: 'g' } },
      groupBy: 'color',
      embeddings: { url: 'ftp://x', model: 'm' },
    });
    assert.deepEqual(Object.keys(settings.agents), ['good']);
    assert.equal(settings.groupBy, 'folder');
    assert.equal(settings.embeddings, undefined);
    assert.deepEqual(
      settings.problems.map((problem) => problem.split(':')[0]),
      [
        'sessionDeck.agents.broken.command',
        'sessionDeck.agents.wrong.args',
        'sessionDeck.embeddings.url',
        'sessionDeck.groupBy',
      ],
    );
  });

  it('ask for the endpoint that the small jobs need', () => {
    const { problems } = read({ 'smallJobs.model': 'endpoint' });
    assert.match(problems.join(), /^sessionDeck\.smallJobs\.endpoint: needed/);
    const endpoint = { url: 'http://localhost:1/v1', model: 'm', apiKeyEnv: 'KEY' };
    const settings = read({ 'smallJobs.model': 'endpoint', 'smallJobs.endpoint': endpoint });
    assert.deepEqual(settings.smallJobs, { model: 'endpoint', endpoint, allowAgent: false });
    assert.deepEqual(settings.problems, []);
  });
});

describe('what the editor has to offer', () => {
  it('is its ripgrep, where it is', () => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'deck-app-root-'));
    assert.equal(findRipgrep(root, 'linux', 'x64'), undefined);
    const file = path.join(root, 'node_modules', '@vscode', 'ripgrep', 'bin', 'rg');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, '');
    assert.equal(findRipgrep(root, 'linux', 'x64'), file);
    assert.equal(findRipgrep(root, 'win32', 'x64'), undefined);
    fs.rmSync(root, { recursive: true });
  });

  it('is the smallest of its models first', () => {
    const models = ['gpt-9', 'gpt-9-mini', 'gemini-3', 'claude-haiku-6'].map((id) => ({ id, family: id }));
    assert.deepEqual(
      [...models].sort(bySmallness).map(({ id }) => id),
      ['gpt-9-mini', 'claude-haiku-6', 'gpt-9', 'gemini-3'],
    );
  });
});
