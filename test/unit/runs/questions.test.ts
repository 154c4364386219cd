import assert from 'node:assert/strict';
import { PermissionResult } from '../../../src/protocol/acp.js';
import { Audience } from '../../../src/service/runs/audience.js';
import { Questions, type Ending, type Question } from '../../../src/service/runs/questions.js';
import { allow, TestClient, TestClients } from '../../support/test_client.js';

const params = {
  sessionId: 's',
  toolCall: { toolCallId: 'c', title: 'Run' },
  options: [
    { optionId: 'y', name: 'Yes', kind: 'allow_once' as const },
    { optionId: 'n', name: 'No', kind: 'reject_once' as const },
  ],
};
const log = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };
const CANCELLED: PermissionResult = { outcome: { outcome: 'cancelled' } };
const tick = () => new Promise((resolve) => setImmediate(resolve));

/** A desk, its peers, and a question with the id `q`. */
class Desk {
  readonly clients = new TestClients();
  readonly audience = new Audience();
  readonly closed: Ending[] = [];
  readonly recorded: PermissionResult[] = [];
  recordFails = false;
  readonly controller = new AbortController();
  readonly questions = new Questions({
    clients: this.clients,
    audience: this.audience,
    sees: ({ id }) => id !== 'stranger',
    log,
  });

  constructor() {
    this.questions.listen({ opened: () => undefined, closed: (_item, ending) => this.closed.push(ending) });
  }

  peer(id: string, surface: 'editor' | 'acp' = 'acp', options: { trusted?: boolean; opened?: boolean } = {}) {
    const { trusted = true, opened = true } = options;
    const client = new TestClient(id, { workspaces: [], allFolders: true, trusted, config: {} }, surface);
    this.clients.attach(client);
    if (opened) this.audience.join(client, 's');
    return client;
  }

  ask(owner: TestClient): Promise<PermissionResult> {
    const question: Question<PermissionResult> = {
      item: {
        id: 'q',
        sessionId: 's',
        runId: 'r',
        entryId: 'e',
        at: new Date(0).toISOString(),
        kind: 'permission',
        title: 'Run',
        tool: { kind: 'other', locations: [], diffs: [] },
        options: params.options,
      },
      owner,
      request: { method: 'session/request_permission', params },
      isAble: ({ permission }) => permission,
      read: (given) => {
        const result = PermissionResult.parse(given);
        if (result.outcome.outcome === 'selected' && !['y', 'n'].includes(result.outcome.optionId))
          throw new Error('not offered');
        return result;
      },
      record: (answer) => {
        if (this.recordFails) throw new Error('the disk is full');
        this.recorded.push(answer);
      },
      refusal: CANCELLED,
      signal: this.controller.signal,
    };
    return this.questions.ask(question);
  }
}

describe('questions', () => {
  it('asks the ACP client that owns the turn, alone', async () => {
    const desk = new Desk();
    const [owner, other] = [desk.peer('owner'), desk.peer('other')];
    owner.answer = () => allow('y');
    assert.deepEqual(await desk.ask(owner), { outcome: { outcome: 'selected', optionId: 'y' } });
    assert.equal(other.asked.length, 0);
    assert.deepEqual(desk.closed, ['answered']);
    assert.equal(desk.recorded.length, 1);
  });

  it('asks nobody while a window that owns the turn can answer', async () => {
    const desk = new Desk();
    const [owner, acp] = [desk.peer('owner', 'editor'), desk.peer('acp')];
    const answer = desk.ask(owner);
    await tick();
    assert.equal(owner.asked.length + acp.asked.length, 0);
    assert.deepEqual(
      desk.questions.items().map(({ id }) => id),
      ['q'],
    );
    assert.equal(desk.questions.answer('q', { outcome: { outcome: 'selected', optionId: 'n' } }), true);
    assert.deepEqual(await answer, { outcome: { outcome: 'selected', optionId: 'n' } });
    assert.equal(desk.questions.answer('q', CANCELLED), false);
    assert.deepEqual(desk.questions.items(), []);
  });

  it('asks the others that opened the session when the owner cannot answer; the first withdraws the rest', async () => {
    const desk = new Desk();
    const [owner, a, b] = [desk.peer('owner'), desk.peer('a'), desk.peer('b')];
    const outside = [
      desk.peer('stranger'),
      desk.peer('not opened', 'acp', { opened: false }),
      desk.peer('restricted', 'acp', { trusted: false }),
    ];
    owner.answer = () => Promise.reject(new Error('no dialog'));
    let answer: ((result: PermissionResult) => void) | undefined;
    b.answer = () => new Promise((resolve) => (answer = resolve));
    const asked = desk.ask(owner);
    await tick();
    assert.deepEqual(
      [owner, a, b, ...outside].map((client) => client.asked.length),
      [1, 1, 1, 0, 0, 0],
    );
    answer?.({ outcome: { outcome: 'selected', optionId: 'n' } });
    assert.deepEqual(await asked, { outcome: { outcome: 'selected', optionId: 'n' } });
    assert.equal(a.asked[0]?.signal.aborted, true);
  });

  it('takes the answer of a window while the owner is asked, and takes the request back', async () => {
    const desk = new Desk();
    const owner = desk.peer('owner');
    const asked = desk.ask(owner);
    assert.equal(owner.asked[0]?.signal.aborted, false);
    desk.questions.answer('q', { outcome: { outcome: 'selected', optionId: 'y' } });
    assert.equal(owner.asked[0].signal.aborted, true);
    assert.deepEqual(await asked, { outcome: { outcome: 'selected', optionId: 'y' } });
  });

  for (const [what, prepare] of [
    [
      'has announced nothing',
      (owner: TestClient) => (owner.abilities = { ...owner.abilities, permission: false }),
    ],
    [
      'answers with an error',
      (owner: TestClient) => (owner.answer = () => Promise.reject(new Error('unknown'))),
    ],
    ['answers what was not offered', (owner: TestClient) => (owner.answer = () => allow('root'))],
  ] as const) {
    it(`refuses at once when the owner ${what} and nobody else may answer`, async () => {
      const desk = new Desk();
      const owner = desk.peer('owner');
      desk.peer('restricted', 'editor', { trusted: false });
      desk.peer('stranger', 'editor');
      prepare(owner);
      assert.deepEqual(await desk.ask(owner), CANCELLED);
      assert.deepEqual(desk.closed, ['withdrawn']);
    });
  }

  it('waits for a window when the owner cannot answer, and refuses once that has gone', async () => {
    const desk = new Desk();
    const owner = desk.peer('owner');
    const window = desk.peer('window', 'editor');
    owner.answer = () => Promise.reject(new Error('no dialog'));
    const asked = desk.ask(owner);
    await tick();
    assert.deepEqual(desk.closed, []);
    desk.clients.detach(window);
    assert.deepEqual(await asked, CANCELLED);
  });

  it('waits when the owner has gone, and asks who opens the session later', async () => {
    const desk = new Desk();
    const owner = desk.peer('owner');
    const asked = desk.ask(owner);
    desk.clients.detach(owner);
    await tick();
    assert.deepEqual(desk.closed, []);
    const late = desk.peer('late', 'acp', { opened: false });
    late.answer = () => allow('n');
    await tick();
    assert.equal(late.asked.length, 0);
    desk.audience.join(late, 's');
    assert.deepEqual(await asked, { outcome: { outcome: 'selected', optionId: 'n' } });
  });

  it('is refused by its signal, also when that was there first', async () => {
    const desk = new Desk();
    const owner = desk.peer('owner');
    const asked = desk.ask(owner);
    desk.controller.abort();
    assert.deepEqual(await asked, CANCELLED);
    assert.equal(owner.asked[0]?.signal.aborted, true);
    assert.deepEqual(await desk.ask(owner), CANCELLED);
    assert.equal(owner.asked.length, 1);
    assert.deepEqual(desk.recorded, [CANCELLED, CANCELLED]);
  });

  it('stays open when the answer of a window cannot be kept', async () => {
    const desk = new Desk();
    const owner = desk.peer('owner', 'editor');
    const asked = desk.ask(owner);
    desk.recordFails = true;
    const answer = { outcome: { outcome: 'selected', optionId: 'y' } };
    assert.throws(() => desk.questions.answer('q', answer), /disk is full/);
    assert.deepEqual(desk.closed, []);
    desk.recordFails = false;
    desk.questions.answer('q', answer);
    assert.deepEqual(await asked, answer);
  });
});
