/* eslint-disable @typescript-eslint/no-unnecessary-condition -- an assertion on a body narrows it for those after it */
import assert from 'node:assert/strict';
import { outline, read } from './tools.js';

let clock = Date.parse('2026-09-20T10:00:00Z');
const T = () => new Date((clock += 1000)).toISOString();

interface More {
  readonly [key: string]: unknown;
}
const user = (uuid: string, parentUuid: string | null, content: unknown, more: More = {}) => ({
  type: 'user',
  uuid,
  parentUuid,
  isSidechain: false,
  timestamp: T(),
  cwd: '/work/app',
  message: { role: 'user', content },
  ...more,
});
const assistant = (
  uuid: string,
  parentUuid: string | null,
  block: object,
  more: More = {},
  message: More = {},
) => ({
  type: 'assistant',
  uuid,
  parentUuid,
  isSidechain: false,
  timestamp: T(),
  requestId: `req-${uuid}`,
  message: {
    id: `msg-${uuid}`,
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [block],
    stop_reason: 'type' in block && block.type === 'tool_use' ? 'tool_use' : 'end_turn',
    usage: {
      input_tokens: 10,
      output_tokens: 5,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 7,
    },
    ...message,
  },
  ...more,
});
const say = (uuid: string, parent: string | null, text: string, more: More = {}, message: More = {}) =>
  assistant(uuid, parent, { type: 'text', text }, more, message);
const call = (
  uuid: string,
  parent: string | null,
  id: string,
  name: string,
  input: object,
  message: More = {},
) => assistant(uuid, parent, { type: 'tool_use', id, name, input }, {}, message);
const result = (
  uuid: string,
  parent: string | null,
  id: string,
  content: unknown,
  more: More = {},
  block: More = {},
) => user(uuid, parent, [{ type: 'tool_result', tool_use_id: id, content, ...block }], more);

const claude = (lines: readonly (object | string)[], name?: string) => read('claude-code', lines, name);

describe('Claude Code transcripts', () => {
  it('keep only the branch of the last record', async () => {
    const { scan } = await claude([
      user('u1', null, 'first'),
      say('a1', 'u1', 'one'),
      user('u2', 'a1', 'lost'),
      say('a2', 'u2', 'lost too'),
      user('u3', 'a1', 'second'),
      say('a3', 'u3', 'two'),
    ]);
    assert.deepEqual(outline(scan), ['user: first', 'assistant: one |', 'user: second', 'assistant: two |']);
    assert.equal(scan.totals.offBranch, 2);
    assert.equal(scan.totals.messageCount, 4);
    // The tokens of the lost answer were spent all the same.
    assert.equal(scan.usage.length, 3);
  });

  it('begin anew where a later prompt has no parent', async () => {
    const { scan } = await claude([
      user('u1', null, 'lost'),
      say('a1', 'u1', 'lost'),
      user('u2', null, 'rewritten first prompt'),
    ]);
    assert.deepEqual(outline(scan), ['user: rewritten first prompt |']);
  });

  it('keep parallel calls with their results and all records of one response', async () => {
    const one = { id: 'msg-1' };
    const { scan, bodies } = await claude([
      user('u1', null, 'go'),
      call('a1', 'u1', 't1', 'Read', { file_path: '/a' }, one),
      call('a2', 'a1', 't2', 'Read', { file_path: '/b' }, one),
      result('r1', 'a1', 't1', 'content of a'),
      result('r2', 'a2', 't2', 'content of b'),
      say('a3', 'r1', 'both read'),
      user('u2', 'a3', 'next'),
    ]);
    assert.deepEqual(outline(scan), [
      'user: go',
      'tool: Read /a',
      'tool: Read /b',
      'assistant: both read |',
      'user: next |',
    ]);
    assert.equal(scan.totals.offBranch, 0);
    assert.deepEqual(
      bodies.flatMap((body) => (body.tool ? [[body.tool.status, body.tool.output]] : [])),
      [
        ['completed', [{ type: 'text', text: 'content of a' }]],
        ['completed', [{ type: 'text', text: 'content of b' }]],
      ],
    );
    // One response, told by two records, is counted once.
    assert.deepEqual(scan.totals.usage, { input: 20, output: 10, cacheRead: 200, cacheWrite: 14 });
    assert.deepEqual(
      scan.usage.map((record) => record.messageId),
      ['msg-1', 'msg-a3'],
    );
  });

  it('survive parents that are missing, later, or their own', async () => {
    const { scan } = await claude([
      user('u1', 'nowhere', 'first'),
      say('a1', 'a1', 'own parent'),
      user('u2', 'a2', 'parent comes later'),
      say('a2', 'u2', 'a circle'),
      user('u3', 'phantom', 'third'),
    ]);
    assert.deepEqual(outline(scan), [
      'user: first',
      'assistant: own parent |',
      'user: parent comes later',
      'assistant: a circle |',
      'user: third |',
    ]);
  });

  it('take a record once though it is written twice', async () => {
    const first = user('u1', null, 'first');
    const answer = say('a1', 'u1', 'one');
    const { scan } = await claude([first, answer, first, answer]);
    assert.deepEqual(outline(scan), ['user: first', 'assistant: one |']);
    assert.equal(scan.totals.usage?.output, 5);
  });

  it('make a sub-agent of an inline side chain', async () => {
    const side = { isSidechain: true };
    const { scan } = await claude([
      user('u1', null, 'go'),
      call('a1', 'u1', 't1', 'Task', { description: 'Look around', prompt: 'look' }),
      user('s1', null, 'look', side),
      say('s2', 's1', 'looked', side),
      result('r1', 'a1', 't1', 'looked'),
      say('a2', 'r1', 'done'),
    ]);
    assert.deepEqual(outline(scan), ['user: go', 'tool: Task Look around', 'assistant: done |']);
    assert.equal(scan.children.length, 1);
    const [child] = scan.children;
    assert.deepEqual(outline(child!), ['user: look', 'assistant: looked |']);
    assert.equal(child!.head.parent?.relation, 'subagent');
    assert.equal(child!.head.cwd, '/work/app');
    assert.equal(scan.totals.usage?.output, 15);
    assert.equal(scan.totals.messageCount, 2);
  });

  it('read the file of a sub-agent, where all is on the side chain', async () => {
    const side = { isSidechain: true, agentId: 'abc' };
    const { scan } = await claude(
      [user('s1', null, 'look', side), say('s2', 's1', 'looked', side)],
      'agent-abc.jsonl',
    );
    assert.deepEqual(outline(scan), ['user: look', 'assistant: looked |']);
    assert.deepEqual(scan.children, []);
  });

  it('keep what was said before a compaction and show its summary in it', async () => {
    const { scan, bodies } = await claude([
      user('u1', null, 'first'),
      say('a1', 'u1', 'one'),
      {
        type: 'system',
        subtype: 'compact_boundary',
        uuid: 'c1',
        parentUuid: null,
        logicalParentUuid: 'a1',
        timestamp: T(),
        content: 'Conversation compacted',
        compactMetadata: { trigger: 'manual', preTokens: 1234 },
      },
      user('c2', 'c1', 'Summary of all', { isCompactSummary: true }),
      user('u2', 'c2', 'second'),
      say('a2', 'u2', 'two'),
    ]);
    assert.deepEqual(outline(scan), [
      'user: first',
      'assistant: one',
      'compaction: Conversation compacted (1,234 tokens before) |',
      'user: second',
      'assistant: two |',
    ]);
    assert.deepEqual(bodies[2], {
      kind: 'compaction',
      content: [{ type: 'text', text: 'Summary of all' }],
      compaction: { tokensBefore: 1234, trigger: 'user' },
    });
    assert.equal(scan.totals.preview, 'first');
  });

  it('go on behind a compaction that kept the newest messages', async () => {
    const { scan } = await claude([
      user('u1', null, 'first'),
      say('a1', 'u1', 'one'),
      {
        type: 'system',
        subtype: 'compact_boundary',
        uuid: 'c1',
        parentUuid: null,
        logicalParentUuid: 'u1',
        timestamp: T(),
        compactMetadata: { trigger: 'auto', preservedSegment: { headUuid: 'a1', tailUuid: 'a1' } },
      },
      user('c2', 'c1', 'Summary', { isCompactSummary: true }),
      user('u2', 'a1', 'second'),
    ]);
    assert.deepEqual(outline(scan), [
      'user: first',
      'assistant: one',
      'compaction: Conversation compacted |',
      'user: second |',
    ]);
  });

  it('show a prompt typed during a turn as an interjection of that turn', async () => {
    const { scan, bodies } = await claude([
      user('u1', null, 'go'),
      call('a1', 'u1', 't1', 'Bash', { command: 'sleep 1' }),
      {
        type: 'attachment',
        uuid: 'q1',
        parentUuid: 'a1',
        timestamp: T(),
        attachment: { type: 'queued_command', prompt: 'hurry up', commandMode: 'prompt' },
      },
      result('r1', 'a1', 't1', 'ok'),
      say('a2', 'r1', 'done'),
    ]);
    assert.deepEqual(outline(scan), ['user: go', 'tool: sleep 1', 'user: hurry up', 'assistant: done |']);
    assert.equal(bodies[2]?.interjection, true);
    assert.equal(scan.turns.length, 1);
    assert.equal(bodies[0]?.interjection, undefined);
  });

  it('do not take for a prompt what nobody typed', async () => {
    const { scan, bodies } = await claude([
      user(
        'm1',
        null,
        'Caveat: The messages below were generated by the user while running local commands.',
        {
          isMeta: true,
        },
      ),
      user('m2', 'm1', '<command-name>/clear</command-name>\n<command-args></command-args>'),
      user('m3', 'm2', '<local-command-stdout></local-command-stdout>'),
      user('m4', 'm3', [{ type: 'text', text: '<system-reminder>be good</system-reminder>' }]),
      user('u1', 'm4', [
        { type: 'text', text: '<ide_opened_file>a.ts</ide_opened_file>' },
        { type: 'text', text: '<attachments>- /foo.txt</attachments>' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' } },
        { type: 'text', text: 'real <system-reminder>no</system-reminder>prompt' },
      ]),
      say('a1', 'u1', 'answer'),
    ]);
    assert.deepEqual(outline(scan), ['notice: /clear |', 'user: real prompt', 'assistant: answer |']);
    assert.equal(scan.totals.preview, 'real prompt');
    assert.deepEqual(
      bodies[1]?.content.map((block) => block.type),
      ['image', 'raw', 'text'],
    );
    assert.equal(scan.totals.messageCount, 2);
  });

  it('open a turn with a command that the model answers', async () => {
    const { scan, bodies } = await claude([
      user(
        'u1',
        null,
        '<command-message>review</command-message><command-name>/review</command-name><command-args>42</command-args>',
      ),
      user('u2', 'u1', [{ type: 'text', text: 'Please review …' }], { isMeta: true }),
      say('a1', 'u2', 'looks good'),
    ]);
    assert.deepEqual(outline(scan), ['user: /review 42', 'assistant: looks good |']);
    assert.deepEqual(bodies[0]?.content, [{ type: 'text', text: '/review 42' }]);
    assert.equal(scan.totals.preview, undefined);
  });

  it('end a turn at an interrupt and mark calls that got no result', async () => {
    const { scan, bodies } = await claude([
      user('u1', null, 'go'),
      call('a1', 'u1', 't1', 'Bash', { command: 'sleep 100' }),
      user('i1', 'a1', [{ type: 'text', text: '[Request interrupted by user for tool use]' }]),
    ]);
    assert.deepEqual(outline(scan), [
      'user: go',
      'tool: sleep 100',
      'notice: [Request interrupted by user for tool use] |',
    ]);
    assert.equal(scan.turns[0]?.status, 'cancelled');
    assert.equal(scan.entries[1]?.status, 'cancelled');
    assert.equal(bodies[1]?.tool?.output, undefined);
    assert.equal(bodies[1]?.tool?.status, 'failed');
  });

  it('tell a running turn from one that was left', async () => {
    const now = new Date().toISOString();
    const lines = (timestamp: string) => [
      user('u1', null, 'go', { timestamp }),
      assistant(
        'a1',
        'u1',
        { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'make' } },
        { timestamp },
      ),
    ];
    const running = await claude(lines(now));
    assert.equal(running.scan.turns[0]?.status, 'running');
    assert.equal(running.scan.turns[0]?.boundaryEntryId, undefined);
    assert.equal(
      running.scan.entries.some((entry) => entry.boundary),
      false,
    );
    const left = await claude(lines('2026-01-01T00:00:00Z'));
    assert.equal(left.scan.turns[0]?.status, 'cancelled');
    assert.equal(left.scan.turns[0]?.boundaryEntryId, 'a1');
    assert.deepEqual(
      left.scan.entries.map((entry) => entry.boundary),
      [false, true],
    );
  });

  it('show API errors as notices', async () => {
    const { scan, bodies } = await claude([
      user('u1', null, 'go'),
      {
        type: 'system',
        subtype: 'api_error',
        uuid: 'e1',
        parentUuid: 'u1',
        timestamp: T(),
        level: 'error',
        error: { status: 529, error: { error: { message: 'Overloaded' } } },
      },
      say(
        'a1',
        'e1',
        'API Error: 500',
        { isApiErrorMessage: true },
        { model: '<synthetic>', usage: { input_tokens: 0 } },
      ),
      say('a2', 'a1', 'No response requested.', {}, { model: '<synthetic>' }),
    ]);
    assert.deepEqual(outline(scan), [
      'user: go',
      'notice: API error 529: Overloaded',
      'notice: API Error: 500 |',
    ]);
    assert.equal(scan.turns[0]?.status, 'failed');
    assert.equal(scan.totals.hasErrors, true);
    assert.equal(bodies[2]?.severity, 'error');
    assert.equal(scan.totals.model, undefined);
    assert.deepEqual(scan.usage, []);
  });

  it('show tools with diffs, exit codes, plans and sub-agents', async () => {
    const { scan, bodies } = await claude([
      user('u1', null, 'go'),
      call('a1', 'u1', 't1', 'Edit', { file_path: '/w/a.ts', old_string: 'a', new_string: 'b' }),
      result('r1', 'a1', 't1', 'updated', { toolUseResult: { filePath: '/w/a.ts' } }),
      call('a2', 'r1', 't2', 'Write', { file_path: '/w/new.ts', content: 'x\n' }),
      result('r2', 'a2', 't2', 'created', { toolUseResult: { type: 'create' } }),
      call('a3', 'r2', 't3', 'Bash', { command: 'npm test' }),
      result(
        'r3',
        'a3',
        't3',
        'Exit code 2\nboom',
        { toolUseResult: 'Error: Exit code 2\nboom' },
        { is_error: true },
      ),
      call('a4', 'r3', 't4', 'TodoWrite', {
        todos: [{ content: 'Write', status: 'in_progress', activeForm: 'Writing' }],
      }),
      result('r4', 'a4', 't4', 'ok'),
      call('a5', 'r4', 't5', 'Agent', { description: 'Search', prompt: 'find it' }),
      result('r5', 'a5', 't5', [{ type: 'text', text: 'found' }], {
        toolUseResult: { agentId: 'abc', totalDurationMs: 1200 },
      }),
      call('a6', 'r5', 't6', 'MultiEdit', {
        file_path: '/w/a.ts',
        edits: [
          { old_string: '1', new_string: '2' },
          { old_string: '3', new_string: '4' },
        ],
      }),
      result('r6', 'a6', 't6', [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
      ]),
    ]);
    const [, edit, write, bash, plan, agent, multi] = bodies;
    assert.deepEqual(edit?.tool?.diffs, [{ path: '/w/a.ts', oldText: 'a', newText: 'b' }]);
    assert.deepEqual(write?.tool?.diffs, [{ path: '/w/new.ts', oldText: null, newText: 'x\n' }]);
    assert.equal(bash?.tool?.exitCode, 2);
    assert.equal(bash?.tool?.status, 'failed');
    assert.equal(bash?.tool?.kind, 'execute');
    assert.deepEqual(plan?.plan, [{ content: 'Write', status: 'in_progress' }]);
    assert.equal(agent?.tool?.childSessionId, 'agent-abc');
    assert.equal(agent?.tool?.durationMs, 1200);
    assert.equal(multi?.tool?.diffs?.length, 2);
    assert.deepEqual(multi?.tool?.output, [{ type: 'image', mimeType: 'image/png', data: 'QUJD', bytes: 3 }]);
    assert.deepEqual(scan.turns[0]?.files, ['/w/a.ts', '/w/new.ts']);
    assert.equal(scan.turns[0]?.tools, 6);
  });

  it('show a result whose call is missing', async () => {
    const { scan, bodies } = await claude([user('u1', null, 'go'), result('r1', 'u1', 'gone', 'orphan')]);
    assert.deepEqual(outline(scan), ['user: go', 'tool: orphan |']);
    assert.deepEqual(bodies[1]?.tool?.output, [{ type: 'text', text: 'orphan' }]);
  });

  it('give further blocks of a record an id and a body of their own', async () => {
    const content = [
      { type: 'thinking', thinking: 'hmm' },
      { type: 'text', text: 'hello' },
      { type: 'hologram', data: 1 },
    ];
    const record = say('a1', 'u1', '', {}, { content });
    const { scan, bodies } = await claude([user('u1', null, 'go'), record]);
    assert.deepEqual(
      scan.entries.map((entry) => entry.id),
      ['u1', 'a1', 'a1:1', 'a1:2'],
    );
    assert.deepEqual(
      bodies.map((body) => body.kind),
      ['user', 'thought', 'assistant', 'assistant'],
    );
    assert.deepEqual(bodies[2]?.content, [{ type: 'text', text: 'hello' }]);
    assert.equal(bodies[3]?.content[0]?.type, 'raw');
  });

  it('take titles by the person before those by the agent, and no summary of another session', async () => {
    const base = [user('u1', null, 'go'), say('a1', 'u1', 'ok')];
    const foreign = await claude([
      { type: 'summary', summary: 'Another session', leafUuid: 'elsewhere' },
      ...base,
    ]);
    assert.deepEqual(foreign.scan.totals.title, { text: 'go', by: 'prompt' });
    const own = await claude([...base, { type: 'summary', summary: 'This session', leafUuid: 'a1' }]);
    assert.deepEqual(own.scan.totals.title, { text: 'This session', by: 'agent' });
    const named = await claude([
      ...base,
      { type: 'custom-title', customTitle: 'Mine' },
      { type: 'ai-title', aiTitle: 'Its' },
    ]);
    assert.deepEqual(named.scan.totals.title, { text: 'Mine', by: 'user' });
  });

  it('count torn lines, pass over unknown types', async () => {
    const answer = say('a1', 'u1', 'recovered');
    const { scan, bodies } = await claude([
      user('u1', null, 'go'),
      `{"parentUuid":"u1","type":"assist${JSON.stringify(answer)}`,
      { type: 'brand-new-thing', payload: 1 },
      '[1,2,3]',
      '',
      '\0\0\0\0',
    ]);
    assert.deepEqual(
      outline(scan).map((line) => line.slice(0, 20)),
      ['user: go', 'raw: {"parentUuid":"', 'assistant: recovered', 'raw: [1,2,3] |'],
    );
    assert.equal(scan.totals.skipped, 2);
    assert.deepEqual(bodies[1]?.content[0], {
      type: 'raw',
      text: '{"parentUuid":"u1","type":"assist',
      reason: 'This line is no complete record.',
    });
  });

  it('end a turn by its duration where the stop reason is missing', async () => {
    const { scan } = await claude([
      user('u1', null, 'go', { timestamp: new Date().toISOString() }),
      say('a1', 'u1', 'done', { timestamp: new Date().toISOString() }, { stop_reason: null }),
      {
        type: 'system',
        subtype: 'turn_duration',
        uuid: 'd1',
        parentUuid: 'a1',
        durationMs: 5,
        timestamp: new Date().toISOString(),
      },
    ]);
    assert.equal(scan.turns[0]?.status, 'completed');
    assert.equal(scan.turns[0]?.boundaryEntryId, 'a1');
  });
});
