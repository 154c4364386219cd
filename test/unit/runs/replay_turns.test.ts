import assert from 'node:assert/strict';
import { parseUpdate } from '../../../src/service/agents/updates.js';
import { ReplayTurns } from '../../../src/service/runs/replay_turns.js';
import type { ImportedTurn } from '../../../src/service/sessions/imported.js';

const AT = '2026-05-05T05:05:05.000Z';
const chunk = (role: 'user' | 'agent', text: string, messageId?: string) => ({
  sessionUpdate: `${role}_message_chunk`,
  content: { type: 'text', text },
  ...(messageId ? { messageId } : {}),
});

/** Each turn as its entries, "kind: text". */
function turnsOf(...updates: Record<string, unknown>[]): string[][] {
  const turns: ImportedTurn[] = [];
  const replay = new ReplayTurns(AT, (turn) => void turns.push(turn));
  for (const update of updates) replay.apply(parseUpdate(update), update);
  replay.end();
  replay.end();
  return turns.map(({ entries }) =>
    entries.map((entry) => {
      assert.equal(entry.at, AT);
      const text = entry.content.map((block) => ('text' in block ? block.text : block.type)).join('|');
      return `${entry.kind}: ${entry.tool ? `${entry.tool.name} ${entry.status ?? ''}` : text}`;
    }),
  );
}

describe('turns of a replay', () => {
  it('begin with each message of the person', () => {
    assert.deepEqual(
      turnsOf(
        chunk('user', 'one'),
        chunk('agent', 'answer '),
        chunk('agent', 'of one'),
        chunk('user', 'two'),
        chunk('agent', 'answer of two'),
      ),
      [
        ['user: one', 'assistant: answer of one'],
        ['user: two', 'assistant: answer of two'],
      ],
    );
  });

  it('keep the blocks of one message together and tell two messages apart by their ids', () => {
    const link = {
      sessionUpdate: 'user_message_chunk',
      content: { type: 'resource_link', uri: 'file:///a', name: 'a' },
    };
    assert.deepEqual(turnsOf(chunk('user', 'see '), chunk('user', 'this'), link, chunk('agent', 'seen')), [
      ['user: see this|resource_link', 'assistant: seen'],
    ]);
    assert.deepEqual(
      turnsOf(chunk('user', 'first', 'a'), chunk('user', 'second', 'b'), chunk('agent', 'x')),
      [['user: first'], ['user: second', 'assistant: x']],
    );
  });

  it('hold calls with their results, and what came before the first prompt', () => {
    const call = {
      sessionUpdate: 'tool_call',
      toolCallId: 't',
      title: 'Read',
      name: 'Read',
      status: 'pending',
    };
    const done = {
      sessionUpdate: 'tool_call_update',
      toolCallId: 't',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'text of the file' } }],
    };
    const commands = { sessionUpdate: 'available_commands_update', availableCommands: [] };
    const turns = turnsOf(chunk('agent', 'hello'), chunk('user', 'read'), commands, call, done, {
      ...call,
      toolCallId: 'u',
    });
    assert.deepEqual(turns, [
      ['assistant: hello'],
      ['user: read', 'tool: Read completed', 'tool: Read failed'],
    ]);
  });

  it('are none for a session without a word', () => {
    assert.deepEqual(turnsOf({ sessionUpdate: 'usage_update', used: 1, size: 2 }), []);
  });
});
