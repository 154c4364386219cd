import assert from 'node:assert/strict';
import { v7 as uuid } from 'uuid';
import { PREFIX_FORK_SCHEMA } from '../../../src/protocol/aster.js';
import { FamilyResult } from '../../../src/protocol/deck.js';
import {
  ClaudeFile,
  type Deck,
  openDeck,
  removeFolders,
  temporaryFolder,
  TestClient,
  withCode,
} from './support.js';

const ROOT = 'aaaaaaaa-0000-4000-8000-000000000001';

describe('fork families', () => {
  let deck: Deck;
  let cwd: string;
  beforeEach(async () => {
    const home = temporaryFolder();
    cwd = temporaryFolder();
    const file = new ClaudeFile(home, ROOT, cwd);
    file.write(file.turn('prompt'));
    deck = await openDeck(home, temporaryFolder());
  });
  afterEach(async () => {
    await deck.close();
    removeFolders();
  });

  const forkOf = async (sessionId: string): Promise<string> => {
    const { turns, cut } = await deck.sessions.turns(deck.client, { sessionId });
    const target = uuid();
    await deck.sessions.fork(deck.client, {
      schema: PREFIX_FORK_SCHEMA,
      sessionId,
      operationId: uuid(),
      request: {
        boundary_entry_id: turns[0]?.boundaryEntryId ?? '',
        expected_cut: cut,
        target_session_id: target,
        expected_workspace: { cwd },
      },
    });
    return target;
  };
  const family = (sessionId: string, client = deck.client) => {
    const { rootId, members } = FamilyResult.parse(deck.sessions.family(client, { sessionId }));
    return { rootId, members: members.map((row) => row.sessionId) };
  };

  it('has the same members whoever of them is asked, parents first', async () => {
    assert.deepEqual(family(ROOT), { rootId: ROOT, members: [ROOT] });
    const first = await forkOf(ROOT);
    const second = await forkOf(ROOT);
    const ofFirst = await forkOf(first);
    const expected = { rootId: ROOT, members: [ROOT, first, ofFirst, second] };
    for (const id of expected.members) assert.deepEqual(family(id), expected);
  });

  it('holds together when a member is deleted', async () => {
    const first = await forkOf(ROOT);
    const ofFirst = await forkOf(first);
    await deck.sessions.delete(deck.client, { sessionId: first, cwd });
    assert.deepEqual(family(ROOT), { rootId: ROOT, members: [ROOT, ofFirst] });
    assert.deepEqual(family(ofFirst), { rootId: ROOT, members: [ROOT, ofFirst] });
    await deck.sessions.delete(deck.client, { sessionId: ROOT, cwd });
    assert.deepEqual(family(ofFirst), { rootId: ofFirst, members: [ofFirst] });
  });

  it('is unknown to who cannot see it', () => {
    const stranger = deck.clients.attach(new TestClient('stranger').only('/elsewhere'));
    for (const id of [ROOT, 'never-was'])
      assert.throws(() => family(id, stranger), withCode('session_unavailable'));
  });
});
