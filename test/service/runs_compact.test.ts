import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testAgent } from '../support/agent_command.js';
import { brief, prompt, RunsHome, unaborted, until } from '../support/runs_home.js';
import type { TestClient } from '../support/test_client.js';

describe('runs: compaction', function () {
  this.timeout(20_000);
  let home: RunsHome;
  let client: TestClient;
  let sessionId: string;
  beforeEach(async () => {
    home = await RunsHome.open({ cancelMs: 400, commandsMs: 300 });
  });
  afterEach(async () => {
    await home.close();
  });
  const open = async (...features: string[]) => {
    client = home.client({ a: testAgent({ features }) });
    ({ sessionId } = await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] }));
  };
  const run = (text: string) => home.runs.prompt(client, prompt(sessionId, text), unaborted);
  const compact = (userContext?: string, signal = unaborted) =>
    home.runs.compact(client, { sessionId, ...(userContext === undefined ? {} : { userContext }) }, signal);

  it("runs the agent's own command and shows it as an entry; nothing else changes", async () => {
    await open('compact');
    await run('echo hello\nusage 5000');
    const before = await home.entries(sessionId);
    const result = await compact('keep the plan');
    assert.deepEqual(result, {
      compactionId: result.compactionId,
      status: 'completed',
      tokensBefore: 5000,
      tokensAfter: 1000,
    });
    const after = await home.entries(sessionId);
    assert.deepEqual(after.slice(0, before.length), before);
    assert.deepEqual(brief(after.slice(before.length)), ['compaction: Compacted. keep the plan']);
    const entry = after.at(-1);
    assert.equal(entry?.status, 'completed');
    assert.deepEqual(entry.compaction, { trigger: 'user', tokensBefore: 5000, tokensAfter: 1000 });
    assert.equal(home.state(sessionId), 'idle');
    await run('recall');
    assert.equal(brief(await home.entries(sessionId)).at(-1), 'assistant: 0 before, last: none');
  });

  it('says that the agent cannot, when it offers no such command', async () => {
    await open();
    await assert.rejects(compact(), { code: 'not_supported', message: /Scripted agent offers no "compact"/ });
    assert.deepEqual(await home.entries(sessionId), []);
  });

  it('joins the one that runs, and keeps prompts out meanwhile', async () => {
    await open('compact');
    const controller = new AbortController();
    const first = compact('slow', controller.signal);
    await until(() => home.runs.activeCount === 1);
    const second = compact();
    await assert.rejects(run('echo x'), { code: 'turn_in_progress' });
    controller.abort();
    await assert.rejects(first, { code: 'cancelled' });
    await assert.rejects(second, { code: 'cancelled' });
    const [joined, own] = await Promise.all([compact('a'), compact('b')]);
    assert.equal(joined.status, 'completed');
    assert.deepEqual(own, { ...joined, status: 'already_running' });
    assert.deepEqual(
      (await home.entries(sessionId)).map(({ status }) => status),
      ['cancelled', 'completed'],
    );
  });

  it('is refused during a run', async () => {
    await open('compact');
    const turn = run('slow 100');
    await assert.rejects(compact(), { code: 'turn_in_progress' });
    await turn;
  });

  it('leaves things as they were when it fails', async () => {
    await open('compact');
    await run('echo hello');
    await assert.rejects(compact('fail'), { code: 'agent_failed', message: /nothing to compact/ });
    const entry = (await home.entries(sessionId)).at(-1);
    assert.equal(entry?.status, 'failed');
    assert.match(entry.compaction?.error ?? '', /nothing to compact/);
    assert.equal(home.state(sessionId), 'idle');
    await run('recall');
    assert.match(brief(await home.entries(sessionId)).at(-1) ?? '', /^assistant: 2 before/);
  });

  it('starts the agent to learn its commands when the session is not open', async () => {
    client = home.client({ a: testAgent({ dir: join(home.dir, 'agent') }) });
    ({ sessionId } = await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] }));
    await run('echo hello');
    await home.runs.close(client, { sessionId });
    assert.equal((await compact()).status, 'completed');
  });

  it('compacts nothing in an agent that does not know the conversation', async () => {
    await open('compact');
    await run('echo hello\ndie').catch(() => undefined);
    await assert.rejects(compact(), { code: 'not_supported', message: /nothing to compact/ });
    await run('heard');
    assert.match(brief(await home.entries(sessionId)).at(-1) ?? '', /Assistant: hello/);
  });

  it('hands back what was interjected meanwhile when it is cancelled', async () => {
    await open('compact');
    const running = compact('slow');
    await until(() => home.runs.activeCount === 1);
    const { status, interjectionId } = await home.runs.interject(client, { sessionId, text: 'wait for me' });
    assert.equal(status, 'queued');
    home.runs.cancel(client, { sessionId });
    await assert.rejects(running, { code: 'cancelled' });
    await sleep(20);
    const [row] = home.runs.interjections(client, { sessionId }).interjections;
    assert.deepEqual([row?.interjectionId, row?.state], [interjectionId, 'returned']);
  });
});
