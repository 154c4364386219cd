import assert from 'node:assert/strict';
import {
  type Deck,
  ClaudeFile,
  openDeck,
  removeFolders,
  temporaryFolder,
  TestClient,
  until,
} from './support.js';

const uuid = (n: number) => `bbbbbbbb-0000-4000-8000-${String(n).padStart(12, '0')}`;

describe('the first list of a service', () => {
  let deck: Deck | undefined;
  afterEach(async () => {
    await deck?.close();
    deck = undefined;
    removeFolders();
  });

  it('is what was known for an editor, which is told the rest, and complete for others', async () => {
    const home = temporaryFolder();
    const store = temporaryFolder();
    const write = (n: number) => {
      const file = new ClaudeFile(home, uuid(n), '/deck-first');
      file.write(file.turn(`prompt ${String(n)}`));
    };
    write(1);
    await (await openDeck(home, store)).close();
    write(2);
    const d = (deck = await openDeck(home, store, { waitForIndex: false }));
    const acp = d.clients.attach(new TestClient('acp', 'acp'));
    const ids = async (client: TestClient) =>
      (await d.sessions.list(client, {})).sessions.map(({ sessionId }) => sessionId).sort();
    const [known, complete] = await Promise.all([ids(d.client), ids(acp)]);
    assert.deepEqual(known, [uuid(1)]);
    assert.deepEqual(complete, [uuid(1), uuid(2)]);
    const told = JSON.stringify(
      await until(() => d.client.told.find(({ method }) => method === 'deck/sessions/changed')),
    );
    assert.ok(told.includes(uuid(2)));
  });

  it('of an empty store is complete for an editor too', async () => {
    const home = temporaryFolder();
    const file = new ClaudeFile(home, uuid(1), '/deck-first');
    file.write(file.turn('prompt'));
    const d = (deck = await openDeck(home, temporaryFolder(), { waitForIndex: false }));
    const { sessions } = await d.sessions.list(d.client, {});
    assert.deepEqual(
      sessions.map(({ sessionId }) => sessionId),
      [uuid(1)],
    );
  });
});
