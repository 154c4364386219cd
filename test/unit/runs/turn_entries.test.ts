import assert from 'node:assert/strict';
import type { EntryDraft } from '../../../src/service/sessions/transcript.js';
import { textOf } from '../../../src/service/agents/content.js';
import { parseUpdate } from '../../../src/service/agents/updates.js';
import { TurnEntries } from '../../../src/service/runs/turn_entries.js';

const user = (text: string): EntryDraft => ({
  id: 'prompt',
  kind: 'user',
  at: '2026-11-01T00:00:00.000Z',
  content: [{ type: 'text', text }],
});

class Turn {
  readonly entries: TurnEntries;
  readonly all = new Map<string, EntryDraft>();
  constructor(first: EntryDraft = user('the prompt')) {
    this.entries = new TurnEntries(first);
  }
  say(...updates: Record<string, unknown>[]): this {
    for (const update of updates) this.entries.apply(parseUpdate(update), update);
    return this;
  }
  chunk(text: string, kind = 'agent_message_chunk', messageId?: string): this {
    return this.say({ sessionUpdate: kind, content: { type: 'text', text }, messageId });
  }
  take(): EntryDraft[] {
    const taken = this.entries.take();
    for (const entry of taken) this.all.set(entry.id, entry);
    return taken;
  }
  texts(): string[] {
    this.take();
    return [...this.all.values()].map((entry) => `${entry.kind}: ${textOf(entry.content)}`);
  }
}

describe('entries of a turn', () => {
  it('coalesces chunks into one entry and only tells what changed', () => {
    const turn = new Turn().chunk('a').chunk('b');
    const [first] = turn.take();
    assert.equal(first?.status, 'in_progress');
    assert.deepEqual(turn.take(), []);
    turn.chunk('c');
    const [again] = turn.take();
    assert.equal(again?.id, first.id);
    assert.equal(textOf(again.content), 'abc');
    turn.entries.finish('completed');
    assert.equal(turn.take()[0]?.status, 'completed');
  });

  it('splits messages by role, by messageId and by what comes between', () => {
    const turn = new Turn()
      .chunk('think', 'agent_thought_chunk')
      .chunk('one ', undefined, 'm1')
      .chunk('more', undefined, 'm1')
      .chunk('two', undefined, 'm2')
      .chunk('three')
      .say({ sessionUpdate: 'tool_call', toolCallId: 'c', title: 'T' })
      .chunk('four');
    assert.deepEqual(turn.texts(), [
      'thought: think',
      'assistant: one more',
      'assistant: two',
      'assistant: three',
      'tool: ',
      'assistant: four',
    ]);
  });

  it('goes on with a message whose id comes back after another one', () => {
    const turn = new Turn()
      .chunk('a', undefined, 'm1')
      .chunk('x', undefined, 'm2')
      .chunk('b', undefined, 'm1');
    assert.deepEqual(turn.texts(), ['assistant: ab', 'assistant: x']);
  });

  it('merges a tool call with its updates, in place', () => {
    const turn = new Turn().say(
      {
        sessionUpdate: 'tool_call',
        toolCallId: 'c',
        title: 'Read a\nsecond line',
        kind: 'read',
        rawInput: { p: 1 },
      },
      { sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'in_progress' },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 'c',
        status: 'completed',
        content: [{ type: 'content', content: { type: 'text', text: 'out' } }],
      },
    );
    const entries = turn.take();
    assert.equal(entries.length, 1);
    assert.equal(entries[0]?.tool?.title, 'Read a');
    assert.equal(entries[0].tool.kind, 'read');
    assert.deepEqual(entries[0].tool.input, { p: 1 });
    assert.deepEqual(entries[0].tool.output, [{ type: 'text', text: 'out' }]);
    assert.equal(entries[0].status, 'completed');
  });

  it('marks tool calls that are open at the end', () => {
    for (const [outcome, status] of [
      ['cancelled', 'cancelled'],
      ['completed', 'failed'],
      ['failed', 'failed'],
    ] as const) {
      const turn = new Turn().say({ sessionUpdate: 'tool_call', toolCallId: 'c', status: 'in_progress' });
      turn.entries.finish(outcome);
      const entry = turn.take()[0];
      assert.equal(entry?.status, status);
      assert.equal(entry.tool?.status, 'failed');
    }
  });

  it('replaces the plan in place', () => {
    const plan = (status: string) => ({ sessionUpdate: 'plan', entries: [{ content: 'a', status }] });
    const turn = new Turn().say(plan('pending')).chunk('x').say(plan('completed'));
    turn.take();
    assert.deepEqual(
      [...turn.all.values()].map(({ kind, plan: items }) => [kind, items?.[0]?.status]),
      [
        ['plan', 'completed'],
        ['assistant', undefined],
      ],
    );
  });

  it('drops an echo of what was typed and keeps other words of the person', () => {
    const echo = new Turn(user('say hello'))
      .chunk('say ', 'user_message_chunk')
      .chunk('hello', 'user_message_chunk');
    echo.entries.finish('completed');
    assert.deepEqual(echo.texts(), []);
    const other = new Turn(user('say hello')).chunk('something else', 'user_message_chunk').chunk('ok');
    assert.deepEqual(other.texts(), ['user: something else', 'assistant: ok']);
  });

  it('keeps unknown updates raw, and no more than a hundred of them', () => {
    const turn = new Turn();
    for (let i = 0; i < 150; i += 1) turn.say({ sessionUpdate: '_x', i });
    const entries = turn.take();
    assert.equal(entries.length, 100);
    assert.equal(entries[0]?.kind, 'raw');
    assert.match(textOf(entries[0].content), /"i":0/);
    assert.equal(turn.entries.unknownUpdates, 150);
  });

  it('goes on in a further entry when a message gets very long, and loses nothing', () => {
    const turn = new Turn();
    for (let i = 0; i < 30; i += 1) turn.chunk('x'.repeat(20_000));
    const entries = turn.take();
    assert.equal(entries.length, 3);
    assert.equal(entries.map(({ content }) => textOf(content)).join('').length, 600_000);
  });

  it('can update a recent call and any open one in a turn of thousands', () => {
    const turn = new Turn().say({ sessionUpdate: 'tool_call', toolCallId: 'open', status: 'in_progress' });
    for (let i = 0; i < 3000; i += 1) {
      turn.say({ sessionUpdate: 'tool_call', toolCallId: `c${String(i)}`, status: 'completed' });
      turn.take();
    }
    turn.say(
      { sessionUpdate: 'tool_call_update', toolCallId: 'open', status: 'completed' },
      { sessionUpdate: 'tool_call_update', toolCallId: 'c2999', title: 'last' },
    );
    turn.take();
    assert.equal(turn.all.size, 3001);
    assert.equal([...turn.all.values()][0]?.status, 'completed');
    assert.equal([...turn.all.values()].at(-1)?.tool?.title, 'last');
  });

  it('records a permission with its answer', () => {
    const turn = new Turn();
    const options = [{ optionId: 'y', name: 'Yes', kind: 'allow_once' as const }];
    const id = turn.entries.permission('Run it', options);
    assert.equal(turn.take()[0]?.status, 'in_progress');
    turn.entries.answered(id, 'y');
    const entry = turn.take()[0];
    assert.equal(entry?.status, 'completed');
    assert.deepEqual(entry.ask, { options: [{ id: 'y', name: 'Yes', kind: 'allow_once' }], answer: 'y' });
  });

  it('puts the summary into the compaction that the turn is', () => {
    const first: EntryDraft = { ...user(''), kind: 'compaction', status: 'in_progress', content: [] };
    const turn = new Turn(first)
      .chunk('summary')
      .say({ sessionUpdate: 'compaction_update', compactionId: 'k', status: 'completed' });
    turn.entries.finish('completed');
    turn.entries.compacted('completed', { tokensBefore: 9, tokensAfter: 1 });
    assert.deepEqual(turn.texts(), ['compaction: summary']);
    assert.deepEqual(turn.all.get('prompt')?.compaction, { tokensBefore: 9, tokensAfter: 1 });
    assert.equal(turn.all.get('prompt')?.status, 'completed');
  });

  it("shows the agent's own compaction as an entry", () => {
    const turn = new Turn().say(
      { sessionUpdate: 'compaction_update', compactionId: 'k', status: 'in_progress' },
      {
        sessionUpdate: 'compaction_summary_chunk',
        compactionId: 'k',
        content: { type: 'text', text: 'short' },
      },
      { sessionUpdate: 'compaction_update', compactionId: 'k', status: 'completed' },
    );
    const entries = turn.take();
    assert.equal(entries.length, 1);
    assert.equal(entries[0]?.kind, 'compaction');
    assert.equal(entries[0].status, 'completed');
    assert.equal(entries[0].compaction?.trigger, 'auto');
    assert.equal(textOf(entries[0].content), 'short');
  });
});
