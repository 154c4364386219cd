import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentPool } from '../../../src/service/agents/agent_pool.js';
import type { AgentSpec } from '../../../src/service/agents/agent_process.js';
import { Discovery, type DiscoveryTiming } from '../../../src/service/runs/discovery.js';
import { UNDO_MS } from '../../../src/service/sessions/delete.js';
import { testAgent, type TestAgentOptions } from '../../support/agent_command.js';
import {
  ClaudeFile,
  type Deck,
  openDeck,
  removeFolders,
  temporaryFolder,
  until,
} from '../sessions/support.js';

const CWD = '/deck-test/app';

describe('sessions that agents list', function () {
  this.timeout(20_000);
  let deck: Deck;
  let home: string;
  let dir: string;
  let pool: AgentPool;
  const logged: string[] = [];
  const log = {
    error: (message: string, details?: unknown) => void logged.push(`${message} ${String(details)}`),
    warn: (message: string, details?: unknown) => void logged.push(`${message} ${JSON.stringify(details)}`),
    info: (message: string, details?: unknown) => void logged.push(`${message} ${JSON.stringify(details)}`),
    debug: () => undefined,
  };
  beforeEach(async () => {
    logged.length = 0;
    home = temporaryFolder();
    dir = mkdtempSync(join(tmpdir(), 'discovery-'));
    deck = await openDeck(home, temporaryFolder());
    pool = new AgentPool({ log, version: '0.0.0' });
  });
  afterEach(async () => {
    await pool.close();
    await deck.close();
    removeFolders();
    rmSync(dir, { recursive: true, force: true });
  });

  const spec = (options: TestAgentOptions = {}, id = 'scripted'): AgentSpec => {
    const { command, args = [], env = {}, title = '' } = testAgent({ dir, ...options });
    return { id, title, command, args, env: { AGENT_CWD: CWD, ...env } };
  };
  const discovery = (timing: Partial<DiscoveryTiming> = {}) =>
    new Discovery({
      agents: pool,
      lists: deck.sessions.agentLists,
      log,
      timing: { afterStartMs: 60_000, ...timing },
    });
  const agentSession = (id: string, ...prompts: string[]) =>
    writeFileSync(
      join(dir, `${id}.jsonl`),
      [{ id, cwd: CWD }, ...prompts.map((text) => ({ role: 'user', text }))]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
  const rows = async () => (await deck.sessions.list(deck.client, { limit: 200 })).sessions;
  const ids = async () => (await rows()).map(({ sessionId }) => sessionId).sort();

  it('become rows of their own, page by page, once, and survive a restart', async () => {
    for (const n of [1, 2, 3]) agentSession(`s${n}`, `first prompt of ${n}`);
    const paged = spec({ env: { AGENT_LIST: 'pages' } });
    const finder = discovery();
    assert.deepEqual(await finder.discover(paged), { listed: 3, added: 3 });
    assert.deepEqual(await finder.discover(paged), { listed: 3, added: 0 });
    const check = async () => {
      const row = (await rows()).find(({ sessionId }) => sessionId === 's2');
      assert.deepEqual(
        [row?.source, row?.agent, row?.cwd, row?.title, row?.messageCount],
        ['agent', 'scripted', CWD, 'first prompt of 2', undefined],
      );
      assert.deepEqual(await ids(), ['s1', 's2', 's3']);
    };
    await check();
    await deck.close();
    deck = await openDeck(home, deck.storeDir);
    await check();
  });

  it('are in scope by their folder, and can be renamed', async () => {
    agentSession('s1', 'prompt');
    await discovery().discover(spec());
    deck.client.only('/elsewhere');
    assert.deepEqual(await ids(), []);
    deck.client.only(CWD);
    deck.sessions.rename(deck.client, { sessionId: 's1', title: 'Mine' });
    await discovery().discover(spec());
    assert.equal((await rows())[0]?.title, 'Mine');
  });

  it('stay one row with the session of ours that they are, and with the file of a tool', async () => {
    const file = new ClaudeFile(home, 'cccccccc-0000-4000-8000-000000000001', CWD);
    file.write(file.turn('from the disk'));
    await deck.close();
    deck = await openDeck(home, deck.storeDir);
    const { id } = deck.sessions.create({
      cwd: CWD,
      agent: 'scripted',
      agentSession: 'ours',
      kind: 'build',
      headless: false,
    });
    const { turnId } = deck.sessions.writer.beginTurn(id, {
      id: 'p',
      kind: 'user',
      at: new Date().toISOString(),
      content: [{ type: 'text', text: 'by us' }],
    });
    deck.sessions.writer.endTurn(id, turnId, { status: 'completed' });
    agentSession('ours', 'by us');
    agentSession(file.id, 'the raw first prompt');
    assert.deepEqual(await discovery().discover(spec()), { listed: 2, added: 0 });
    assert.deepEqual(await ids(), [file.id, id].sort());
    assert.equal((await rows()).find(({ sessionId }) => sessionId === file.id)?.title, 'from the disk');
  });

  it('become the session of a tool when its file is found later', async () => {
    const file = new ClaudeFile(home, 'cccccccc-0000-4000-8000-000000000002', CWD);
    agentSession(file.id, 'told by the agent');
    await discovery().discover(spec());
    assert.equal((await rows())[0]?.source, 'agent');
    file.write(file.turn('from the disk'));
    await deck.close();
    deck = await openDeck(home, deck.storeDir);
    const [row, ...more] = await rows();
    assert.deepEqual([row?.sessionId, row?.source, more.length], [file.id, 'claude-code', 0]);
    assert.equal(deck.sessions.info(deck.client, { sessionId: file.id }).turnCount, 1);
  });

  it('go away as rows of their own when a session of ours is bound to them', async () => {
    agentSession('late', 'listed before it was bound');
    await discovery().discover(spec());
    const { id } = deck.sessions.create({ cwd: CWD, agent: 'scripted', kind: 'build', headless: false });
    deck.sessions.update(id, { agentSession: 'late' });
    assert.deepEqual(await ids(), []);
    assert.deepEqual(await discovery().discover(spec()), { listed: 1, added: 0 });
  });

  it('of two agents with the same id are two, unless they are one program in one folder', async () => {
    agentSession('1', 'prompt');
    await discovery().discover(spec());
    await discovery().discover(spec({}, 'same'));
    assert.deepEqual(await ids(), ['1']);
    writeFileSync(join(dir, '1.jsonl'), `${JSON.stringify({ id: '1', cwd: '/deck-test/other' })}\n`);
    await discovery().discover(spec({}, 'other'));
    await discovery().discover(spec({}, 'other'));
    assert.deepEqual(await ids(), ['1', 'other:1']);
  });

  it('stay hidden when they were deleted here, come back on undo, and are deleted in the agent at the end', async () => {
    for (const id of ['keep', 'drop', 'undo']) agentSession(id, 'prompt');
    const calls = join(dir, 'calls.log');
    const agent = spec({
      features: ['close', 'load', 'list', 'delete'],
      env: { AGENT_LOG: calls },
    });
    const finder = discovery();
    await finder.discover(agent);
    for (const sessionId of ['drop', 'undo'])
      await deck.sessions.delete(deck.client, { sessionId, cwd: CWD });
    await finder.discover(agent);
    assert.deepEqual(await ids(), ['keep']);
    await deck.sessions.undoDelete(deck.client, { sessionId: 'undo' });
    assert.deepEqual(await ids(), ['keep', 'undo']);
    assert.throws(() => readFileSync(calls), 'nothing is deleted in the agent while it can be undone');
    const { records } = deck.store;
    for (const trash of records.trash())
      records.putTrash({ ...trash, undoUntil: trash.undoUntil - UNDO_MS - 1000 });
    await deck.close();
    deck = await openDeck(home, deck.storeDir);
    await until(() => !deck.store.records.sessions().some(({ id }) => id === 'drop'));
    const silent = spec({ features: ['close', 'load', 'list'] });
    assert.deepEqual(await discovery().discover(silent), { listed: 3, added: 0 });
    assert.deepEqual(await discovery().discover(agent), { listed: 2, added: 0 });
    assert.equal(readFileSync(calls, 'utf8'), 'session/delete drop\n');
    assert.deepEqual(await ids(), ['keep', 'undo']);
  });

  it('are deleted in an agent that runs as soon as that is final', async () => {
    agentSession('drop', 'prompt');
    const calls = join(dir, 'calls.log');
    await discovery().discover(
      spec({ features: ['close', 'load', 'list', 'delete'], env: { AGENT_LOG: calls } }),
    );
    await deck.sessions.delete(deck.client, { sessionId: 'drop', cwd: CWD });
    const buried = deck.store.records.sessions().find(({ id }) => id === 'drop');
    assert.ok(buried);
    deck.sessions.agentLists.bury(buried);
    await until(() => deck.sessions.agentLists.toDelete('scripted').length === 0);
    assert.equal(readFileSync(calls, 'utf8'), 'session/delete drop\n');
  });

  it('stay when the agent lists them no more', async () => {
    agentSession('s1', 'prompt');
    await discovery().discover(spec());
    rmSync(join(dir, 's1.jsonl'));
    assert.deepEqual(await discovery().discover(spec()), { listed: 0, added: 0 });
    assert.deepEqual(await ids(), ['s1']);
  });

  it('end where a cursor repeats, where the list does not end, and where a page fails, with a warning', async () => {
    const looped = await discovery().discover(spec({ env: { AGENT_LIST: 'loop' } }));
    assert.deepEqual([looped.listed, looped.added], [3, 3]);
    assert.match(
      looped.warning ?? '',
      /^Scripted agent gave the same cursor twice, so .* cut off after 4 sessions\.$/,
    );
    assert.ok(logged.some((line) => line.includes('gave the same cursor twice')));
    const endless = await discovery().discover(spec({ env: { AGENT_LIST: 'endless' } }));
    assert.equal(endless.listed, 400);
    assert.match(endless.warning ?? '', /does not end its list/);
    const failing = await discovery().discover(spec({ env: { AGENT_LIST: 'fail' } }));
    assert.equal(failing.listed, 1);
    assert.match(failing.warning ?? '', /the index is damaged/);
    await assert.rejects(discovery().discover(spec({ env: { AGENT_LIST: 'none' } })), {
      code: 'agent_failed',
      message: /there is no index/,
    });
  });

  it('are cut off with a warning where one page has more than are taken in', async () => {
    const many = await discovery().discover(spec({ env: { AGENT_LIST: 'many' } }));
    assert.equal(many.listed, 20_000);
    assert.equal(
      many.warning,
      'Scripted agent lists more sessions than are taken in, so its list was cut off after 20000 sessions.',
    );
  });

  it('that make no sense are counted, the others are listed', async () => {
    const found = await discovery().discover(spec({ env: { AGENT_LIST: 'bad' } }));
    assert.deepEqual([found.listed, found.added], [2, 2]);
    assert.match(found.warning ?? '', /^3 of its sessions are left out/);
    assert.deepEqual(await ids(), ['quirk-1', 'quirk-3']);
  });

  it('are not asked for where the agent does not offer it', async () => {
    await assert.rejects(discovery().discover(spec({ features: ['close'] })), { code: 'not_supported' });
  });

  it('are listed in the background when an agent was started for something else, and not too often', async () => {
    agentSession('s1', 'prompt');
    discovery({ afterStartMs: 20 });
    (await pool.lease(spec())).release();
    await until(() => deck.store.records.sessions().some(({ id }) => id === 's1'));
    agentSession('s2', 'prompt');
    const { connection } = await pool.lease(spec());
    await connection.close();
    (await pool.lease(spec())).release();
    await new Promise((done) => setTimeout(done, 300));
    assert.deepEqual(await ids(), ['s1']);
  });

  it('take news of their title', async () => {
    agentSession('s1', 'prompt');
    agentSession('talker', 'prompt');
    const finder = discovery();
    await finder.discover(spec());
    const { connection } = await pool.lease(spec());
    connection.onElsewhere('s1', { sessionUpdate: 'session_info_update', title: 'Better' });
    connection.onElsewhere('s1', { sessionUpdate: 'session_info_update', updatedAt: '2031-01-01T00:00:00Z' });
    const row = (await rows()).find(({ sessionId }) => sessionId === 's1');
    assert.deepEqual([row?.title, row?.updatedAt], ['Better', '2031-01-01T00:00:00.000Z']);
  });
});
