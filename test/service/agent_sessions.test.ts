import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { AcpListResult, NewResult, PromptResult } from '../../src/protocol/acp.js';
import { TRANSCRIPT_PAGE_SCHEMA } from '../../src/protocol/aster.js';
import { testAgent } from '../support/agent_command.js';
import { EditorPeer } from '../support/editor_peer.js';
import { RawRpc } from '../support/rpc.js';
import { ServicePlace, until } from '../support/service.js';

const ID = 'kept-by-the-agent';
const Chunk = z.object({
  sessionId: z.string(),
  update: z.looseObject({
    sessionUpdate: z.string(),
    content: z.looseObject({ text: z.string().optional() }).optional().catch(undefined),
  }),
});

describe('sessions of agents, over the wire', function () {
  this.timeout(60_000);
  let place: ServicePlace;
  let config: string;
  let editor: EditorPeer;
  let rpc: RawRpc;
  before(async () => {
    place = new ServicePlace();
    place.env['SESSION_DECK_IDLE_MS'] = '20000';
    const dir = path.join(place.home, 'agent');
    fs.mkdirSync(dir);
    const lines = [
      { id: ID, cwd: place.workspace },
      { role: 'user', text: 'first prompt' },
      { role: 'agent', text: 'first answer' },
    ];
    fs.writeFileSync(
      path.join(dir, `${ID}.jsonl`),
      lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    );
    const agents = {
      scripted: testAgent({ dir, features: ['close', 'load', 'resume', 'list', 'fork', 'delete'] }),
    };
    config = path.join(place.workspace, 'config.json');
    fs.writeFileSync(config, JSON.stringify({ agents, defaultAgent: 'scripted' }));
    editor = await EditorPeer.open(place, { config: { agents } });
    const child = await place.command('acp', '--config', config);
    rpc = new RawRpc(child.stdout, child.stdin);
    await rpc.initialize();
  });
  after(async () => {
    editor.close();
    await place.dispose();
  });

  const said = (sessionId: string) =>
    rpc
      .notifications('session/update')
      .map((params) => Chunk.parse(params))
      .filter((one) => one.sessionId === sessionId && one.update.sessionUpdate.endsWith('_message_chunk'))
      .map(({ update }) => `${update.sessionUpdate.split('_')[0] ?? ''}: ${update.content?.text ?? ''}`);

  it('are asked for by trusted windows only, of agents that are set', async () => {
    const restricted = await EditorPeer.open(place, {
      trusted: false,
      config: { agents: { scripted: testAgent() } },
    });
    assert.equal((await restricted.refused('deck/agent/discover', { agent: 'scripted' })).code, 1403);
    restricted.close();
    const unknown = await editor.refused('deck/agent/discover', { agent: 'nobody' });
    assert.equal(unknown.code, -32602);
  });

  it('are listed for all clients once somebody asked', async () => {
    assert.deepEqual(await editor.request('deck/agent/discover', { agent: 'scripted' }), {
      listed: 1,
      added: 1,
    });
    const { sessions } = await rpc.request('session/list', {}, AcpListResult);
    const row = sessions.find(({ sessionId }) => sessionId === ID);
    assert.deepEqual([row?.cwd, row?.title], [place.workspace, 'first prompt']);
    const info = await editor.request('aster/session/info', { sessionId: ID });
    assert.deepEqual([info.source, info.sourceInfo.unread, info.can.prompt], ['agent', true, true]);
  });

  it('are replayed from their agent, paged, forked and continued', async () => {
    await rpc.request(
      'session/load',
      { sessionId: ID, cwd: place.workspace, mcpServers: [] },
      z.looseObject({}),
    );
    assert.deepEqual(said(ID), ['user: first prompt', 'agent: first answer']);
    const page = await editor.request('aster/session/transcript/page/v1', {
      schema: TRANSCRIPT_PAGE_SCHEMA,
      operationId: 'page',
      sessionId: ID,
      cwd: place.workspace,
    });
    assert.deepEqual(
      page.entries.map(({ kind, replay, boundary }) => [kind, replay, boundary]),
      [
        ['user', true, false],
        ['assistant', true, true],
      ],
    );
    const { sessionId: fork } = await rpc.request(
      'session/fork',
      { sessionId: ID, cwd: place.workspace, mcpServers: [] },
      NewResult,
    );
    assert.deepEqual(said(fork), [], 'a fork replays nothing');
    const prompt = [{ type: 'text', text: 'recall' }];
    await rpc.request('session/prompt', { sessionId: fork, prompt }, PromptResult);
    assert.equal(said(fork).at(-1), 'agent: 1 before, last: first prompt');
    await rpc.request('session/prompt', { sessionId: ID, prompt }, PromptResult);
    assert.equal(said(ID).at(-1), 'agent: 1 before, last: first prompt');
  });

  it('are text for an editor, and not for others', async () => {
    const uri = `session-deck:/${ID}/Anything.md`;
    const { text } = await editor.request('workspace/textDocumentContent', { uri });
    assert.match(
      text,
      /^# first prompt\n\n## 1\. first prompt\n\n> first prompt\n\nfirst answer\n\n## 2\. recall\n/,
    );
    assert.equal((await rpc.call('workspace/textDocumentContent', { uri })).error?.code, -32601);
    const unknown = await editor.refused('workspace/textDocumentContent', { uri: 'session-deck:/none/x.md' });
    assert.equal(unknown.code, 1404);
  });

  it('leave the list when they are deleted, though the agent goes on to list them', async () => {
    await editor.request('aster/session/delete', { sessionId: ID, cwd: place.workspace });
    assert.deepEqual((await editor.request('deck/agent/discover', { agent: 'scripted' })).added, 0);
    const listed = async () =>
      (await rpc.request('session/list', {}, AcpListResult)).sessions.map(({ sessionId }) => sessionId);
    assert.ok(!(await listed()).includes(ID));
    await editor.request('deck/session/undo_delete', { sessionId: ID });
    await until(async () => (await listed()).includes(ID), 'the session is back');
  });
});
