import assert from 'node:assert/strict';
import type { SessionRow } from '../../../src/protocol/session.js';
import { agentKey, splitCommandLine } from '../../../src/deck/agents/command_line.js';
import { inFamilyOrder } from '../../../src/deck/family_order.js';

describe('a command line that a person types', () => {
  it('is split like a shell does, and nothing is expanded', () => {
    assert.deepEqual(splitCommandLine('  my-agent  --acp '), ['my-agent', '--acp']);
    assert.deepEqual(splitCommandLine(`"/opt/My Agent/run" --name='a "b"' ""`), [
      '/opt/My Agent/run',
      '--name=a "b"',
      '',
    ]);
    assert.deepEqual(splitCommandLine(String.raw`C:\tools\agent.exe a\ b $HOME *`), [
      String.raw`C:\tools\agent.exe`,
      'a b',
      '$HOME',
      '*',
    ]);
    assert.deepEqual(splitCommandLine(' '), []);
    assert.throws(() => splitCommandLine('run "this'), SyntaxError);
  });

  it('gives a key that is free', () => {
    assert.equal(agentKey('/opt/My Agent.exe', []), 'my-agent');
    assert.equal(agentKey(String.raw`C:\x\agent.CMD`, ['agent', 'agent-2']), 'agent-3');
    assert.equal(agentKey('///', []), 'agent');
  });
});

describe('a fork family', () => {
  const row = (sessionId: string, parent?: string): SessionRow => ({
    sessionId,
    cwd: '/w',
    updatedAt: '2026-11-01T10:00:00Z',
    createdAt: '2026-11-01T10:00:00Z',
    kind: 'build',
    headless: false,
    state: 'idle',
    archived: false,
    source: 'deck',
    hasErrors: false,
    childCount: 0,
    ...(parent === undefined ? {} : { parent: { sessionId: parent, relation: 'fork' as const } }),
  });
  const order = (rows: SessionRow[]) =>
    inFamilyOrder(rows).map(({ member, depth }) => `${'.'.repeat(depth)}${member.sessionId}`);

  it('is a tree, each fork below its parent', () => {
    const rows = [row('root'), row('a', 'root'), row('b', 'root'), row('a1', 'a')];
    assert.deepEqual(order(rows), ['root', '.a', '..a1', '.b']);
  });

  it('leaves nobody out: not without a parent in sight, not in a circle', () => {
    assert.deepEqual(order([row('x', 'hidden'), row('x1', 'x')]), ['x', '.x1']);
    assert.deepEqual(order([row('p', 'q'), row('q', 'p')]), ['p', '.q']);
  });
});
