import assert from 'node:assert/strict';
import {
  announcedByClaude,
  announcedByUpdate,
  announcedInAnswer,
  isLegacyModel,
  modelIn,
  optionsOf,
} from '../../../src/service/agents/announced.js';

const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }] };
const models = {
  currentModelId: 'm1',
  availableModels: [{ modelId: 'm1', name: 'One' }, { modelId: 'm2', description: 'Better' }, 'nonsense'],
};
const option = {
  type: 'select',
  id: 'effort',
  name: 'Effort',
  currentValue: 'low',
  options: [{ value: 'low', name: 'Low' }],
};

describe('what agents announce of a session', () => {
  it('tells apart what was not said and what there is not', () => {
    assert.deepEqual(announcedInAnswer({ sessionId: 's' }), {});
    assert.deepEqual(announcedInAnswer({ modes: null, configOptions: null, models: null }), {
      modes: null,
      configOptions: [],
    });
    assert.deepEqual(announcedInAnswer({ modes: 'x', configOptions: 7, models: [] }), {});
    assert.deepEqual(announcedInAnswer('nonsense'), {});
  });

  it('leaves out options that it does not understand', () => {
    const { configOptions } = announcedInAnswer({ configOptions: [option, { type: 'dial', id: 'x' }, null] });
    assert.deepEqual(configOptions, [option]);
  });

  it('keeps no more values of an option, and no more modes, than anybody can choose from', () => {
    const values = Array.from({ length: 2000 }, (_, index) => ({ value: `v${index}`, name: 'V' }));
    const groups = ['a', 'b', 'c'].map((group) => ({ group, name: group, options: values.slice(0, 600) }));
    const { configOptions, modes: kept } = announcedInAnswer({
      configOptions: [
        { ...option, options: values },
        { ...option, options: groups },
      ],
      modes: { ...modes, availableModes: values.map(({ value: id, name }) => ({ id, name })) },
    });
    const [plain, grouped] = (configOptions ?? []).map((one) => (one.type === 'select' ? one.options : []));
    assert.equal(plain?.length, 1000);
    assert.deepEqual(
      grouped?.map((one) => ('options' in one && Array.isArray(one.options) ? one.options.length : -1)),
      [600, 400, 0],
    );
    assert.equal(kept?.availableModes.length, 1000);
  });

  it('makes an option of the models of older agents, unless there is one', () => {
    const old = announcedInAnswer({ models, configOptions: [option] });
    assert.equal(modelIn(old), 'm1');
    assert.deepEqual(optionsOf(old)[1], {
      type: 'select',
      id: 'model',
      name: 'Model',
      category: 'model',
      _meta: { sessionDeck: { legacyModel: true } },
      currentValue: 'm1',
      options: [
        { value: 'm1', name: 'One' },
        { value: 'm2', name: 'm2', description: 'Better' },
      ],
    });
    assert.deepEqual(optionsOf(old).map(isLegacyModel), [false, true]);
    const both = announcedInAnswer({
      models,
      configOptions: [{ ...option, id: 'model', category: 'model' }],
    });
    assert.equal(optionsOf(both).length, 1);
    assert.equal(modelIn(both), 'low');
    assert.deepEqual(optionsOf(both).map(isLegacyModel), [false]);
    const clash = announcedInAnswer({ models, configOptions: [{ ...option, id: 'model' }] });
    assert.deepEqual(
      optionsOf(clash).map(({ id }) => id),
      ['model', 'legacy_model'],
    );
  });

  it('reads modes, options and commands that change', () => {
    const mode = { sessionUpdate: 'current_mode_update', currentModeId: 'code' };
    assert.equal(announcedByUpdate(mode, {}), undefined);
    assert.equal(announcedByUpdate(mode, { modes })?.modes?.currentModeId, 'code');
    assert.deepEqual(
      announcedByUpdate({ sessionUpdate: 'config_option_update', configOptions: [option] }, {}),
      { configOptions: [option] },
    );
    assert.deepEqual(
      announcedByUpdate(
        {
          sessionUpdate: 'available_commands_update',
          availableCommands: [{ name: '/plan', input: { hint: 'what' } }, { description: 'no name' }],
        },
        {},
      ),
      { commands: [{ name: 'plan', description: '', input: { hint: 'what' } }] },
    );
    assert.equal(announcedByUpdate({ sessionUpdate: 'agent_message_chunk' }, {}), undefined);
  });

  it('reads which MCP servers failed, as the adapters of Claude Code and Codex tell it', () => {
    const notice = {
      sessionUpdate: 'notice',
      severity: 'warning',
      title: 'MCP server "db" failed to start',
      description: 'Its tools are unavailable.',
      _meta: { claudeCode: { kind: 'mcpServerStatus', server: 'db', status: 'failed' } },
    };
    const first = announcedByUpdate(notice, {});
    assert.ok(first);
    assert.deepEqual(first.mcp, {
      db: { available: false, reason: 'MCP server "db" failed to start. Its tools are unavailable.' },
    });
    const failure = {
      sessionUpdate: 'tool_call',
      toolCallId: 'mcp_startup.my%20files',
      title: 'mcp__my files__startup',
      status: 'failed',
      content: [{ type: 'content', content: { type: 'text', text: 'ENOENT' } }],
    };
    assert.deepEqual(announcedByUpdate(failure, first)?.mcp, {
      ...first.mcp,
      'my files': { available: false, reason: 'ENOENT' },
    });
    assert.equal(announcedByUpdate({ ...failure, toolCallId: 'call_1' }, {}), undefined);
  });

  it('reads the tools of Claude Code and where they come from', () => {
    const said = announcedByClaude(
      {
        type: 'system',
        subtype: 'init',
        tools: ['Read', 'mcp__my_files__list', 'mcp__other__get'],
        mcp_servers: [
          { name: 'my files', status: 'connected' },
          { name: 'db', status: 'failed' },
        ],
      },
      { mcp: { db: { available: false, reason: 'ENOENT' } } },
    );
    assert.deepEqual(said, {
      tools: [
        { name: 'Read' },
        { name: 'mcp__my_files__list', server: 'my files' },
        { name: 'mcp__other__get', server: 'other' },
      ],
      mcp: { 'my files': { available: true }, db: { available: false, reason: 'ENOENT' } },
    });
    assert.equal(announcedByClaude({ type: 'assistant' }, {}), undefined);
  });
});
