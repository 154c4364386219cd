import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ForkParams, ForkResult, PREFIX_FORK_SCHEMA } from '../../../src/protocol/aster.js';
import { ForkPreviewResult } from '../../../src/protocol/deck.js';
import { DomainError } from '../../../src/protocol/errors.js';
import {
  ClaudeFile,
  type Deck,
  never,
  openDeck,
  pageOf,
  removeFolders,
  temporaryFolder,
  TestClient,
  until,
  withCode,
} from './support.js';

const SOURCE = 'aaaaaaaa-0000-4000-8000-000000000001';

describe('prefix forks', () => {
  let deck: Deck;
  let file: ClaudeFile;
  let cwd: string;
  beforeEach(async () => {
    const home = temporaryFolder();
    cwd = temporaryFolder();
    file = new ClaudeFile(home, SOURCE, cwd);
    file.write(...[1, 2, 3].map((n) => file.turn(`prompt ${n}`)));
    deck = await openDeck(home, temporaryFolder());
  });
  afterEach(async () => {
    await deck.close();
    removeFolders();
  });

  const entriesOf = async (sessionId: string) =>
    (await deck.sessions.page(deck.client, pageOf(sessionId, cwd, { limit: 200 }), never)).entries;
  const boundaryOf = async (turn: number): Promise<string> => {
    const { turns } = await deck.sessions.turns(deck.client, { sessionId: SOURCE, from: turn, limit: 1 });
    const id = turns[0]?.boundaryEntryId;
    assert.ok(id);
    return id;
  };
  const paramsFor = async (turn: number, more: Partial<ForkParams['request']> = {}): Promise<ForkParams> => ({
    schema: PREFIX_FORK_SCHEMA,
    sessionId: SOURCE,
    operationId: 'op-1',
    request: {
      boundary_entry_id: await boundaryOf(turn),
      expected_cut: deck.sessions.info(deck.client, { sessionId: SOURCE }).cut,
      target_session_id: 'fork-1',
      expected_workspace: { cwd },
      ...more,
    },
  });
  const fork = (params: ForkParams) => deck.sessions.fork(deck.client, params);

  it('copy the prefix, stand on their own, and leave the source as it was', async () => {
    const bytes = readFileSync(file.path);
    const source = await entriesOf(SOURCE);
    const params = await paramsFor(2);
    const preview = ForkPreviewResult.parse(
      await deck.sessions.forkPreview(deck.client, {
        sessionId: SOURCE,
        boundaryEntryId: params.request.boundary_entry_id,
      }),
    );
    assert.equal(preview.entryCount, 6);
    const result = ForkResult.parse(await fork(params));
    assert.deepEqual(
      [result.sessionId, result.entryCount, result.parent],
      ['fork-1', 6, { sessionId: SOURCE, boundaryEntryId: params.request.boundary_entry_id }],
    );
    const info = deck.sessions.info(deck.client, { sessionId: 'fork-1' });
    assert.deepEqual(
      [info.source, info.parent?.relation, info.title, info.turnCount, info.messageCount, info.cwd],
      ['deck', 'fork', 'prompt 1', 2, 4, cwd],
    );
    assert.ok((await deck.sessions.list(deck.client, {})).sessions.some((row) => row.sessionId === 'fork-1'));
    assert.equal(deck.sessions.info(deck.client, { sessionId: SOURCE }).children[0]?.sessionId, 'fork-1');
    assert.deepEqual(readFileSync(file.path), bytes);
    rmSync(file.path);
    assert.deepEqual(await entriesOf('fork-1'), source.slice(0, 6));
  });

  it('hold although the session goes on behind the boundary', async () => {
    const params = await paramsFor(2);
    file.append(file.turn('later'));
    await until(() => deck.sessions.info(deck.client, { sessionId: SOURCE }).turnCount === 4);
    assert.equal((await fork(params)).entryCount, 6);
  });

  it('are refused at what is no boundary, and while its turn runs', async () => {
    const params = await paramsFor(2);
    const entries = await entriesOf(SOURCE);
    const at = (id: string | undefined): ForkParams => ({
      ...params,
      request: { ...params.request, boundary_entry_id: id ?? '' },
    });
    await assert.rejects(fork(at('nothing')), withCode('boundary_invalid'));
    await assert.rejects(fork(at(entries[4]?.id)), withCode('boundary_invalid'));
    const { turnId } = deck.sessions.writer.beginTurn(SOURCE, draft('p', 'user', 'running'));
    const running = { ...(await paramsFor(2)).request, boundary_entry_id: 'p' };
    await assert.rejects(fork({ ...params, request: running }), withCode('boundary_incomplete'));
    deck.sessions.writer.endTurn(SOURCE, turnId, { status: 'completed' });
    const ended = { ...running, expected_cut: deck.sessions.info(deck.client, { sessionId: SOURCE }).cut };
    assert.equal((await fork({ ...params, request: ended })).entryCount, 10);
  });

  it('are refused when the history is another, and say which', async () => {
    const params = await paramsFor(2);
    const wrong = (expected_cut: ForkParams['request']['expected_cut']) =>
      fork({ ...params, request: { ...params.request, expected_cut } });
    const { generation, revision } = params.request.expected_cut;
    await assert.rejects(wrong({ generation: generation + 1, revision }), withCode('cut_stale'));
    await assert.rejects(wrong({ generation, revision: revision + 1 }), withCode('cut_stale'));
    await assert.rejects(wrong({ generation, revision: revision - 1 }), withCode('cut_stale'));
    file.append(file.rewind(4).turn('another way'));
    await assert.rejects(fork(params), (error: unknown) => {
      assert.ok(error instanceof DomainError && error.code === 'cut_stale');
      assert.deepEqual(error.details['cut'], deck.sessions.info(deck.client, { sessionId: SOURCE }).cut);
      return true;
    });
  });

  it('are refused when the workspace is not as expected, and say which part', async () => {
    execFileSync('git', ['init', '-q'], { cwd });
    writeFileSync(join(cwd, 'a.txt'), 'a');
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, encoding: 'utf8' });
    git('add', '.');
    git('commit', '-qm', 'a');
    const head = git('rev-parse', 'HEAD').trim();
    const params = await paramsFor(1);
    const expecting = (expected_workspace: ForkParams['request']['expected_workspace']) =>
      fork({ ...params, request: { ...params.request, expected_workspace } });
    const part = (name: string) => (error: unknown) =>
      error instanceof DomainError && error.code === 'workspace_mismatch' && error.details['part'] === name;
    await assert.rejects(expecting({ cwd: `${cwd}/x` }), part('cwd'));
    await assert.rejects(expecting({ cwd, git_head: '0'.repeat(40) }), part('git_head'));
    await assert.rejects(expecting({ cwd, git_head: head, dirty: true }), part('dirty'));
    mkdirSync(join(cwd, 'sub'));
    writeFileSync(join(cwd, 'sub/ü new.txt'), 'new');
    const { workspace } = await expecting({ cwd, git_head: head, dirty: true });
    assert.deepEqual(workspace, {
      cwd,
      git_head: head,
      dirty: true,
      changedSinceBoundary: ['a.txt', 'sub/ü new.txt'],
    });
  });

  it('do not start git for a restricted window', async () => {
    execFileSync('git', ['init', '-q'], { cwd });
    const client = deck.clients.attach(new TestClient('restricted'));
    client.options = { ...client.options, trusted: false };
    const { workspace } = await deck.sessions.forkPreview(client, {
      sessionId: SOURCE,
      boundaryEntryId: await boundaryOf(1),
    });
    assert.equal(workspace.dirty, undefined);
  });

  it('happen once for an operationId, also after a restart', async () => {
    const params = await paramsFor(2);
    const [first, second] = await Promise.all([fork(params), fork(params)]);
    assert.deepEqual(first, second);
    await assert.rejects(
      fork({ ...params, request: { ...params.request, target_session_id: 'fork-2' } }),
      withCode('operation_conflict'),
    );
    await assert.rejects(fork({ ...params, operationId: 'op-2' }), withCode('target_exists'));
    await deck.close();
    deck = await openDeck(deck.home, deck.storeDir);
    assert.deepEqual(await fork(params), first);
    assert.equal((await deck.sessions.list(deck.client, {})).sessions.length, 2);
  });

  it('are refused onto ids that are taken, deleted or none', async () => {
    for (const target of ['', '../x', 'a b', '-x'])
      await assert.rejects(
        fork(await paramsFor(2, { target_session_id: target })),
        withCode('invalid_params'),
      );
    await assert.rejects(fork(await paramsFor(2, { target_session_id: SOURCE })), withCode('target_exists'));
    await fork(await paramsFor(2));
    await deck.sessions.delete(deck.client, { sessionId: 'fork-1', cwd });
    await assert.rejects(fork({ ...(await paramsFor(2)), operationId: 'op-3' }), withCode('target_exists'));
  });

  it('go on in another agent when that is set, and in no other', async () => {
    deck.client.options = { ...deck.client.options, config: { agents: { other: { command: 'agent' } } } };
    const params = { ...(await paramsFor(2)), _meta: { agent: 'other' } };
    await fork(params);
    const info = deck.sessions.info(deck.client, { sessionId: 'fork-1' });
    assert.deepEqual([info.agent, info.model], ['other', undefined]);
    assert.deepEqual(deck.runs.forks, [`${SOURCE} -> fork-1`]);
    await assert.rejects(fork({ ...params, _meta: {} }), withCode('operation_conflict'));
    await assert.rejects(
      fork({ ...params, operationId: 'op-9', _meta: { agent: 'nobody' } }),
      (error: unknown) =>
        error instanceof DomainError &&
        error.code === 'invalid_params' &&
        error.details['field'] === '_meta.agent',
    );
  });

  it('from the head take the last completed turn', async () => {
    const head = (sessionId: string) =>
      deck.sessions.forkHead(deck.client, { sessionId, cwd, mcpServers: [] }, never);
    const { sessionId } = await head(SOURCE);
    assert.deepEqual(await entriesOf(sessionId), await entriesOf(SOURCE));
    const info = deck.sessions.info(deck.client, { sessionId });
    assert.deepEqual(
      [info.parent?.sessionId, info.parent?.boundaryEntryId, info.agent, info.turnCount],
      [SOURCE, await boundaryOf(3), 'claude-code', 3],
    );
    deck.sessions.writer.beginTurn(SOURCE, draft('p', 'user', 'running'));
    const during = await head(SOURCE);
    assert.equal((await entriesOf(during.sessionId)).length, 9);
    await assert.rejects(head('unknown'), withCode('session_unavailable'));
    const empty = deck.sessions.create({ cwd, agent: 'a', kind: 'build', headless: false });
    await assert.rejects(head(empty.id), withCode('boundary_invalid'));
  });

  it('do not take in again what their agent copied into its own file', async () => {
    await fork(await paramsFor(2));
    const copy = new ClaudeFile(deck.home, 'aaaaaaaa-0000-4000-8000-00000000000f', cwd);
    copy.write(...[1, 2].map((n) => copy.turn(`prompt ${n}`)));
    deck.sessions.update('fork-1', { agent: 'claude-code', agentSession: copy.id });
    await deck.close();
    deck = await openDeck(deck.home, deck.storeDir);
    assert.equal((await entriesOf('fork-1')).length, 6);
    assert.equal((await deck.sessions.list(deck.client, {})).sessions.length, 2);
    copy.append(copy.turn('by hand').replaceAll('2026-01-01T', '2031-01-01T'));
    await until(() => deck.sessions.info(deck.client, { sessionId: 'fork-1' }).turnCount === 3);
    assert.equal((await entriesOf('fork-1')).length, 9);
  });

  it('leave nothing when they are cut short', async () => {
    const params = await paramsFor(2);
    await assert.rejects(deck.sessions.fork(deck.client, params, AbortSignal.abort()));
    // As a service that died in the middle of it leaves it.
    const { records } = deck.store;
    const source = records.sessions().find(({ id }) => id === SOURCE);
    assert.ok(source);
    records.putSession({
      ...source,
      id: 'fork-1',
      source: 'deck',
      parent: { sessionId: SOURCE, relation: 'fork' },
      revision: 0,
      empty: true,
    });
    records.putEntries('fork-1', 0, records.entries(SOURCE, 0, 0, 2));
    await deck.close();
    deck = await openDeck(deck.home, deck.storeDir);
    assert.equal(deck.store.records.sessions().length, 1);
    assert.equal((await fork(params)).entryCount, 6);
    assert.equal((await entriesOf('fork-1')).length, 6);
  });
});

const draft = (id: string, kind: 'user' | 'assistant', text: string) => ({
  id,
  kind,
  at: new Date().toISOString(),
  content: [{ type: 'text' as const, text }],
});
