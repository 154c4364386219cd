import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { NewResult, PermissionParams } from '../../src/protocol/acp.js';
import { PageResult } from '../../src/protocol/aster.js';
import { InboxChanged, type InboxItem } from '../../src/protocol/inbox.js';
import { AcpPlace, type AcpPeer } from '../support/acp_place.js';
import { testAgent } from '../support/agent_command.js';
import { EditorPeer } from '../support/editor_peer.js';
import { until } from '../support/service.js';

/** Never answers a request. */
const silent = () => new Promise(() => undefined);
const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } });

describe('questions over the wire, with windows and ACP clients', function () {
  this.timeout(60_000);
  let place: AcpPlace;
  const windows: EditorPeer[] = [];
  before(() => {
    place = new AcpPlace();
  });
  after(() => place.dispose());
  afterEach(() => {
    for (const window of windows.splice(0)) window.close();
    place.leaveAll();
  });

  async function openWindow(more: Parameters<typeof EditorPeer.open>[1] = {}) {
    const config = { agents: { scripted: testAgent() }, defaultAgent: 'scripted' };
    const window = await EditorPeer.open(place, { config, ...more }, false);
    windows.push(window);
    const changes: InboxChanged[] = [];
    window.connection.onNotification('deck/inbox/changed', (change: unknown) => {
      changes.push(InboxChanged.parse(change));
    });
    await window.initialize({ workspaces: [], allFolders: true, trusted: true, config, ...more });
    const inbox = async () => (await window.request('deck/inbox', {})).items;
    return {
      window,
      inbox,
      /** The item of a session, once it is there. */
      item: (sessionId: string): Promise<InboxItem> =>
        until(async () => (await inbox()).find((one) => one.sessionId === sessionId), 'an item in the inbox'),
      answer: (id: string, answer: unknown) =>
        window.connection.sendRequest('deck/inbox/answer', { id, answer }),
      /** Why an item left, once it did. */
      removal: (id: string) =>
        until(
          () => changes.flatMap(({ removed }) => removed).find((one) => one.id === id)?.reason,
          'the item leaves',
        ),
    };
  }
  const requests = (peer: AcpPeer, method: string) =>
    peer.rpc.received.filter((message) => message.method === method && message.id !== undefined);
  const cancelled = (peer: AcpPeer) =>
    peer.rpc
      .notifications('$/cancel_request')
      .map((params) => z.object({ requestId: z.unknown() }).parse(params));

  it('asks the ACP client and shows the window; the answer of the window wins and takes the request back', async () => {
    const acp = await place.open();
    acp.rpc.answers.set('session/request_permission', silent);
    const { item, answer, removal, window } = await openWindow();
    const restricted = await openWindow({ trusted: false });
    const sessionId = await acp.begin();
    const turn = acp.prompt(sessionId, 'ask May I?');
    const asked = await item(sessionId);
    const request = await until(() => requests(acp, 'session/request_permission')[0], 'the request');
    assert.equal(PermissionParams.parse(request.params).sessionId, sessionId);
    assert.equal((await restricted.item(sessionId)).id, asked.id);
    const refusal = await restricted.window.refused('deck/inbox/answer', {
      id: asked.id,
      answer: { optionId: 'allow' },
    });
    assert.equal(refusal.code, 1403);
    await answer(asked.id, { optionId: 'allow' });
    await turn;
    assert.match(acp.text(sessionId), /permission: allow/);
    assert.deepEqual(cancelled(acp), [{ requestId: request.id }]);
    // Too late, and never given to the agent.
    acp.rpc.send({ jsonrpc: '2.0', id: request.id, result: selected('reject') });
    assert.equal(
      (await window.refused('deck/inbox/answer', { id: asked.id, answer: { optionId: 'reject' } })).code,
      1410,
    );
    assert.equal(
      (await window.refused('deck/inbox/answer', { id: 'x', answer: { optionId: 'y' } })).code,
      -32602,
    );
    assert.equal(await removal(asked.id), 'answered');
    assert.equal(await restricted.removal(asked.id), 'answered');
    assert.doesNotMatch(acp.text(sessionId), /reject/);
  });

  it('tells the window when the ACP client was first', async () => {
    const acp = await place.open();
    const { item, removal, window } = await openWindow();
    let answerIt: ((result: unknown) => void) | undefined;
    acp.rpc.answers.set('session/request_permission', () => new Promise((resolve) => (answerIt = resolve)));
    const sessionId = await acp.begin();
    const turn = acp.prompt(sessionId, 'ask');
    const { id } = await item(sessionId);
    await until(() => answerIt, 'the request');
    answerIt?.(selected('reject'));
    await turn;
    assert.equal(await removal(id), 'answered');
    assert.equal(
      (await window.refused('deck/inbox/answer', { id, answer: { optionId: 'allow' } })).code,
      1410,
    );
    assert.match(acp.text(sessionId), /permission: reject/);
  });

  it('waits when the owner vanishes, and asks the client that loads the session, after its replay', async () => {
    const owner = await place.open();
    owner.rpc.answers.set('session/request_permission', silent);
    const keeper = await openWindow();
    const sessionId = await owner.begin();
    void owner.prompt(sessionId, 'echo before', 'ask').catch(() => undefined);
    await until(() => requests(owner, 'session/request_permission')[0], 'the request');
    owner.vanish();
    const second = await place.open();
    second.rpc.answers.set('session/request_permission', () => selected('always'));
    await second.load(sessionId);
    await until(() => second.text(sessionId).includes('permission: always'), 'the turn goes on');
    const kinds = second.rpc.received.map(({ method, result }) => method ?? (result ? 'answer' : ''));
    const asked = kinds.indexOf('session/request_permission');
    assert.ok(kinds.slice(0, asked).filter((kind) => kind === 'answer').length >= 2, kinds.join(' '));
    assert.deepEqual(await keeper.inbox(), []);
  });

  it('lets a window answer when its ACP owner can do nothing, and refuses at once when there is no window', async () => {
    const acp = await place.open();
    const sessionId = await acp.begin();
    // The test's client answers "method not found" to everything.
    await acp.prompt(sessionId, 'ask', 'form', 'url');
    assert.equal(acp.text(sessionId), 'permission: cancelledform: cancel {}url: cancel');
    const { item, answer } = await openWindow();
    const turn = acp.prompt(sessionId, 'form');
    const form = await item(sessionId);
    await answer(form.id, { action: 'accept', content: { name: 'Ada' } });
    await turn;
    assert.match(acp.text(sessionId), /form: accept {"name":"Ada"}/);
  });

  it('takes forms and addresses to an ACP client that announced them', async () => {
    const acp = await place.open({ elicitation: { form: {}, url: {} } });
    acp.rpc.answers.set('elicitation/create', (params) => {
      const { mode } = z.looseObject({ mode: z.string() }).parse(params);
      return mode === 'form' ? { action: 'accept', content: { name: 'Zed', sure: true } } : silent();
    });
    const sessionId = await acp.begin();
    await acp.prompt(sessionId, 'form', 'url https://example.com/ 200');
    assert.equal(acp.text(sessionId), 'form: accept {"name":"Zed","sure":true}url: accept');
    const url = z
      .looseObject({ elicitationId: z.string() })
      .parse(requests(acp, 'elicitation/create').at(-1)?.params);
    await until(() => acp.rpc.notifications('elicitation/complete')[0], 'it hears that it is done');
    assert.deepEqual(acp.rpc.notifications('elicitation/complete'), [{ elicitationId: url.elicitationId }]);
  });

  it('refuses what a form does not ask for, naming the field, and keeps no secret in store or log', async () => {
    const { window, item, answer } = await openWindow();
    const { sessionId } = NewResult.parse(
      await window.connection.sendRequest('session/new', { cwd: place.workspace, mcpServers: [] }),
    );
    const turn = window.connection.sendRequest('session/prompt', {
      sessionId,
      prompt: [{ type: 'text', text: 'form' }],
    });
    const form = await item(sessionId);
    const content = { name: 'Ada Lovelace', token: 'correct horse battery' };
    const refusal = await window.refused('deck/inbox/answer', {
      id: form.id,
      answer: { action: 'accept', content: { ...content, age: 'correct horse battery' } },
    });
    assert.equal(refusal.code, -32602);
    assert.equal(z.looseObject({ field: z.string() }).parse(refusal.data).field, 'age');
    assert.doesNotMatch(JSON.stringify(refusal), /correct horse/);
    await answer(form.id, { action: 'accept', content });
    await turn;
    const page = PageResult.parse(
      await window.connection.sendRequest('aster/session/transcript/page/v1', {
        schema: 'aster.acp.session-transcript-page.v1',
        sessionId,
        operationId: 'p',
        cwd: place.workspace,
      }),
    );
    const entry = page.entries.find(({ kind }) => kind === 'question');
    assert.deepEqual(
      entry?.ask?.fields?.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value]),
      [
        ['name', 'Ada Lovelace'],
        ['token', '•••'],
      ],
    );
    const bytes = fs
      .readdirSync(place.store, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => fs.readFileSync(path.join(file.parentPath, file.name), 'latin1'))
      .join('\n');
    assert.ok(bytes.includes('Ada Lovelace'));
    assert.ok(place.log().length > 0);
    for (const kept of [bytes, place.log()]) assert.ok(!kept.includes('correct horse battery'));
  });

  it('expires questions when the service is killed, and shows the failed run', async () => {
    const first = await openWindow();
    const { sessionId } = NewResult.parse(
      await first.window.connection.sendRequest('session/new', { cwd: place.workspace, mcpServers: [] }),
    );
    const lost = first.window.connection
      .sendRequest('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'ask' }] })
      .then(
        () => 'answered',
        () => 'lost',
      );
    const asked = await first.item(sessionId);
    process.kill(first.window.pid, 'SIGKILL');
    first.window.close();
    assert.equal(await lost, 'lost');
    const second = await openWindow();
    assert.equal(
      (await second.window.refused('deck/inbox/answer', { id: asked.id, answer: { optionId: 'allow' } }))
        .code,
      1410,
    );
    const failed = await second.item(sessionId);
    assert.deepEqual([failed.kind, failed.runId], ['failed', asked.runId]);
    await second.answer(failed.id, { dismiss: true });
    assert.equal(await second.removal(failed.id), 'dismissed');
    assert.deepEqual(await second.inbox(), []);
  });

  it('relays files to the ACP client that can, and does the rest itself', async () => {
    const plain = await place.open();
    const one = await plain.begin();
    fs.writeFileSync(path.join(place.workspace, 'notes.txt'), 'on disk\nsecond\n');
    await plain.prompt(
      one,
      'readfile notes.txt 2',
      'writefile made/new.txt by the service',
      'readfile ../outside',
    );
    assert.match(plain.text(one), /^read: "second\\n"writtenread failed: -32602 .*outside of the folders/);
    assert.equal(fs.readFileSync(path.join(place.workspace, 'made/new.txt'), 'utf8'), 'by the service');

    const able = await place.open({ fs: { readTextFile: true, writeTextFile: true } });
    const heard: unknown[] = [];
    able.rpc.answers.set('fs/read_text_file', (params) => {
      heard.push(params);
      return { content: 'not saved yet' };
    });
    able.rpc.answers.set('fs/write_text_file', (params) => {
      heard.push(params);
      return null;
    });
    const two = await able.begin();
    await able.prompt(two, 'readfile notes.txt 2 1', 'writefile other.txt by the client');
    assert.equal(able.text(two), 'read: "not saved yet"written');
    const file = (name: string) => path.join(place.workspace, name);
    assert.deepEqual(heard, [
      { sessionId: two, path: file('notes.txt'), line: 2, limit: 1 },
      { sessionId: two, path: file('other.txt'), content: 'by the client' },
    ]);
    assert.equal(fs.existsSync(file('other.txt')), false);
  });

  it('reads a file itself when the client that was asked vanishes', async () => {
    const owner = await place.open({ fs: { readTextFile: true } });
    owner.rpc.answers.set('fs/read_text_file', silent);
    const sessionId = await owner.begin();
    fs.writeFileSync(path.join(place.workspace, 'kept.txt'), 'on disk');
    const keeper = await place.open();
    void owner.prompt(sessionId, 'readfile kept.txt').catch(() => undefined);
    await until(() => requests(owner, 'fs/read_text_file')[0], 'the request');
    owner.vanish();
    await keeper.load(sessionId);
    await until(() => keeper.text(sessionId).includes('read: "on disk"'), 'the turn goes on');
  });

  it('writes nothing when no turn runs', async () => {
    const acp = await place.open();
    const sessionId = await acp.begin();
    await acp.prompt(sessionId, 'latewrite late.txt too late');
    await until(() => acp.text(sessionId) !== '', 'the agent says how it went');
    assert.match(acp.text(sessionId), /^write failed: -32600 .*no turn is running/);
    assert.equal(fs.existsSync(path.join(place.workspace, 'late.txt')), false);
  });
});
