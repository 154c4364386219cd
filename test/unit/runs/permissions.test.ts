import assert from 'node:assert/strict';
import type { PermissionParams } from '../../../src/protocol/acp.js';
import { PermissionDesk } from '../../../src/service/runs/permissions.js';
import { allow, TestClient, TestClients } from '../../support/test_client.js';

const params: PermissionParams = {
  sessionId: 's',
  toolCall: { toolCallId: 'c', title: 'Run' },
  options: [
    { optionId: 'y', name: 'Yes', kind: 'allow_once' },
    { optionId: 'n', name: 'No', kind: 'reject_once' },
  ],
};
const log = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };
const client = (id: string) =>
  new TestClient(id, { workspaces: [], allFolders: true, trusted: true, config: {} });

function open(mayAnswer: (id: string) => boolean = () => true) {
  const clients = new TestClients();
  const desk = new PermissionDesk(clients, ({ id }) => mayAnswer(id), log);
  return { clients, desk };
}
const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('permissions', () => {
  it('asks the owner alone', async () => {
    const { clients, desk } = open();
    const [owner, other] = [client('owner'), client('other')];
    clients.attach(owner);
    clients.attach(other);
    owner.answer = () => allow('y');
    const result = await desk.ask({ sessionId: 's', owner, params, signal: new AbortController().signal });
    assert.deepEqual(result, { outcome: { outcome: 'selected', optionId: 'y' } });
    assert.equal(other.asked.length, 0);
  });

  it('asks everybody who may when the owner cannot answer; the first answer withdraws the others', async () => {
    const { clients, desk } = open((id) => id !== 'stranger');
    const [owner, a, b, stranger] = [client('owner'), client('a'), client('b'), client('stranger')];
    for (const each of [owner, a, b, stranger]) clients.attach(each);
    owner.answer = () => Promise.reject(new Error('gone'));
    let answer: (() => void) | undefined;
    b.answer = () =>
      new Promise((resolve) => (answer = () => resolve({ outcome: { outcome: 'selected', optionId: 'n' } })));
    const asked = desk.ask({ sessionId: 's', owner, params, signal: new AbortController().signal });
    await tick();
    assert.equal(a.asked.length, 1);
    assert.equal(stranger.asked.length, 0);
    assert.equal(owner.asked.length, 1);
    answer?.();
    assert.deepEqual(await asked, { outcome: { outcome: 'selected', optionId: 'n' } });
    assert.equal(a.asked[0]?.signal.aborted, true);
  });

  it('waits while nobody is there and asks who attaches', async () => {
    const { clients, desk } = open();
    const owner = client('owner');
    owner.connected = false;
    let done = false;
    const asked = desk
      .ask({ sessionId: 's', owner, params, signal: new AbortController().signal })
      .finally(() => (done = true));
    await tick();
    assert.equal(done, false);
    const late = client('late');
    late.answer = () => allow('y');
    clients.attach(late);
    assert.deepEqual(await asked, { outcome: { outcome: 'selected', optionId: 'y' } });
  });

  it('does not take an option that was not offered', async () => {
    const { clients, desk } = open();
    const [liar, honest] = [client('liar'), client('honest')];
    clients.attach(liar);
    clients.attach(honest);
    liar.answer = () => allow('root');
    honest.answer = () => allow('n');
    const result = await desk.ask({
      sessionId: 's',
      owner: liar,
      params,
      signal: new AbortController().signal,
    });
    assert.deepEqual(result, { outcome: { outcome: 'selected', optionId: 'n' } });
  });

  it('is cancelled by its signal and withdraws the question', async () => {
    const { clients, desk } = open();
    const owner = client('owner');
    clients.attach(owner);
    const controller = new AbortController();
    const asked = desk.ask({ sessionId: 's', owner, params, signal: controller.signal });
    controller.abort();
    assert.deepEqual(await asked, { outcome: { outcome: 'cancelled' } });
    assert.equal(owner.asked[0]?.signal.aborted, true);
  });
});
