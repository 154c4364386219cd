/* eslint-disable @typescript-eslint/no-unnecessary-condition -- an assertion on a body narrows it for those after it */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { FoundFile } from '../../../src/service/sources/source.js';
import { CODEX_FILE, inFolder, never, outline, read, sourceOf, text } from './tools.js';

let clock = Date.parse('2026-09-20T10:00:00Z');
const T = () => new Date((clock += 1000)).toISOString();
const line = (type: string, payload: object, timestamp = T()) => ({ timestamp, type, payload });
const item = (payload: object) => line('response_item', payload);
const event = (payload: object) => line('event_msg', payload);
const meta = (more: object = {}) =>
  line('session_meta', { id: '0199a213-81c0-7800-8aa1-bbab2a035a01', cwd: '/w', ...more });
const typed = (message: string) => event({ type: 'user_message', message, images: [] });
const said = (role: string, words: string) =>
  item({
    type: 'message',
    role,
    content: [{ type: role === 'user' ? 'input_text' : 'output_text', text: words }],
  });
const started = () => event({ type: 'task_started', turn_id: 't' });
const complete = () => event({ type: 'task_complete', turn_id: 't' });
const tokens = (input: number, cached: number, output: number, last?: readonly [number, number, number]) => {
  const usage = (i: number, c: number, o: number) => ({
    input_tokens: i,
    cached_input_tokens: c,
    output_tokens: o,
  });
  const info = {
    total_token_usage: usage(input, cached, output),
    ...(last && { last_token_usage: usage(...last) }),
  };
  return event({ type: 'token_count', info });
};
const turn = (prompt: string, answer: string) => [
  started(),
  said('user', prompt),
  typed(prompt),
  event({ type: 'agent_message', message: answer }),
  said('assistant', answer),
  complete(),
];
const codex = (lines: readonly (object | string)[]) => read('codex', lines);

describe('Codex rollouts', () => {
  it('show each text once, though events and items tell it, and no injected context', async () => {
    const { scan } = await codex([
      meta(),
      said('developer', '<permissions instructions>…'),
      said('user', '# AGENTS.md instructions for /w\n<INSTRUCTIONS>…'),
      said('user', '<environment_context><cwd>/w</cwd></environment_context>'),
      ...turn('hello', 'ok'),
      started(),
      typed('again'),
      said('user', 'again'),
      event({ type: 'agent_reasoning', text: '**One**' }),
      event({ type: 'agent_reasoning', text: '**Two**' }),
      item({
        type: 'reasoning',
        summary: [
          { type: 'summary_text', text: '**One**' },
          { type: 'summary_text', text: '**Two**' },
        ],
        encrypted_content: 'gAAA',
      }),
      said('assistant', 'ok'),
      event({ type: 'agent_message', message: 'ok' }),
      complete(),
    ]);
    assert.deepEqual(outline(scan), [
      'user: hello',
      'assistant: ok |',
      'user: again',
      'thought: **One**',
      'thought: **Two**',
      'assistant: ok |',
    ]);
    assert.equal(scan.totals.messageCount, 4);
    assert.equal(scan.totals.preview, 'hello');
  });

  it('find prompts and thoughts where there are no events', async () => {
    const { scan, bodies } = await codex([
      meta(),
      said('user', '<environment_context>x</environment_context>'),
      said('user', 'hello'),
      item({
        type: 'reasoning',
        summary: [
          { type: 'summary_text', text: 'one' },
          { type: 'summary_text', text: 'two' },
        ],
      }),
      said('assistant', 'hi'),
    ]);
    assert.deepEqual(outline(scan), ['user: hello', 'thought: one', 'thought: two', 'assistant: hi |']);
    assert.deepEqual(
      bodies.map((body) => body.content),
      [
        [{ type: 'text', text: 'hello' }],
        [{ type: 'text', text: 'one' }],
        [{ type: 'text', text: 'two' }],
        [{ type: 'text', text: 'hi' }],
      ],
    );
  });

  it('read the oldest format, without envelopes', async () => {
    const { scan } = await codex([
      { id: '0199a213-81c0-7800-8aa1-bbab2a035a01', timestamp: '2025-06-01T10:00:00Z', instructions: null },
      { record_type: 'state' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] },
    ]);
    assert.deepEqual(outline(scan), ['user: hello', 'assistant: hi |']);
    assert.equal(scan.totals.skipped, 0);
  });

  it('read the newest format, where finished items tell the messages', async () => {
    const done = (it: object) => event({ type: 'item_completed', thread_id: 't', turn_id: 'u', item: it });
    const { scan, bodies } = await codex([
      meta({ history_mode: 'paginated' }),
      started(),
      said('user', 'hello'),
      done({ type: 'UserMessage', id: '1', content: [{ type: 'text', text: 'hello' }] }),
      said('assistant', 'hi'),
      done({ type: 'AgentMessage', id: '2', content: [{ type: 'Text', text: 'hi' }] }),
      done({ type: 'CommandExecution', id: '3', command: ['ls'] }),
      complete(),
    ]);
    assert.deepEqual(outline(scan), ['user: hello', 'assistant: hi |']);
    assert.deepEqual(bodies[0]?.content, [{ type: 'text', text: 'hello' }]);
  });

  it('pair calls with their results, show commands, patches and plans', async () => {
    const patch =
      '*** Begin Patch\n*** Update File: src/a.ts\n@@\n ctx\n-old\n+new\n*** Add File: b.md\n+hello\n*** End Patch';
    const { scan, bodies } = await codex([
      meta(),
      ...turn('hello', 'starting').slice(0, -1),
      item({
        type: 'function_call',
        name: 'shell',
        arguments: '{"command":["bash","-lc","npm test"]}',
        call_id: 'c1',
      }),
      item({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls -la"}', call_id: 'c2' }),
      item({
        type: 'function_call_output',
        call_id: 'c2',
        output: 'Chunk ID: 1\nWall time: 0.5 seconds\nProcess exited with code 0\nOutput:\na.txt',
      }),
      item({
        type: 'function_call_output',
        call_id: 'c1',
        output: '{"output":"boom","metadata":{"exit_code":1,"duration_seconds":2}}',
      }),
      item({ type: 'custom_tool_call', name: 'apply_patch', call_id: 'c3', input: patch }),
      item({
        type: 'custom_tool_call_output',
        call_id: 'c3',
        output: '{"output":"Success","metadata":{"exit_code":0}}',
      }),
      item({
        type: 'function_call',
        name: 'update_plan',
        arguments: '{"explanation":"why","plan":[{"step":"Write","status":"in_progress"}]}',
        call_id: 'c4',
      }),
      item({ type: 'function_call_output', call_id: 'c4', output: 'Plan updated' }),
      item({
        type: 'local_shell_call',
        call_id: 'c5',
        status: 'completed',
        action: { type: 'exec', command: ['git', 'status'] },
      }),
      item({ type: 'function_call_output', call_id: 'c5', output: { content: 'clean', success: true } }),
      item({ type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'wal mode' } }),
      item({ type: 'function_call', name: 'spawn_agent', arguments: '{"message":"look"}', call_id: 'c6' }),
      item({ type: 'function_call_output', call_id: 'c6', output: '{"agent_id":"0199-child"}' }),
      item({ type: 'function_call_output', call_id: 'gone', output: 'orphan' }),
      complete(),
    ]);
    const [, , test, list, edit, plan, status, search, spawn, orphan] = bodies;
    assert.deepEqual(
      [test?.tool?.title, test?.tool?.exitCode, test?.tool?.status, test?.tool?.durationMs],
      ['npm test', 1, 'failed', 2000],
    );
    assert.deepEqual(test?.tool?.output, [{ type: 'text', text: 'boom' }]);
    assert.deepEqual(
      [list?.tool?.title, list?.tool?.exitCode, list?.tool?.output],
      ['ls -la', 0, [{ type: 'text', text: 'a.txt' }]],
    );
    assert.deepEqual(edit?.tool?.diffs, [
      { path: 'src/a.ts', oldText: 'ctx\nold\n', newText: 'ctx\nnew\n' },
      { path: 'b.md', oldText: null, newText: 'hello\n' },
    ]);
    assert.deepEqual(plan?.plan, [{ content: 'Write', status: 'in_progress' }]);
    assert.equal(status?.tool?.title, 'git status');
    assert.deepEqual(status?.tool?.output, [{ type: 'text', text: 'clean' }]);
    assert.equal(search?.tool?.title, 'web_search wal mode');
    assert.equal(search?.tool?.status, 'completed');
    assert.equal(spawn?.tool?.childSessionId, '0199-child');
    assert.deepEqual(orphan?.tool?.output, [{ type: 'text', text: 'orphan' }]);
    assert.deepEqual(scan.turns[0]?.files, ['src/a.ts', 'b.md']);
    assert.equal(scan.turns[0]?.tools, 7);
  });

  it('prefer what a finished patch reports', async () => {
    const { bodies } = await codex([
      meta(),
      ...turn('hello', 'x').slice(0, -1),
      item({ type: 'custom_tool_call', name: 'apply_patch', call_id: 'c1', input: 'garbled' }),
      event({
        type: 'patch_apply_end',
        call_id: 'c1',
        success: true,
        changes: { '/w/a': { update: { unified_diff: '@@ -1 +1 @@\n-a\n+b\n', move_path: null } } },
      }),
      item({ type: 'custom_tool_call_output', call_id: 'c1', output: 'done' }),
    ]);
    assert.deepEqual(bodies[2]?.tool?.diffs, [{ path: '/w/a', oldText: 'a\n', newText: 'b\n' }]);
    assert.equal(bodies[2]?.tool?.status, 'completed');
  });

  it('count each response once, the cached part apart', async () => {
    const { scan } = await codex([
      meta(),
      line('turn_context', { model: 'gpt-5.1-codex' }),
      ...turn('hello', 'one').slice(0, -1),
      tokens(100, 40, 10, [100, 40, 10]),
      tokens(100, 40, 10, [100, 40, 10]),
      tokens(300, 200, 30, [200, 160, 20]),
      event({ type: 'token_count', info: null }),
      tokens(350, 210, 35),
      complete(),
    ]);
    assert.deepEqual(scan.totals.usage, { input: 140, cacheRead: 210, output: 35, reasoning: 0 });
    assert.equal(scan.usage.length, 3);
    assert.equal(new Set(scan.usage.map((record) => record.messageId)).size, 3);
    assert.equal(scan.usage[0]?.model, 'gpt-5.1-codex');
    assert.deepEqual(scan.turns[0]?.usage, scan.totals.usage);
  });

  it('show a compaction once, whatever tells it, without its copies of the history', async () => {
    const { scan, bodies } = await codex([
      meta(),
      ...turn('hello', 'one'),
      line('compacted', { message: 'The summary', replacement_history: [said('user', 'hello')] }),
      event({ type: 'context_compacted' }),
      ...turn('next', 'two'),
      event({ type: 'context_compacted' }),
      line('compacted', { message: 'Second summary' }),
    ]);
    assert.deepEqual(outline(scan), [
      'user: hello',
      'assistant: one',
      'compaction: Conversation compacted |',
      'user: next',
      'assistant: two',
      'compaction: Conversation compacted |',
    ]);
    assert.deepEqual(bodies[2]?.content, [{ type: 'text', text: 'The summary' }]);
    assert.deepEqual(bodies[5]?.content, [{ type: 'text', text: 'Second summary' }]);
  });

  it('forget turns that were rolled back', async () => {
    const { scan } = await codex([
      meta(),
      ...turn('one', 'a'),
      ...turn('two', 'b'),
      ...turn('three', 'c'),
      event({ type: 'thread_rolled_back', num_turns: 2 }),
      ...turn('four', 'd'),
    ]);
    assert.deepEqual(outline(scan), ['user: one', 'assistant: a |', 'user: four', 'assistant: d |']);
    assert.equal(scan.totals.offBranch, 4);
    assert.equal(scan.totals.messageCount, 4);
    assert.deepEqual(
      scan.turns.map((one) => one.prompt),
      ['one', 'four'],
    );
  });

  it('end an aborted turn as cancelled', async () => {
    const { scan } = await codex([
      meta(),
      started(),
      typed('go'),
      event({ type: 'turn_aborted', reason: 'interrupted' }),
    ]);
    assert.deepEqual(outline(scan), ['user: go', 'notice: Interrupted |']);
    assert.equal(scan.turns[0]?.status, 'cancelled');
  });

  it('take a prompt inside a task for an interjection', async () => {
    const { scan, bodies } = await codex([
      meta(),
      ...turn('go', 'working').slice(0, -1),
      said('user', 'hurry'),
      typed('hurry'),
      said('assistant', 'done'),
      complete(),
      ...turn('next', 'x'),
    ]);
    assert.deepEqual(outline(scan), [
      'user: go',
      'assistant: working',
      'user: hurry',
      'assistant: done |',
      'user: next',
      'assistant: x |',
    ]);
    assert.deepEqual(
      bodies.map((body) => body.interjection),
      [undefined, undefined, true, undefined, undefined, undefined],
    );
    assert.equal(scan.turns.length, 2);
  });

  it('strip what an editor puts before a prompt and show images', async () => {
    const { scan, bodies } = await codex([
      meta(),
      started(),
      event({
        type: 'user_message',
        message:
          '# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n## My request for Codex:\nFix it\n',
        images: ['data:image/png;base64,QUJD'],
        local_images: ['/tmp/x.png'],
      }),
    ]);
    assert.deepEqual(outline(scan), ['user: Fix it |']);
    assert.deepEqual(bodies[0]?.content, [
      { type: 'text', text: 'Fix it' },
      { type: 'image', mimeType: 'image/png', data: 'QUJD', bytes: 3 },
      { type: 'resource_link', uri: 'file:///tmp/x.png' },
    ]);
  });

  it('do not count the tokens of the source that a fork replays', async () => {
    const at = '2026-09-20T12:00:00.000Z';
    const later = '2026-09-20T12:01:00.000Z';
    const count = (n: number, time: string) => ({ ...tokens(n, 0, n, [n, 0, n]), timestamp: time });
    const { scan } = await codex([
      { ...meta({ forked_from_id: 'source' }), timestamp: at },
      { ...meta({ id: 'source' }), timestamp: at },
      ...turn('copied', 'answer').map((one) => ({ ...one, timestamp: at })),
      count(100, at),
      ...turn('new', 'answer 2').map((one) => ({ ...one, timestamp: later })),
      count(150, later),
    ]);
    assert.equal(scan.totals.usage?.input, 150);
    assert.equal(scan.usage.length, 1);
    assert.equal(scan.turns.length, 2);
  });
});

describe('Heads of Codex rollouts', () => {
  const headOf = (lines: readonly (object | string)[], place = 'sessions/2026/09/20', names = '') =>
    inFolder(async (dir) => {
      const folder = path.join(dir, '.codex', place);
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, CODEX_FILE), text(lines));
      if (names) await writeFile(path.join(dir, '.codex', 'session_index.jsonl'), names);
      const source = sourceOf('codex', dir);
      const files: FoundFile[] = [];
      for await (const batch of source.discover(never)) files.push(...batch.found);
      assert.equal(files.length, 1);
      return source.head(files[0]!);
    });

  it('tell cwd, title, times and model', async () => {
    const head = await headOf([
      meta({ timestamp: '2026-09-20T09:00:00Z', base_instructions: { text: 'x'.repeat(60_000) } }),
      line('turn_context', { model: 'gpt-5.1-codex' }),
      said('user', '<environment_context>'),
      ...turn('Fix the bug', 'ok'),
    ]);
    assert.equal(head.cwd, '/w');
    assert.deepEqual(head.title, { text: 'Fix the bug', by: 'prompt' });
    assert.equal(head.createdAt, Date.parse('2026-09-20T09:00:00Z'));
    assert.equal(head.model, 'gpt-5.1-codex');
    assert.equal(head.headless, false);
    assert.equal(head.archived, false);
    assert.equal(head.empty, false);
  });

  it('tell forks by the second meta data, sub-agents, programs, archived and empty ones', async () => {
    const fork = await headOf([
      meta(),
      line('session_meta', { id: 'source', cwd: '/other' }),
      ...turn('a', 'b'),
    ]);
    assert.deepEqual(fork.parent, { sessionId: 'source', relation: 'fork' });
    assert.equal(fork.cwd, '/w');
    const agent = await headOf([
      meta({ source: { subagent: { thread_spawn: { parent_thread_id: 'boss', depth: 1 } } } }),
      ...turn('a', 'b'),
    ]);
    assert.deepEqual(agent.parent, { sessionId: 'boss', relation: 'subagent' });
    const other = await headOf([
      meta({ thread_source: 'subagent', parent_thread_id: 'boss' }),
      ...turn('a', 'b'),
    ]);
    assert.deepEqual(other.parent, { sessionId: 'boss', relation: 'subagent' });
    assert.equal((await headOf([meta({ source: 'exec' }), ...turn('a', 'b')])).headless, true);
    assert.equal((await headOf([meta(), ...turn('a', 'b')], 'archived_sessions')).archived, true);
    assert.equal((await headOf([meta(), said('user', '<environment_context>')])).empty, true);
  });

  it('use the name that was given', async () => {
    const names = text([
      { id: '0199a213-81c0-7800-8aa1-bbab2a035a01', thread_name: 'Old', updated_at: '' },
      { id: '0199a213-81c0-7800-8aa1-bbab2a035a01', thread_name: 'New name', updated_at: '' },
    ]);
    const head = await headOf([meta(), ...turn('a', 'b')], 'sessions/2026/09/20', names);
    assert.deepEqual(head.title, { text: 'New name', by: 'agent' });
  });
});
