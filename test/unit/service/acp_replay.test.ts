import assert from 'node:assert/strict';
import type { Entry } from '../../../src/protocol/entry.js';
import { entryUpdates } from '../../../src/service/surfaces/acp_replay.js';

const plain = { compaction: false, notices: false, booleanOptions: false };
const entry = (changes: Partial<Entry>): Entry => ({
  id: 'e1',
  ordinal: 0,
  turnId: 't1',
  turn: 1,
  kind: 'assistant',
  at: '2026-01-01T00:00:00Z',
  content: [],
  boundary: false,
  replay: false,
  ...changes,
});
const noImage = () => Promise.resolve(undefined);

describe('replay to ACP', () => {
  it('gives the chunks of a message its id, block by block', async () => {
    const content: Entry['content'] = [
      { type: 'text', text: 'a' },
      { type: 'resource', uri: 'file:///x', text: 'body' },
      { type: 'raw', text: '{"odd":1}' },
    ];
    for (const [kind, chunk] of [
      ['user', 'user_message_chunk'],
      ['assistant', 'agent_message_chunk'],
      ['thought', 'agent_thought_chunk'],
    ] as const) {
      assert.deepEqual(await entryUpdates(entry({ kind, content }), plain, noImage), [
        { sessionUpdate: chunk, messageId: 'e1', content: { type: 'text', text: 'a' } },
        {
          sessionUpdate: chunk,
          messageId: 'e1',
          content: { type: 'resource', resource: { uri: 'file:///x', text: 'body' } },
        },
        { sessionUpdate: chunk, messageId: 'e1', content: { type: 'text', text: '{"odd":1}' } },
      ]);
    }
  });

  it('sends an image with its bytes, and names it when they cannot be had', async () => {
    const image = entry({ content: [{ type: 'image', mimeType: 'image/png', ref: 'r1' }] });
    const [shown] = await entryUpdates(image, plain, (ref) => Promise.resolve(`bytes of ${ref}`));
    assert.deepEqual(shown?.['content'], { type: 'image', mimeType: 'image/png', data: 'bytes of r1' });
    const [named] = await entryUpdates(image, plain, noImage);
    assert.deepEqual(named?.['content'], { type: 'text', text: '[image: image/png]' });
  });

  it('sends a tool call with its result and its diffs as one update', async () => {
    const tool: Entry['tool'] = {
      callId: 'c1',
      name: 'Edit',
      title: 'Edit a.ts',
      kind: 'edit',
      status: 'completed',
      input: { path: 'a.ts' },
      output: [{ type: 'text', text: 'done' }],
      diffs: [{ path: '/w/a.ts', oldText: null, newText: 'x' }],
    };
    assert.deepEqual(await entryUpdates(entry({ kind: 'tool', tool }), plain, noImage), [
      {
        sessionUpdate: 'tool_call',
        toolCallId: 'c1',
        title: 'Edit a.ts',
        name: 'Edit',
        kind: 'edit',
        status: 'completed',
        content: [
          { type: 'diff', path: '/w/a.ts', newText: 'x' },
          { type: 'content', content: { type: 'text', text: 'done' } },
        ],
        rawInput: { path: 'a.ts' },
      },
    ]);
  });

  it('marks a compaction in the way that the client announced', async () => {
    const compaction = entry({ kind: 'compaction', content: [{ type: 'text', text: 'summary' }] });
    assert.deepEqual(await entryUpdates(compaction, { ...plain, compaction: true }, noImage), [
      {
        sessionUpdate: 'compaction_update',
        compactionId: 'e1',
        status: 'completed',
        summary: [{ type: 'text', text: 'summary' }],
      },
    ]);
    const updates = await entryUpdates(compaction, plain, noImage);
    assert.deepEqual(
      updates.map((update) => update['sessionUpdate']),
      ['agent_message_chunk', 'agent_message_chunk'],
    );
  });

  it('fills in what a plan must have, and leaves notices and answered permissions out', async () => {
    const plan: Entry['plan'] = [{ content: 'one', status: 'pending' }];
    assert.deepEqual(await entryUpdates(entry({ kind: 'plan', plan }), plain, noImage), [
      { sessionUpdate: 'plan', entries: [{ content: 'one', priority: 'medium', status: 'pending' }] },
    ]);
    for (const kind of ['notice', 'permission'] as const) {
      assert.deepEqual(await entryUpdates(entry({ kind }), plain, noImage), []);
    }
  });
});
