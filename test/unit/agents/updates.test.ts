import assert from 'node:assert/strict';
import { parseToolCall, parseUpdate } from '../../../src/service/agents/updates.js';

describe('updates of an agent', () => {
  it('reads a chunk with and without a message id', () => {
    const content = { type: 'text', text: 'hi' };
    assert.deepEqual(parseUpdate({ sessionUpdate: 'agent_message_chunk', content }), {
      type: 'message',
      role: 'assistant',
      content,
    });
    assert.deepEqual(parseUpdate({ sessionUpdate: 'user_message_chunk', content, messageId: 'm' }), {
      type: 'message',
      role: 'user',
      content,
      messageId: 'm',
    });
    assert.deepEqual(parseUpdate({ sessionUpdate: 'agent_thought_chunk', content, messageId: null }), {
      type: 'message',
      role: 'thought',
      content,
    });
  });

  it('keeps content that it does not know as raw', () => {
    const update = parseUpdate({
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'smell', of: 'roses' },
    });
    assert.ok(update.type === 'message' && update.content.type === 'raw');
    assert.match(update.content.text, /roses/);
  });

  it('merges nothing into a tool patch that was not told', () => {
    assert.deepEqual(parseUpdate({ sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'failed' }), {
      type: 'tool',
      patch: { callId: 'c', status: 'failed' },
    });
  });

  it('reads diffs, content, locations, exit code and the tool name of Claude Code', () => {
    const patch = parseToolCall({
      toolCallId: 'c',
      title: 'ls',
      kind: 'execute',
      status: 'completed',
      content: [
        { type: 'diff', path: '/a', newText: 'x' },
        { type: 'content', content: { type: 'text', text: 'out' } },
        { type: 'terminal', terminalId: 't' },
        { type: 'hologram' },
      ],
      locations: [{ path: '/a' }, { path: '/b', line: 3 }],
      rawOutput: { exit_code: 2 },
      _meta: { claudeCode: { toolName: 'Bash' } },
    });
    assert.deepEqual(patch, {
      callId: 'c',
      name: 'Bash',
      title: 'ls',
      kind: 'execute',
      status: 'completed',
      output: [
        { type: 'text', text: 'out' },
        { type: 'raw', text: '{"type":"hologram"}', reason: 'unknown tool content' },
      ],
      terminalId: 't',
      diffs: [{ path: '/a', oldText: null, newText: 'x' }],
      exitCode: 2,
      locations: [{ path: '/a' }, { path: '/b', line: 3 }],
    });
  });

  it('reads the commands that adapters run themselves', () => {
    const command = (_meta: unknown) => parseToolCall({ toolCallId: 'c', _meta });
    assert.deepEqual(command({ terminal_info: { terminal_id: 'c' } })?.command, {});
    for (const name of ['terminal_output', 'terminal_output_delta'])
      assert.deepEqual(command({ [name]: { terminal_id: 'c', data: 'x' } })?.command, { output: 'x' });
    const ended = command({ terminal_exit: { exit_code: 2, signal: null } });
    assert.deepEqual(ended?.command, { exit: { exitCode: 2, signal: null } });
    assert.equal(ended.exitCode, 2);
    const unknown = command({ terminal_exit: { exit_code: null } });
    assert.deepEqual(unknown?.command, { exit: { exitCode: null, signal: null } });
    assert.equal(unknown.exitCode, undefined);
    assert.equal(command({ terminal_output: 'nonsense' })?.command, undefined);
  });

  it('reads sub-agents', () => {
    const child = (more: Record<string, unknown>) =>
      parseUpdate({ sessionUpdate: 'subagent_update', sessionId: 's', ...more });
    const told = (more: Record<string, unknown>) => ({
      type: 'subagent',
      child: { agentSessionId: 's', ...more },
    });
    assert.deepEqual(child({}), told({}));
    assert.deepEqual(
      child({ title: 'A', capabilities: { cancel: {} } }),
      told({ title: 'A', canCancel: true }),
    );
    assert.deepEqual(child({ capabilities: { cancel: null } }), told({ canCancel: false }));
    assert.deepEqual(child({ capabilities: null }), told({ canCancel: false }));
    assert.deepEqual(child({ state: { state: 'running' } }), told({ isWorking: true }));
    for (const state of [{ state: 'idle' }, { state: 'unknown' }, null])
      assert.deepEqual(child({ state }), told({ isWorking: false }));
    assert.equal(parseUpdate({ sessionUpdate: 'subagent_update' }).type, 'unknown');
  });

  it('takes malformed fields as not told instead of refusing the update', () => {
    assert.deepEqual(
      parseUpdate({ sessionUpdate: 'tool_call', toolCallId: 'c', kind: 'juggle', status: 7, locations: 'x' }),
      { type: 'tool', patch: { callId: 'c' } },
    );
    assert.deepEqual(
      parseUpdate({
        sessionUpdate: 'plan',
        entries: [{ content: 'a', priority: 'urgent', status: 'paused' }],
      }),
      { type: 'plan', items: [{ content: 'a', status: 'pending' }] },
    );
  });

  it('tells what it does not know by name, and never throws', () => {
    assert.deepEqual(parseUpdate({ sessionUpdate: '_hologram' }), { type: 'unknown', name: '_hologram' });
    assert.deepEqual(parseUpdate({ sessionUpdate: 'plan' }), { type: 'unknown', name: 'plan' });
    for (const value of [undefined, null, 3, 'x', [], { sessionUpdate: 5 }])
      assert.deepEqual(parseUpdate(value), { type: 'unknown', name: '' });
    assert.deepEqual(parseUpdate({ sessionUpdate: 'constructor' }), { type: 'unknown', name: 'constructor' });
  });

  it('tells a cleared title from none', () => {
    assert.deepEqual(parseUpdate({ sessionUpdate: 'session_info_update', title: null }), {
      type: 'info',
      title: null,
    });
    assert.deepEqual(parseUpdate({ sessionUpdate: 'session_info_update' }), { type: 'info' });
  });
});
