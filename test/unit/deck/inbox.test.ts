import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PermissionOption } from '../../../src/protocol/acp.js';
import type { InboxItem, PermissionItem } from '../../../src/protocol/inbox.js';
import { allowOnce, inOrder, reject, shortList } from '../../../src/deck/inbox/choices.js';
import { NoticeGate } from '../../../src/deck/inbox/notice_gate.js';
import { Waiting } from '../../../src/deck/inbox/waiting.js';
import { headline, particulars } from '../../../src/deck/inbox/wording.js';

const option = (optionId: string, kind: PermissionOption['kind']): PermissionOption => ({
  optionId,
  kind,
  name: optionId,
});
const permission = (id: string, sessionId: string, at: string): PermissionItem => ({
  id,
  sessionId,
  at,
  runId: 'r',
  kind: 'permission',
  entryId: 'e',
  title: 'Run the tests',
  tool: { kind: 'execute', command: 'npm test', locations: [], diffs: [] },
  options: [option('yes', 'allow_once'), option('no', 'reject_once')],
});
const failed = (id: string, sessionId: string, at: string): InboxItem => ({
  id,
  sessionId,
  at,
  runId: 'r',
  kind: 'failed',
  message: 'No key',
});

describe('what waits', () => {
  const items = [
    failed('f', 'c', '2026-11-01T09:00:00Z'),
    permission('late', 'b', '2026-11-01T11:00:00Z'),
    permission('early', 'a', '2026-11-01T10:00:00Z'),
  ];

  it('is ordered by kind, then by age, oldest first', () => {
    const waiting = new Waiting();
    waiting.reset(items);
    assert.deepEqual(
      waiting.all.map(({ id }) => id),
      ['early', 'late', 'f'],
    );
  });

  it('tells what is new, and forgets what was answered', () => {
    const waiting = new Waiting();
    waiting.reset(items);
    const fresh = permission('fresh', 'a', '2026-11-01T12:00:00Z');
    const known = permission('late', 'b', '2026-11-01T11:00:00Z');
    const change = { upserted: [fresh, known], removed: [{ id: 'early', reason: 'answered' as const }] };
    assert.deepEqual(waiting.apply(change), [fresh]);
    assert.equal(waiting.get('early'), undefined);
    assert.equal(waiting.all.length, 3);
  });

  it('leads from one waiting session to the next, going round', () => {
    const waiting = new Waiting();
    assert.equal(waiting.sessionAfter('a'), undefined);
    waiting.reset([...items, permission('again', 'a', '2026-11-01T13:00:00Z')]);
    assert.deepEqual(
      [undefined, 'a', 'b', 'c', 'elsewhere'].map((id) => waiting.sessionAfter(id)),
      ['a', 'b', 'c', 'a', 'a'],
    );
  });
});

describe('the choices of a permission', () => {
  const all = [
    option('never', 'reject_always'),
    option('always', 'allow_always'),
    option('no', 'reject_once'),
    option('always here', 'allow_always'),
    option('yes', 'allow_once'),
  ];

  it('begin with the narrowest yes', () => {
    assert.deepEqual(
      inOrder(all).map(({ optionId }) => optionId),
      ['yes', 'always', 'always here', 'no', 'never'],
    );
  });

  it('keep a yes and a no where there is room for few', () => {
    assert.deepEqual(
      shortList(all, 3).map(({ optionId }) => optionId),
      ['yes', 'always', 'no'],
    );
    assert.deepEqual(
      shortList(all, 2).map(({ optionId }) => optionId),
      ['yes', 'no'],
    );
    const refusals = [option('never', 'reject_always'), option('no', 'reject_once')];
    assert.deepEqual(
      shortList(refusals, 3).map(({ optionId }) => optionId),
      ['no', 'never'],
    );
  });

  it('never take an “always” for a “once”', () => {
    assert.equal(allowOnce([option('always', 'allow_always')]), undefined);
    assert.equal(reject(all)?.optionId, 'no');
    assert.equal(reject([option('never', 'reject_always')])?.optionId, 'never');
  });
});

describe('the wording of an item', () => {
  const item = permission('p', 's', '2026-11-01T10:00:00Z');

  it('says the title, then the command and each path once', () => {
    const full = {
      ...item,
      tool: {
        ...item.tool,
        locations: [{ path: '/a.ts', line: 3 }, { path: '/b.ts' }],
        diffs: [
          { path: '/b.ts', oldText: '', newText: 'x' },
          { path: '/c.ts', oldText: null, newText: 'y' },
        ],
      },
    };
    assert.equal(headline(full), 'Run the tests');
    assert.deepEqual(particulars(full), ['npm test', '/a.ts:3', '/b.ts', '/c.ts']);
  });

  it('falls back to the command, and does not say it twice', () => {
    const bare = { ...item, title: '\u202e \n' };
    assert.equal(headline(bare), 'npm test');
    assert.deepEqual(particulars(bare), []);
    assert.deepEqual(particulars({ ...item, title: 'Run npm test' }), []);
  });
});

describe('the gate of the notifications', () => {
  it('gathers what comes together and rests in between', async () => {
    const batches: (readonly number[])[] = [];
    const gate = new NoticeGate<number>((batch) => batches.push(batch), 20, 200);
    gate.add([1]);
    gate.add([2]);
    await sleep(80);
    assert.deepEqual(batches, [[1, 2]]);
    gate.add([3]);
    await sleep(40);
    gate.add([4]);
    assert.equal(batches.length, 1);
    await sleep(300);
    assert.deepEqual(batches, [
      [1, 2],
      [3, 4],
    ]);
    gate.add([5]);
    gate.dispose();
    await sleep(250);
    assert.equal(batches.length, 2);
  });
});
