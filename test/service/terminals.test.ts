import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { NewResult } from '../../src/protocol/acp.js';
import { BackgroundTasksResult } from '../../src/protocol/aster.js';
import { AcpPlace, type AcpPeer } from '../support/acp_place.js';
import { testAgent } from '../support/agent_command.js';
import { EditorPeer } from '../support/editor_peer.js';
import { isRunning } from '../support/processes.js';
import { isAlive, until } from '../support/service.js';

const schema = 'aster.acp.session-background-tasks.v1' as const;
const OfTerminal = z.object({ sessionId: z.string(), terminalId: z.string() });

/** An ACP client's own terminals: one that writes "there" and runs until it is killed or told to exit. */
class ClientTerminals {
  readonly calls: string[] = [];
  exit: (exitCode: number) => void = () => undefined;
  private readonly exited = new Promise<number>((resolve) => (this.exit = resolve));
  private code: number | undefined;

  answer(method: string, params: unknown): unknown {
    if (method === 'terminal/create') {
      const { command, sessionId } = z
        .looseObject({ command: z.string(), sessionId: z.string() })
        .parse(params);
      this.calls.push(`create ${command} ${sessionId}`);
      return { terminalId: 'of-the-client' };
    }
    const { terminalId, sessionId } = OfTerminal.parse(params);
    this.calls.push(`${method.slice('terminal/'.length)} ${terminalId} ${sessionId}`);
    switch (method) {
      case 'terminal/wait_for_exit':
        return this.exited.then((exitCode) => ({ exitCode: (this.code = exitCode) }));
      case 'terminal/output':
        return {
          output: 'there\n',
          truncated: false,
          ...(this.code === undefined ? {} : { exitStatus: { exitCode: this.code } }),
        };
      case 'terminal/kill':
        this.exit(9);
        return {};
      default:
        return {};
    }
  }
}

describe('terminals and tasks of a service', function () {
  this.timeout(60_000);
  let place: AcpPlace;
  beforeEach(() => (place = new AcpPlace()));
  afterEach(async () => {
    place.leaveAll();
    await place.dispose();
  });

  const pidIn = (name: string) =>
    until(() => {
      const file = path.join(place.workspace, name);
      return fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0;
    }, `${name} is written`);
  const editor = async () => {
    const peer = await EditorPeer.open(place, { config: { agents: { scripted: testAgent() } } });
    const { sessionId } = await peer.request('session/new', { cwd: place.workspace, mcpServers: [] });
    return { peer, sessionId };
  };
  const say = (peer: EditorPeer, sessionId: string, text: string) =>
    peer.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  const client = async () => {
    const peer = await place.open({ terminal: true });
    const terminals = new ClientTerminals();
    for (const name of ['create', 'output', 'wait_for_exit', 'kill', 'release'])
      peer.rpc.answers.set(`terminal/${name}`, (params) => terminals.answer(`terminal/${name}`, params));
    const { sessionId } = await peer.rpc.request(
      'session/new',
      { cwd: place.workspace, mcpServers: [] },
      NewResult,
    );
    const tasks = async () =>
      (
        await peer.rpc.request(
          'aster/session/background-tasks/v1',
          { schema, sessionId, operationId: 'o', cwd: place.workspace },
          BackgroundTasksResult,
        )
      ).tasks;
    return { peer, terminals, sessionId, tasks };
  };
  const entriesOf = async (sessionId: string) => {
    const peer = await EditorPeer.open(place);
    const page = await peer.request('aster/session/transcript/page/v1', {
      schema: 'aster.acp.session-transcript-page.v1',
      sessionId,
      operationId: 'p',
      cwd: place.workspace,
    });
    peer.close();
    return page.entries;
  };

  it('lists and stops a command, alike for the editor and an ACP client', async () => {
    const { peer, sessionId } = await editor();
    await say(peer, sessionId, 'background echo $$ > pid; echo begun; exec sleep 100');
    const pid = await pidIn('pid');
    const of = { schema, sessionId, operationId: 'o', cwd: place.workspace };
    const [task] = (await peer.request('aster/session/background-tasks/v1', of)).tasks;
    assert.equal(task?.status, 'running');
    assert.deepEqual((await peer.request('deck/tasks', {})).tasks, [{ ...task, sessionId }]);
    const { rpc } = await place.open();
    const there = await rpc.request('_aster/session/background-tasks/v1', of, BackgroundTasksResult);
    assert.deepEqual([there.operationId, there.tasks], ['o', [task]]);
    const stop = 'aster/session/background-tasks/stop/v1';
    assert.equal((await rpc.call(stop, { ...of, taskId: 'nobody' })).error?.code, -32602);
    assert.equal(
      (await rpc.call(stop, { ...of, sessionId: 'nobody', taskId: task.taskId })).error?.code,
      -32002,
    );
    assert.equal((await rpc.call(stop, { ...of, schema: 'x', taskId: task.taskId })).error?.code, -32602);
    assert.equal((await peer.refused(stop, { ...of, sessionId: 'x', taskId: task.taskId })).code, 1404);
    assert.equal(isRunning(pid), true);
    assert.deepEqual((await rpc.call(stop, { ...of, taskId: task.taskId })).result, { stopped: true });
    assert.equal(isRunning(pid), false);
    assert.deepEqual(await peer.request(stop, { ...of, taskId: task.taskId }), { stopped: false });
    assert.equal((await rpc.call('aster/subagent/cancel', { subagentId: 'nobody' })).error?.code, -32602);
    peer.close();
  });

  it('has the client that owns the turn run commands, and shows them elsewhere as text', async () => {
    const { peer, terminals, sessionId, tasks } = await client();
    const other = await place.open();
    await other.load(sessionId);
    const turn = peer.prompt(sessionId, 'terminal make it');
    await until(() => terminals.calls.length >= 2, 'the client runs it');
    assert.equal((await tasks())[0]?.title, 'make it');
    terminals.exit(4);
    assert.deepEqual((await turn).result, { stopReason: 'end_turn' });
    assert.equal(peer.text(sessionId), 'exit 4');
    assert.equal(terminals.calls[0], `create make it ${sessionId}`);
    assert.equal(terminals.calls.filter((call) => call === `release of-the-client ${sessionId}`).length, 1);
    const shown = ({ rpc }: AcpPeer) => JSON.stringify(rpc.notifications('session/update'));
    assert.match(shown(peer), /"terminalId":"of-the-client"/);
    assert.match(shown(other), /"text":"there\\n"/);
    assert.doesNotMatch(shown(other), /terminalId/);
    assert.equal(peer.updates(sessionId, 'tool_call', 'tool_call_update')[0]?.sessionUpdate, 'tool_call');
    const call = (await entriesOf(sessionId)).find(({ tool }) => tool)?.tool;
    assert.deepEqual(call?.output, [{ type: 'text', text: 'there\n' }]);
    assert.equal(call.exitCode, 4);
    assert.equal((await tasks())[0]?.result, 'Exit code 4.');
  });

  it('stops a command that the client runs, and outlives that client', async () => {
    const { peer, sessionId, tasks } = await client();
    await peer.prompt(sessionId, 'background make it');
    const [task] = await tasks();
    const of = { schema, sessionId, operationId: 'o', cwd: place.workspace, taskId: task!.taskId };
    const { result } = await peer.rpc.call('aster/session/background-tasks/stop/v1', of);
    assert.deepEqual(result, { stopped: true });
    assert.equal((await tasks())[0]?.status, 'cancelled');
    const second = await client();
    void second.peer.prompt(second.sessionId, 'terminal make more').catch(() => undefined);
    await until(async () => (await second.tasks())[0]?.status === 'running', 'it runs');
    second.peer.vanish();
    const here = await EditorPeer.open(place);
    await until(async () => {
      const all = (await here.request('deck/tasks', {})).tasks;
      return all.every(({ status }) => status !== 'running');
    }, 'the command counts as ended');
    await until(
      async () =>
        (await here.request('aster/session/info', { sessionId: second.sessionId })).state !== 'running',
      'the turn has ended',
    );
    here.close();
  });

  it('ends commands when the service is killed, and says so at the next start', async () => {
    const { peer, sessionId } = await editor();
    await say(peer, sessionId, 'background echo $$ > pid; (trap "" TERM HUP; sleep 100) & exec sleep 100');
    const pid = await pidIn('pid');
    process.kill(peer.pid, 'SIGKILL');
    await until(() => !isRunning(pid), 'the command has ended');
    peer.close();
    const again = await EditorPeer.open(place);
    const { tasks } = await again.request('deck/tasks', {});
    assert.equal(tasks[0]?.status, 'failed');
    assert.match(tasks[0].result ?? '', /The session service ended/);
    again.close();
  });

  it('does not end for idleness while a command runs, and then does', async () => {
    place.env['SESSION_DECK_IDLE_MS'] = '300';
    const { peer, sessionId } = await editor();
    await say(peer, sessionId, 'background echo $$ > pid; exec sleep 3');
    const pid = await pidIn('pid');
    peer.close();
    await sleep(1500);
    assert.equal(isRunning(pid), true);
    assert.equal(isAlive(peer.pid), true);
    await until(() => !isAlive(peer.pid), 'the service ends');
    assert.equal(isRunning(pid), false);
  });

  it('ends commands when it is asked to end', async () => {
    const { peer, sessionId } = await editor();
    await say(peer, sessionId, `background echo $$ > pid; trap '' TERM; while :; do sleep 1; done`);
    const pid = await pidIn('pid');
    await peer.request('deck/service/stop', { force: true });
    await until(() => !isAlive(peer.pid), 'the service ends');
    assert.equal(isRunning(pid), false);
    peer.close();
  });
});
