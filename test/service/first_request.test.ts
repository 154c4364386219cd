import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { claudeFolder, ClaudeWriter } from '../support/corpus_claude.js';
import { random } from '../support/corpus_random.js';
import { EditorPeer } from '../support/editor_peer.js';
import { ServicePlace } from '../support/service.js';

describe('the first request to a service that has just started', function () {
  this.timeout(30_000);
  let place: ServicePlace;
  let sessionId: string;
  let file: string;
  beforeEach(() => {
    place = new ServicePlace();
    const writer = new ClaudeWriter({ rng: random(5), cwd: place.workspace, startMs: Date.now() - 60_000 });
    writer.prompt('Hello');
    writer.say('Hello to you.');
    ({ sessionId } = writer);
    const folder = path.join(place.home, '.claude', 'projects', claudeFolder(place.workspace));
    file = path.join(folder, `${sessionId}.jsonl`);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(file, writer.text);
  });
  afterEach(() => place.dispose());

  it('finds a session that a tool left on disk', async () => {
    const peer = await EditorPeer.open(place);
    const { source } = await peer.request('aster/session/info', { sessionId });
    assert.equal(source, 'claude-code');
    peer.close();
  });

  it('deletes one, instead of taking it for unknown', async () => {
    const peer = await EditorPeer.open(place);
    await peer.request('session/delete', { sessionId });
    assert.equal(fs.existsSync(file), false);
    const { sessions } = await peer.request('deck/session/deleted', {});
    assert.deepEqual(
      sessions.map(({ session }) => session.sessionId),
      [sessionId],
    );
    peer.close();
  });
});
