import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import * as z from 'zod';
import { AttachError } from '../../src/attach/errors.js';
import { endpointFiles } from '../../src/attach/paths.js';
import { readLine } from '../../src/attach/line.js';
import { isAlive, outcome, ServicePlace, until } from '../support/service.js';
import { buildService } from '../support/service_build.js';

describe('attaching to the service', function () {
  this.timeout(60_000);
  let place: ServicePlace;
  before(() => buildService());
  beforeEach(() => {
    place = new ServicePlace();
  });
  afterEach(() => place.dispose());

  it('starts one service for callers that come at the same time', async () => {
    const attached = await Promise.all([1, 2, 3].map(() => place.attach()));
    assert.equal(new Set(attached.map(({ pid }) => pid)).size, 1);
    assert.equal(attached.filter(({ started }) => started).length, 1);
  });

  it('attaches to the service that is there, which outlives its first client', async () => {
    const first = await place.attach();
    const second = await place.attach({ surface: 'acp' });
    assert.equal(second.pid, first.pid);
    assert.equal(second.started, false);
    first.socket.destroy();
    await until(() => first.socket.closed, 'the first socket closes');
    const third = await place.attach();
    assert.equal(third.pid, first.pid);
    assert.equal(second.socket.destroyed, false);
  });

  it('keeps the endpoint and the socket from other users, and removes both when it ends', async () => {
    const { pid } = await place.attach();
    const endpoint = place.endpoint()!;
    assert.equal(endpoint.pid, pid);
    assert.equal(fs.statSync(endpointFiles(place.store).inStore).mode & 0o777, 0o600);
    assert.equal(fs.statSync(path.dirname(endpoint.socket)).mode & 0o777, 0o700);
    assert.match(endpoint.token, /^[0-9a-f]{64}$/);
    process.kill(pid, 'SIGTERM');
    await until(() => !isAlive(pid), 'the service ends');
    assert.equal(place.endpoint(), undefined);
    assert.equal(fs.existsSync(path.dirname(endpoint.socket)), false);
  });

  it('ends when nobody is attached for a while, not earlier', async () => {
    place.env['SESSION_DECK_IDLE_MS'] = '300';
    const { pid, socket } = await place.attach();
    await new Promise((resolve) => setTimeout(resolve, 900));
    assert.equal(isAlive(pid), true);
    socket.destroy();
    await until(() => !isAlive(pid), 'the service ends', 5_000);
    assert.match(place.log(), /nobody is attached/);
  });

  it('does not mind the end of the terminal that started it', async () => {
    const { pid } = await place.attach();
    process.kill(pid, 'SIGHUP');
    await until(() => place.log().includes('SIGHUP'), 'the signal is logged');
    const { pid: later } = await place.attach();
    assert.equal(later, pid);
  });

  it('replaces a service that was killed', async () => {
    const first = await place.attach();
    process.kill(first.pid, 'SIGKILL');
    await until(() => !isAlive(first.pid), 'the service is gone');
    assert.equal(place.endpoint()?.pid, first.pid);
    const second = await place.attach();
    assert.notEqual(second.pid, first.pid);
    assert.equal(second.started, true);
  });

  it('ends when its store is removed, so that no two serve one store', async () => {
    const { pid, socket } = await place.attach();
    socket.on('error', () => undefined);
    fs.rmSync(place.store, { recursive: true });
    await until(() => !isAlive(pid), 'the service ends', 20_000);
    const next = await place.attach();
    assert.notEqual(next.pid, pid);
    next.socket.destroy();
  });

  it('is not misled by an endpoint file that makes no sense', async () => {
    fs.mkdirSync(place.store, { recursive: true });
    fs.writeFileSync(endpointFiles(place.store).inStore, '{"protocol": 1, "pid"');
    assert.equal((await place.attach()).started, true);
  });

  it('refuses a wrong token, a wrong wire and what is no hello', async () => {
    await place.attach();
    const endpoint = place.endpoint()!;
    const hello = {
      hello: 'session-deck',
      protocol: 1,
      version: '0.1.0',
      token: endpoint.token,
      surface: 'editor',
      client: { workspaces: [], allFolders: false, trusted: false, config: {} },
    };
    const say = async (line: string) => {
      const socket = net.connect(endpoint.socket);
      socket.on('error', () => undefined);
      socket.write(`${line}\n`);
      const answer: unknown = JSON.parse(await readLine(socket, 10_000, 5_000));
      await until(
        () => socket.closed || socket.readableEnded || (socket.resume(), false),
        'the socket closes',
      );
      return answer;
    };
    const refused = async (line: string, reason: string) => {
      const answer = await say(line);
      assert.deepEqual({ ...Object(answer), message: '' }, { ok: false, reason, message: '' });
    };
    await refused(JSON.stringify({ ...hello, token: '0'.repeat(64) }), 'unauthorized');
    await refused(JSON.stringify({ ...hello, token: '' }), 'unauthorized');
    await refused(JSON.stringify({ ...hello, protocol: 99 }), 'protocol_mismatch');
    await refused('GET / HTTP/1.1', 'invalid');
  });

  it('hands over to a newer version when idle', async () => {
    const old = await place.attach({ version: '0.0.9' });
    assert.equal(old.version, '0.0.9');
    old.socket.destroy();
    const now = await place.attach({ version: '0.2.0' });
    assert.equal(now.version, '0.2.0');
    assert.notEqual(now.pid, old.pid);
    await until(() => !isAlive(old.pid), 'the older service ends');
  });

  it('uses an older service that is busy as it is, and never trades a newer one for an older', async () => {
    const old = await place.attach({ version: '0.0.9' });
    const now = await place.attach({ version: '0.2.0' });
    assert.equal(now.pid, old.pid);
    now.socket.destroy();
    old.socket.destroy();
    const newer = await place.attach({ version: '0.2.0' });
    assert.equal(newer.version, '0.2.0');
    newer.socket.destroy();
    const older = await place.attach({ version: '0.0.9' });
    assert.equal(older.version, '0.2.0');
  });

  it('says why a service cannot start', async () => {
    fs.mkdirSync(place.store, { recursive: true });
    fs.mkdirSync(path.join(place.store, 'store-v1.db'));
    await assert.rejects(place.attach(), (error) => {
      assert.ok(error instanceof AttachError);
      assert.equal(error.failure, 'start_failed');
      assert.match(error.message, /did not start: \S/);
      return true;
    });
  });

  it('does not end its caller when the store is removed under the service', async () => {
    const { pid, socket } = await place.attach();
    socket.destroy();
    fs.rmSync(place.store, { recursive: true });
    process.kill(pid, 'SIGKILL');
    // What is thrown when a child's end is told would end this process.
    await until(() => !isAlive(pid), 'the service ends');
    const again = await place.attach();
    assert.notEqual(again.pid, pid);
  });

  it('starts a service from the command line and prints who it is', async () => {
    const first = await outcome(await place.command('--attach-or-start'));
    assert.equal(first.code, 0, first.stderr);
    const { pid, started } = z
      .object({ pid: z.number(), started: z.boolean() })
      .parse(JSON.parse(first.stdout));
    assert.equal(started, true);
    assert.equal((await place.attach()).pid, pid);
    const second = await outcome(await place.command('--attach-or-start'));
    assert.deepEqual({ ...JSON.parse(second.stdout), version: '' }, { pid, started: false, version: '' });
  });
});

describe('the command line', function () {
  this.timeout(30_000);
  let place: ServicePlace;
  beforeEach(() => {
    place = new ServicePlace();
  });
  afterEach(() => place.dispose());

  it('prints its version', async () => {
    const { code, stdout } = await outcome(await place.command('--version'));
    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  });

  it('refuses bad arguments with one sentence and code 2', async () => {
    const config = path.join(place.workspace, 'config.json');
    fs.writeFileSync(config, JSON.stringify({ agents: { a: { command: 7 } } }));
    const unknownAgent = path.join(place.workspace, 'agent.json');
    fs.writeFileSync(unknownAgent, JSON.stringify({ agents: {}, defaultAgent: 'ghost' }));
    const cases: [string[], RegExp][] = [
      [[], /say what to do/],
      [['dance'], /unknown command "dance"/],
      [['acp', '--bogus'], /--bogus/],
      [['acp', 'extra'], /extra/],
      [['acp', '--workspace', ''], /--workspace/],
      [['acp', '--store'], /--store/],
      [['acp', '--config', '/nowhere/config.json'], /cannot read the configuration/],
      [['acp', '--config', config], /agents\.a\.command/],
      [['acp', '--config', unknownAgent], /ghost/],
      [['serve', '--workspace', '/tmp'], /--workspace/],
      [['http'], /http/],
    ];
    for (const [args, sentence] of cases) {
      const { code, stdout, stderr } = await outcome(await place.command(...args));
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
      assert.equal(stdout, '');
      assert.match(stderr, sentence);
      assert.match(stderr, /^session-deck: [^\n]+\n$/);
    }
    assert.equal(place.endpoint(), undefined);
  });
});
