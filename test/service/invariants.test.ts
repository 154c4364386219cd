// The invariants of docs/architecture.md that no other test breaks in a real service.
import assert from 'node:assert/strict';
import { EditorPeer } from '../support/editor_peer.js';
import { testAgent } from '../support/agent_command.js';
import { ServicePlace } from '../support/service.js';

const client = { config: { agents: { scripted: testAgent() }, defaultAgent: 'scripted' } };

describe('invariants', function () {
  this.timeout(60_000);
  let place: ServicePlace;
  const peers: EditorPeer[] = [];
  const open = async (options: Parameters<typeof EditorPeer.open>[1] = client) => {
    const peer = await EditorPeer.open(place, options);
    peers.push(peer);
    return peer;
  };
  beforeEach(() => {
    place = new ServicePlace();
  });
  afterEach(async () => {
    for (const peer of peers.splice(0)) peer.close();
    await place.dispose();
  });
  const prompt = (peer: EditorPeer, sessionId: string, text: string) =>
    peer.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });

  it('5: a window whose folders were narrowed hears nothing more of what it watched', async () => {
    const owner = await open();
    const { sessionId } = await owner.request('session/new', { cwd: place.workspace, mcpServers: [] });
    await prompt(owner, sessionId, 'echo before');
    const other = await open();
    await other.request('aster/session/transcript/page/v1', {
      schema: 'aster.acp.session-transcript-page.v1',
      operationId: 'one',
      sessionId,
      cwd: place.workspace,
    });
    let isNarrow = false;
    const heard: string[] = [];
    let before = 0;
    other.connection.onNotification((method: string, params: unknown) => {
      if (!JSON.stringify(params).includes(sessionId)) return;
      if (isNarrow) heard.push(`${method} ${JSON.stringify(params)}`);
      else before += 1;
    });
    const run = prompt(owner, sessionId, 'stream 5 50\nstream 40 20');
    await new Promise((resolve) => setTimeout(resolve, 150));
    await other.request('deck/configure', {
      ...client,
      workspaces: ['/somewhere/else'],
      allFolders: false,
      trusted: true,
    });
    isNarrow = true;
    await run;
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.ok(before > 0);
    assert.deepEqual(heard, []);
  });
});
