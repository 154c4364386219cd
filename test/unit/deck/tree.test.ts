import assert from 'node:assert/strict';
import { dayClass, groupRows } from '../../../src/deck/tree/grouping.js';
import { RowList } from '../../../src/deck/tree/row_list.js';
import type { SessionRow } from '../../../src/protocol/session.js';

const NOW = new Date(2026, 10, 20, 12, 0, 0);
const at = (hoursAgo: number) => new Date(NOW.getTime() - hoursAgo * 3_600_000).toISOString();
const row = (sessionId: string, hoursAgo: number, more: Partial<SessionRow> = {}): SessionRow => ({
  sessionId,
  cwd: '/repo',
  updatedAt: at(hoursAgo),
  createdAt: at(hoursAgo),
  kind: 'build',
  headless: false,
  state: 'idle',
  archived: false,
  source: 'claude-code',
  hasErrors: false,
  childCount: 0,
  ...more,
});
const shape = (groups: ReturnType<typeof groupRows>) =>
  groups.map(({ key, rows }) => [key, ...rows.map(({ sessionId }) => sessionId)]);

describe('the groups of the tree', () => {
  const rows = [
    row('a', 1, { cwd: '/two' }),
    row('b', 2, { state: 'running' }),
    row('c', 20, { source: 'codex' }),
    row('d', 30, { state: 'needs_input' }),
    row('e', 24 * 60, { agent: 'gemini', cwd: '/two' }),
  ];

  it('hold what waits, then what runs, before all others', () => {
    assert.deepEqual(shape(groupRows(rows, 'folder', NOW))[0], ['active', 'd', 'b']);
  });

  it('are folders, the one with the newest session first', () => {
    assert.deepEqual(shape(groupRows(rows, 'folder', NOW)).slice(1), [
      ['folder:/two', 'a', 'e'],
      ['folder:/repo', 'c'],
    ]);
  });

  it('are days', () => {
    assert.deepEqual(shape(groupRows(rows, 'date', NOW)).slice(1), [
      ['date:today', 'a'],
      ['date:yesterday', 'c'],
      ['date:older', 'e'],
    ]);
  });

  it('are agents, else the tools that left the sessions', () => {
    assert.deepEqual(shape(groupRows(rows, 'agent', NOW)).slice(1), [
      ['agent:claude-code', 'a'],
      ['agent:codex', 'c'],
      ['agent:gemini', 'e'],
    ]);
  });

  it('have no group for nothing', () => {
    assert.deepEqual(groupRows([], 'date', NOW), []);
  });

  it('change at midnight, a week and thirty days ago', () => {
    const of = (...date: [number, number, number, number, number, number]) =>
      dayClass(new Date(...date).toISOString(), NOW);
    assert.equal(of(2026, 10, 20, 0, 0, 0), 'today');
    assert.equal(of(2026, 10, 19, 23, 59, 59), 'yesterday');
    assert.equal(of(2026, 10, 18, 23, 59, 59), 'week');
    assert.equal(of(2026, 10, 13, 0, 0, 0), 'week');
    assert.equal(of(2026, 10, 12, 23, 59, 59), 'month');
    assert.equal(of(2026, 9, 21, 0, 0, 0), 'month');
    assert.equal(of(2026, 9, 20, 23, 59, 59), 'older');
  });
});

describe('the rows that are loaded', () => {
  const ids = (list: RowList) => list.all.map(({ sessionId }) => sessionId);

  it('stay newest first while pages come in and rows change', () => {
    const list = new RowList();
    list.reset([row('a', 1), row('b', 2)], true);
    list.addPage([row('c', 3), row('d', 4)], false);
    assert.deepEqual(ids(list), ['a', 'b', 'c', 'd']);
    list.apply([row('d', 0)], ['b']);
    assert.deepEqual(ids(list), ['d', 'a', 'c']);
  });

  it('leave a row to the page it belongs to', () => {
    const list = new RowList();
    list.reset([row('a', 1), row('b', 2)], true);
    list.apply([row('z', 9)], []);
    assert.deepEqual(ids(list), ['a', 'b']);
    list.addPage([row('z', 9)], false);
    assert.deepEqual(ids(list), ['a', 'b', 'z']);
  });

  it('show a session that waits for the person at once', () => {
    const list = new RowList();
    list.reset([row('a', 1)], true);
    list.apply([row('z', 9, { state: 'needs_input' })], []);
    assert.deepEqual(ids(list), ['a', 'z']);
  });

  it('take everything when no page is left', () => {
    const list = new RowList();
    list.reset([row('a', 1)], false);
    list.apply([row('z', 9)], []);
    assert.deepEqual(ids(list), ['a', 'z']);
  });

  it('keep what is known when a late page repeats it', () => {
    const list = new RowList();
    list.reset([row('a', 1, { title: 'new' })], true);
    list.addPage([row('a', 1, { title: 'old' })], false);
    assert.equal(list.get('a')?.title, 'new');
  });
});
