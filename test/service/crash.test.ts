import assert from 'node:assert/strict';
import type * as z from 'zod';
import { TranscriptUpdate, type PageResult } from '../../src/protocol/aster.js';
import type { Entry } from '../../src/protocol/entry.js';
import { testAgent } from '../support/agent_command.js';
import { EditorPeer } from '../support/editor_peer.js';
import { isAlive, ServicePlace, until } from '../support/service.js';

type Page = z.output<typeof PageResult>;

/** All entries of a session, page by page from the start. */
async function wholeTranscript(peer: EditorPeer, sessionId: string, cwd: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page: Page = await peer.request('aster/session/transcript/page/v1', {
      schema: 'aster.acp.session-transcript-page.v1',
      sessionId,
      operationId: `page-${entries.length}`,
      cwd,
      limit: 37,
      ...(cursor === undefined ? { anchor: 'start', direction: 'newer' } : { cursor }),
    });
    entries.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return entries;
}

const textOf = (entry: Entry) =>
  entry.content.map((block) => (block.type === 'text' ? block.text : '')).join('');

describe('kill -9 of the service', function () {
  this.timeout(120_000);
  let place: ServicePlace;
  before(() => {
    place = new ServicePlace();
  });
  after(() => place.dispose());

  it('loses nothing that was announced, and leaves pages without gap or repeat', async () => {
    const client = { config: { agents: { scripted: testAgent() }, defaultAgent: 'scripted' } };
    const cwd = place.workspace;
    let sessionId: string | undefined;
    const announced = new Map<string, Entry>();
    for (let round = 0; round < 3; round++) {
      const peer = await EditorPeer.open(place, client);
      peer.connection.onNotification('aster/session/transcript/update/v1', (params: unknown) => {
        for (const { entry } of TranscriptUpdate.parse(params).changes) announced.set(entry.id, entry);
      });
      sessionId ??= (await peer.request('session/new', { cwd, mcpServers: [] })).sessionId;
      await wholeTranscript(peer, sessionId, cwd);
      const before = announced.size;
      const lines = Array.from({ length: 400 }, (_, i) => (i % 3 === 0 ? 'split' : 'tool Read'));
      peer.connection
        .sendRequest('session/prompt', { sessionId, prompt: [{ type: 'text', text: lines.join('\n') }] })
        .catch(() => undefined);
      await until(() => announced.size > before + 60 + 40 * round, 'a burst of entries', 20_000);
      process.kill(peer.pid, 'SIGKILL');
      await until(() => !isAlive(peer.pid), 'the service is gone');
      peer.close();
    }
    assert.ok(sessionId !== undefined);

    const peer = await EditorPeer.open(place, client);
    const entries = await wholeTranscript(peer, sessionId, cwd);
    assert.deepEqual(
      entries.map(({ ordinal }) => ordinal),
      entries.map((_, i) => i),
    );
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    assert.equal(byId.size, entries.length);
    for (const [id, entry] of announced) {
      const kept = byId.get(id);
      assert.ok(kept, `${entry.kind} ${id} is lost`);
      assert.ok(textOf(kept).startsWith(textOf(entry)), `text of ${id} is shorter than announced`);
    }
    const info = await peer.request('aster/session/info', { sessionId });
    assert.equal(info.activeRun, undefined);
    assert.equal(info.entryCount, entries.length);
    assert.notEqual(info.state, 'running');
    peer.close();
  });
});
