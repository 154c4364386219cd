import assert from 'node:assert/strict';
import { TasksChanged } from '../../../src/protocol/tasks.js';
import { plainTail } from '../../../src/service/runs/plain_output.js';
import { showIndexing } from '../../../src/service/runs/index_job.js';
import { testAgent } from '../../support/agent_command.js';
import { brief, prompt, RunsHome, unaborted, until } from '../../support/runs_home.js';
import type { TestClient } from '../../support/test_client.js';

describe('background tasks', () => {
  let home: RunsHome;
  let client: TestClient;
  let sessionId: string;
  beforeEach(async () => {
    home = await RunsHome.open();
    client = home.client({ scripted: testAgent() });
    ({ sessionId } = await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] }));
  });
  afterEach(() => home.close());

  const run = (text: string) => home.runs.prompt(client, prompt(sessionId, text), unaborted);
  const params = (more: { sessionId?: string; cwd?: string; taskId?: string } = {}) => ({
    schema: 'aster.acp.session-background-tasks.v1' as const,
    sessionId,
    operationId: 'op',
    cwd: home.dir,
    ...more,
  });
  const stop = (taskId: string, more = {}) =>
    Promise.resolve().then(() => home.runs.tasks.stop(client, { ...params(more), taskId }));
  const tasks = () => home.runs.tasks.ofSession(client, params()).tasks;
  const changes = () => client.heard('deck/tasks/changed').map((change) => TasksChanged.parse(change));
  const code = (expected: string) => (error: unknown) =>
    error instanceof Error && 'code' in error && error.code === expected;

  it('lists a sub-agent with its result, newest first', async () => {
    await run('subagent looker\nsubagent writer');
    const [second, first] = tasks();
    assert.equal(first?.title, 'looker');
    assert.equal(first.kind, 'subagent');
    assert.equal(first.status, 'completed');
    assert.equal(first.result, 'looker is done');
    assert.equal(second?.title, 'writer');
    assert.ok(first.endedAt !== undefined && first.endedAt >= first.startedAt);
    assert.deepEqual(await home.runs.tasks.cancelSubagent(client, { subagentId: first.taskId }), {
      cancelled: false,
    });
  });

  it('does not cancel the turn when only that would stop a sub-agent', async () => {
    const turn = run('subagent looker 1000');
    await until(() => tasks()[0]?.status === 'running');
    const [task] = tasks();
    await assert.rejects(stop(task!.taskId), code('not_supported'));
    await assert.rejects(
      home.runs.tasks.cancelSubagent(client, { subagentId: task!.taskId }),
      code('not_supported'),
    );
    assert.equal(home.runs.activeCount, 1);
    assert.deepEqual(await turn, { stopReason: 'end_turn' });
    assert.equal(tasks()[0]?.status, 'completed');
  });

  it('ends a sub-agent with the turn that is cancelled', async () => {
    const turn = run('subagent looker 60000');
    await until(() => tasks()[0]?.status === 'running');
    home.runs.cancel(client, { sessionId });
    await turn;
    assert.equal(tasks()[0]?.status, 'cancelled');
    assert.equal(home.runs.tasks.activeCount, 0);
  });

  it('follows a sub-agent with a session of its own beyond the turn, and cancels it alone', async () => {
    await run('child looker 60000');
    const [task] = tasks();
    assert.equal(task?.status, 'running');
    assert.equal(task.title, 'looker');
    await until(() => tasks()[0]?.outputTail === 'looker looks');
    const turn = run('wait');
    assert.deepEqual(await home.runs.tasks.cancelSubagent(client, { subagentId: task.taskId }), {
      cancelled: true,
    });
    assert.equal(home.runs.activeCount, 1);
    assert.equal(tasks()[0]?.status, 'cancelled');
    home.runs.cancel(client, { sessionId });
    await turn;
    // What the child said is not the parent's.
    assert.ok(!brief(await home.entries(sessionId)).some((line) => line.includes('looks')));
    await run('child quick 50');
    await until(() => tasks()[0]?.status === 'completed');
    assert.equal(tasks()[0]?.result, 'quick looks');
  });

  it('shows a command that the agent runs itself once its call is over, until it ends', async () => {
    await run('own 0 short one');
    await run('own 800 long one');
    await until(() => tasks().length > 0);
    const [task] = tasks();
    assert.equal(task?.title, 'long one');
    assert.equal(task.kind, 'command');
    assert.equal(task.status, 'running');
    assert.equal(task.outputTail, 'long\none\n');
    await assert.rejects(stop(task.taskId), code('not_supported'));
    await until(() => tasks()[0]?.status === 'completed');
    assert.equal(tasks().length, 1);
    const outputs = (await home.entries(sessionId)).flatMap(({ tool }) => tool?.output ?? []);
    assert.deepEqual(outputs, [
      { type: 'text', text: 'short\none\n' },
      { type: 'text', text: 'long\none\n' },
    ]);
  });

  it('runs jobs of the service, which can be stopped', async () => {
    const until = (signal: AbortSignal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('off'))));
    const job = home.runs.tasks.run('Make a title', sessionId, until);
    const [task] = tasks();
    assert.equal(task?.kind, 'service');
    const [stopped] = await Promise.all([stop(task.taskId), assert.rejects(job, /off/)]);
    assert.deepEqual(stopped, { stopped: true });
    assert.equal(tasks()[0]?.status, 'cancelled');
    assert.equal(await home.runs.tasks.run('Count', undefined, () => Promise.resolve(3)), 3);
    const all = home.runs.tasks.list(client).tasks;
    assert.deepEqual(all.map(({ title, status, sessionId: of }) => [title, status, of]).sort(), [
      ['Count', 'completed', undefined],
      ['Make a title', 'cancelled', sessionId],
    ]);
    await assert.rejects(
      home.runs.tasks.run('Fail', sessionId, () => Promise.reject(new Error('no luck')), 'memory_extraction'),
      /no luck/,
    );
    assert.deepEqual(tasks().find(({ kind }) => kind === 'memory_extraction')?.result, 'no luck');
  });

  it('shows that transcripts are read when that takes a while', async () => {
    showIndexing(home.runs.tasks, Promise.resolve(), 20);
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.deepEqual(home.runs.tasks.list(client).tasks, []);
    let end: () => void = () => undefined;
    showIndexing(home.runs.tasks, new Promise<void>((resolve) => (end = resolve)), 20);
    await until(() => home.runs.tasks.activeCount === 1);
    const [task] = home.runs.tasks.list(client).tasks;
    assert.deepEqual([task?.kind, task?.sessionId], ['service', undefined]);
    await assert.rejects(stop(task!.taskId), code('task_unavailable'));
    end();
    await until(() => home.runs.tasks.activeCount === 0);
    assert.equal(home.runs.tasks.list(client).tasks[0]?.status, 'completed');
  });

  it('answers unknown sessions, folders and tasks with errors', async () => {
    await run('background sleep 30');
    const [task] = tasks();
    const other = await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] });
    await assert.rejects(stop('nobody'), code('task_unavailable'));
    await assert.rejects(stop(task!.taskId, { sessionId: other.sessionId }), code('task_unavailable'));
    await assert.rejects(stop(task!.taskId, { sessionId: 'nobody' }), code('session_unavailable'));
    await assert.rejects(stop(task!.taskId, { cwd: '/' }), code('session_unavailable'));
    const cancel = (more: { subagentId: string; sessionId?: string }, by = client) =>
      home.runs.tasks.cancelSubagent(by, more);
    await assert.rejects(cancel({ subagentId: task!.taskId }), code('task_unavailable'));
    await assert.rejects(cancel({ subagentId: 'x', sessionId: 'nobody' }), code('session_unavailable'));
    const stranger = home.client({}, { workspaces: ['/elsewhere'] });
    assert.deepEqual(home.runs.tasks.list(stranger).tasks, []);
    assert.throws(() => home.runs.tasks.ofSession(stranger, params()), code('session_unavailable'));
    await run('subagent looker');
    const looker = tasks().find(({ title }) => title === 'looker');
    await assert.rejects(cancel({ subagentId: looker!.taskId }, stranger), code('task_unavailable'));
    assert.deepEqual(stranger.heard('deck/tasks/changed'), []);
    assert.equal(tasks().find(({ taskId }) => taskId === task?.taskId)?.status, 'running');
  });

  it('announces at most four times a second, and the end', async () => {
    const before = changes().length;
    const begun = Date.now();
    await run('terminal i=0; while [ $i -lt 100 ]; do echo $i; sleep 0.01; i=$((i+1)); done');
    await until(() => changes().at(-1)?.upserted[0]?.status === 'completed');
    const quarters = (Date.now() - begun) / 250;
    const heard = changes().slice(before);
    assert.ok(heard.length >= 3 && heard.length <= quarters + 3, `${heard.length} in ${quarters} quarters`);
    assert.match(heard.at(-1)?.upserted[0]?.outputTail ?? '', /\n99\n$/);
    assert.equal(heard.at(-1)?.upserted[0]?.sessionId, sessionId);
  });

  it('keeps the newest 200 that have ended', () => {
    for (let n = 0; n < 205; n += 1)
      home.runs.tasks
        .start({ kind: 'service', title: `job ${n}`, sessionId, stop: () => Promise.resolve(true) })
        .end('completed');
    assert.equal(tasks().length, 200);
    assert.equal(changes().flatMap(({ removed }) => removed).length, 5);
  });

  it('says of what ran when the service died that it failed', async () => {
    await run('background sleep 30');
    const [task] = tasks();
    await home.crash();
    const [after] = tasks();
    assert.equal(after?.taskId, task?.taskId);
    assert.equal(after?.status, 'failed');
    assert.match(after.result ?? '', /service ended/);
    assert.deepEqual(await stop(task!.taskId), { stopped: false });
  });

  it('shows output without control sequences, at most 4,000 characters of it', () => {
    assert.equal(plainTail('\u001b[31mred\u001b[0m \u001b]0;title\u0007x\b\n'), 'red x\n');
    assert.equal(plainTail('10 %\r50 %\r100 %\r\ndone\r'), '100 %\ndone');
    assert.equal(plainTail(`${'😀'.repeat(3000)}a`).length, 3999);
    const begun = Date.now();
    plainTail(`\u001b]${'x'.repeat(30_000)}\r${'\u001b['.repeat(20_000)}`);
    assert.ok(Date.now() - begun < 1000);
  });
});
