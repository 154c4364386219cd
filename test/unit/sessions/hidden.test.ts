import assert from 'node:assert/strict';
import { ClaudeFile, openDeck, removeFolders, temporaryFolder, until, type Deck } from './support.js';

const ids = async ({ sessions, client }: Deck) =>
  (await sessions.list(client, {})).sessions.map(({ sessionId }) => sessionId).sort();

describe('sessions of small jobs', () => {
  after(removeFolders);

  it('are not listed when their file is found later, nor after a restart', async () => {
    const home = temporaryFolder();
    const storeDir = temporaryFolder();
    const cwd = temporaryFolder();
    new ClaudeFile(home, 'mine', cwd).write(new ClaudeFile(home, 'mine', cwd).turn('hello'));
    let deck = await openDeck(home, storeDir);
    deck.sessions.hide('claude', 'job');
    await deck.close();
    const job = new ClaudeFile(home, 'job', cwd);
    job.write(job.turn('Below is the last exchange'));
    deck = await openDeck(home, storeDir);
    assert.deepEqual(await ids(deck), ['mine']);
    job.append(job.turn('again'));
    await deck.close();
    deck = await openDeck(home, storeDir);
    assert.deepEqual(await ids(deck), ['mine']);
    await deck.close();
  });

  it('go from the list when their file was found first', async () => {
    const home = temporaryFolder();
    const storeDir = temporaryFolder();
    const cwd = temporaryFolder();
    for (const id of ['mine', 'job']) {
      const file = new ClaudeFile(home, id, cwd);
      file.write(file.turn('hello'));
    }
    let deck = await openDeck(home, storeDir);
    assert.deepEqual(await ids(deck), ['job', 'mine']);
    deck.sessions.hide('claude', 'job');
    assert.deepEqual(await ids(deck), ['mine']);
    assert.deepEqual(deck.sessions.deleted(deck.client).sessions, []);
    const { records } = deck.store;
    await until(() => !records.sessions().some(({ id }) => id === 'job'));
    await deck.close();
    deck = await openDeck(home, storeDir);
    assert.deepEqual(await ids(deck), ['mine']);
    await deck.close();
  });

  it('are not listed when their agent lists them, before or after', async () => {
    const deck = await openDeck(temporaryFolder(), temporaryFolder());
    const cwd = temporaryFolder();
    deck.sessions.hide('goose', 'job-1');
    const listed = ['job-1', 'job-2', 'mine'].map((agentSession) => ({ agentSession, cwd }));
    deck.sessions.agentLists.takeIn('goose', listed);
    assert.deepEqual(await ids(deck), ['job-2', 'mine']);
    deck.sessions.hide('goose', 'job-2');
    deck.sessions.agentLists.takeIn('goose', listed);
    assert.deepEqual(await ids(deck), ['mine']);
    await deck.close();
  });

  it('never take a session of ours with them', async () => {
    const deck = await openDeck(temporaryFolder(), temporaryFolder());
    const own = deck.sessions.create({
      cwd: temporaryFolder(),
      agent: 'goose',
      agentSession: 'theirs',
      kind: 'build',
      headless: false,
    });
    deck.sessions.hide('goose', 'theirs');
    deck.sessions.hide('goose', own.id);
    assert.equal(deck.sessions.resolve(deck.client, own.id).id, own.id);
    await deck.close();
  });
});
