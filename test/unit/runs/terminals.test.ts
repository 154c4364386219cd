import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Entry } from '../../../src/protocol/entry.js';
import { testAgent } from '../../support/agent_command.js';
import { brief, prompt, RunsHome, unaborted, until } from '../../support/runs_home.js';
import { isRunning } from '../../support/processes.js';
import type { TestClient } from '../../support/test_client.js';

describe('terminals of agents', () => {
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
  const calls = async () => (await home.entries(sessionId)).filter(({ tool }) => tool);
  const said = async () =>
    brief(await home.entries(sessionId)).filter((line) => line.startsWith('assistant'));
  const text = ({ tool }: Entry) =>
    (tool?.output ?? []).map((block) => ('text' in block ? block.text : block.type)).join('|');
  const tasks = () => home.runs.tasks.list(client).tasks;
  const pids = async (name: string) =>
    (await readFile(join(home.dir, name), 'utf8')).trim().split('\n').map(Number);
  const pidsWritten = async (name: string, count: number) => {
    await until(async () => (await pids(name).catch(() => [])).length >= count);
    return pids(name);
  };

  it('runs a command and keeps its output, exit code and duration in the entry', async () => {
    await run('terminal printf "one\\n"; printf "two\\n" >&2; exit 3');
    const [call] = await calls();
    assert.ok(call);
    assert.deepEqual(text(call).split('\n').sort(), ['', 'one', 'two']);
    assert.equal(call.tool?.exitCode, 3);
    assert.equal(typeof call.tool.durationMs, 'number');
    assert.deepEqual(await said(), ['assistant: exit 3']);
    const [task] = tasks();
    assert.equal(task?.status, 'failed');
    assert.equal(task.result, 'Exit code 3.');
    assert.equal(task.taskId, call.tool.taskId);
    assert.equal(home.runs.tasks.activeCount, 0);
  });

  it('shows the output while the command runs', async () => {
    const turn = run('terminal echo early; sleep 5; echo late');
    await until(async () => (await calls()).some((call) => text(call) === 'early\n'));
    home.runs.cancel(client, { sessionId });
    await turn;
    assert.equal(text((await calls())[0]!), 'early\n');
  });

  it('passes environment and arguments as they are', async () => {
    const params = {
      command: process.execPath,
      args: ['-e', 'console.log(process.argv[1], process.env.WORD, process.cwd())', 'a b'],
      env: [{ name: 'WORD', value: 'of mine' }],
    };
    await run(`call terminal/create ${JSON.stringify(params)}`);
    await until(() => tasks().some(({ status }) => status === 'completed'));
    assert.equal(tasks()[0]?.outputTail, `a b of mine ${home.dir}\n`);
  });

  it('keeps the end of a flood, whole characters only, and says that it was cut', async function () {
    this.timeout(30_000);
    await run('terminal yes "äöü" | head -c 100000000');
    assert.deepEqual(await said(), ['assistant: exit 0, truncated']);
    const params = { command: 'yes "ä" | head -c 3000', outputByteLimit: 100 };
    await run(`call terminal/create ${JSON.stringify(params)}`);
    const id = /"terminalId":"([^"]+)"/.exec((await said())[1]!)?.[1];
    await run(`call terminal/wait_for_exit {"terminalId":"${id}"}`);
    await run(`call terminal/output {"terminalId":"${id}"}`);
    const answer = (await said()).at(-1)!;
    assert.match(answer, /"truncated":true/);
    assert.doesNotMatch(answer, /\ufffd/);
    const { output } = z.object({ output: z.string() }).parse(JSON.parse(answer.slice(answer.indexOf('{'))));
    assert.ok(Buffer.byteLength(output) <= 100 && Buffer.byteLength(output) > 95, output);
    const [call] = await calls();
    assert.ok(text(call!).length <= 1024 * 1024);
  });

  it('says why a command cannot start', async () => {
    await run('call terminal/create {"command":"no-such-program","args":["x"]}');
    await run('call terminal/create {"command":"ls","cwd":"/"}');
    await run(`call terminal/create {"command":"ls","cwd":"${home.dir}/gone"}`);
    await run('call terminal/create {"command":"ls","cwd":"here"}');
    await run('call terminal/create {"command":""}');
    await run('call terminal/output {"terminalId":"nobody"}');
    const answers = await said();
    assert.match(answers[0]!, /error -32603: .*could not be started.*ENOENT/);
    assert.match(answers[1]!, /error -32602: .*outside of the folders/);
    assert.match(answers[2]!, /error -32602: .*no folder/);
    assert.match(answers[3]!, /error -32602: .*absolute/);
    assert.match(answers[4]!, /error -32602/);
    assert.match(answers[5]!, /error -32002/);
    assert.deepEqual(tasks(), []);
  });

  it('starts nothing for a window that is not trusted', async () => {
    const turn = run('slow 500\ncall terminal/create {"command":"touch made"}');
    await until(() => home.runs.activeCount === 1);
    client.options = { ...client.options, trusted: false };
    await turn;
    assert.match((await said())[0]!, /error -32600: .*not trusted/);
    assert.deepEqual(tasks(), []);
  });

  it('knows no terminal of another session', async () => {
    await run('background sleep 30');
    const id = (await said())[0]!.replace('assistant: ', '');
    const other = await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] });
    await home.runs.prompt(
      client,
      prompt(other.sessionId, `call terminal/kill {"terminalId":"${id}"}`),
      unaborted,
    );
    assert.match(brief(await home.entries(other.sessionId)).at(-1)!, /error -32002/);
    assert.equal(home.runs.tasks.activeCount, 1);
  });

  it('goes on after the turn, and ends with everything that it started when it is stopped', async function () {
    this.timeout(20_000);
    // A child, a grandchild that is deaf to SIGTERM, and one that leaves the process group.
    const deaf = `sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1; done' &`;
    const leave = process.platform === 'linux' ? 'setsid ' : '';
    const stray = `${leave}sh -c 'echo $$ >> pids; exec sleep 100' &`;
    await run(`background echo $$ >> pids; ${deaf} ${stray} echo begun; wait`);
    const all = await pidsWritten('pids', 3);
    assert.ok(all.every(isRunning));
    const task = tasks()[0]!;
    assert.equal(task.status, 'running');
    assert.equal(task.outputTail, 'begun\n');
    const stop = () =>
      home.runs.tasks.stop(client, {
        schema: 'aster.acp.session-background-tasks.v1',
        sessionId,
        operationId: 'o',
        cwd: home.dir,
        taskId: task.taskId,
      });
    assert.deepEqual(await Promise.all([stop(), stop()]), [{ stopped: true }, { stopped: true }]);
    assert.deepEqual(all.filter(isRunning), []);
    assert.deepEqual(await stop(), { stopped: false });
    assert.equal(tasks()[0]?.status, 'cancelled');
    // The entry of the turn that is over has the last output.
    await until(async () => text((await calls())[0]!) === 'begun\n');
  });

  it('stays a task while what a command left behind runs', async function () {
    this.timeout(20_000);
    await run('terminal echo one; exec sh -c "exit 0"');
    await run('background (sleep 100 & echo $! > left) ; echo over');
    const [left] = await pidsWritten('left', 1);
    await until(async () => text((await calls())[1]!) === 'over\n');
    assert.equal(home.runs.tasks.activeCount, 1);
    const [task] = tasks();
    process.kill(left!, 'SIGKILL');
    await until(() => home.runs.tasks.activeCount === 0);
    assert.equal(tasks().find(({ taskId }) => taskId === task?.taskId)?.status, 'completed');
  });

  it('ends with its agent, its session and the service', async function () {
    this.timeout(20_000);
    await run('background echo $$ > agent; exec sleep 100');
    const [first] = await pidsWritten('agent', 1);
    await assert.rejects(run('die'));
    await until(() => !isRunning(first!));
    await run('background echo $$ > session; exec sleep 100');
    const [second] = await pidsWritten('session', 1);
    await home.runs.close(client, { sessionId });
    assert.equal(isRunning(second!), false);
    await run('background echo $$ > service; exec sleep 100');
    const [third] = await pidsWritten('service', 1);
    await home.runs.stopAll();
    assert.equal(isRunning(third!), false);
  });

  it('keeps its agent from being ended for idleness', async () => {
    await mkdir(join(home.dir, 'x'));
    const own = await RunsHome.open({}, { idleMs: 50 });
    try {
      const peer = own.client({ scripted: testAgent({ features: ['resume'] }) });
      const session = await own.runs.newSession(peer, { cwd: own.dir, mcpServers: [] });
      await own.runs.prompt(peer, prompt(session.sessionId, 'background sleep 0.6'), unaborted);
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.equal(own.runs.tasks.activeCount, 1);
      await until(() => own.runs.tasks.activeCount === 0);
      assert.equal(own.runs.tasks.list(peer).tasks[0]?.result, 'Exit code 0.');
    } finally {
      await own.close();
    }
  });
});
