import assert from 'node:assert/strict';
import type { SessionTask } from '../../../src/protocol/tasks.js';
import { duration } from '../../../src/deck/format.js';
import { elapsed, lastLine, plainOutput, TaskList } from '../../../src/deck/tasks/task_list.js';

const task = (taskId: string, rest: Partial<SessionTask>): SessionTask => ({
  taskId,
  kind: 'command',
  title: taskId,
  status: 'running',
  startedAt: '2026-11-01T10:00:00Z',
  ...rest,
});

describe('the background tasks', () => {
  it('have what runs on top, then what ended last', () => {
    const list = new TaskList();
    const ended = (id: string, endedAt: string) => task(id, { status: 'completed', endedAt });
    list.reset([
      ended('ended early', '2026-11-01T10:05:00Z'),
      task('young', { startedAt: '2026-11-01T11:00:00Z' }),
      ended('ended late', '2026-11-01T11:30:00Z'),
      task('old', {}),
    ]);
    const ids = () => list.all.map(({ taskId }) => taskId);
    assert.deepEqual(ids(), ['old', 'young', 'ended late', 'ended early']);
    assert.equal(list.running, 2);
    list.apply({ upserted: [ended('old', '2026-11-01T12:00:00Z')], removed: ['ended early'] });
    assert.deepEqual(ids(), ['young', 'old', 'ended late']);
  });

  it('show the last line that says something, as plain text', () => {
    assert.equal(lastLine(task('t', { outputTail: 'one\ntwo\u001b[0m \n \n' })), 'two');
    assert.equal(lastLine(task('t', {})), '');
    assert.equal(plainOutput('\u001b]0;title\u0007\u001b[32mok\u001b[0m\r\nnext\u0007'), 'ok\nnext');
  });

  it('count their time until they end', () => {
    const now = Date.parse('2026-11-01T10:00:07Z');
    assert.equal(elapsed(task('t', {}), now), 7_000);
    assert.equal(elapsed(task('t', { endedAt: '2026-11-01T10:00:02Z' }), now), 2_000);
    assert.equal(elapsed(task('t', { startedAt: '2026-11-01T10:00:09Z' }), now), 0);
    assert.deepEqual(
      [900, 59_999, 60_000, 3_600_000, 7_500_000].map((ms) => duration(ms, 'en')),
      ['0 sec', '59 sec', '1 min', '1 hr', '2 hr 5 min'],
    );
  });
});
