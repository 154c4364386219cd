import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { AgentConnection } from '../../src/service/agents/agent_connection.js';
import { AgentPool, type AgentPoolOptions } from '../../src/service/agents/agent_pool.js';
import type { AgentSpec } from '../../src/service/agents/agent_process.js';
import { testAgent, type TestAgentOptions } from '../support/agent_command.js';

const log = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };
const SessionAnswer = z.looseObject({ sessionId: z.string() });

function specOf(options: TestAgentOptions = {}): AgentSpec {
  const { command, args = [], env = {}, title = '' } = testAgent(options);
  return { id: 'scripted', title, command, args, env };
}

/** A program of one line of JavaScript instead of the scripted agent. */
const program = (code: string): AgentSpec => ({
  id: 'program',
  title: 'Program',
  command: process.execPath,
  args: ['-e', code],
  env: {},
});

/** A zombie, which nobody reaps in some containers, is not alive. */
const alive = (pid: number) =>
  spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
    .stdout.trim()
    .replace(/^Z.*/, '') !== '';

async function openSession(connection: AgentConnection): Promise<{ id: string; updates: unknown[] }> {
  const { sessionId } = SessionAnswer.parse(
    await connection.request('session/new', { cwd: process.cwd(), mcpServers: [] }, 5000),
  );
  const updates: unknown[] = [];
  connection.attach(sessionId, {
    update: (update) => updates.push(update),
    permission: () => Promise.resolve({ outcome: { outcome: 'cancelled' } }),
    request: () => Promise.reject(new Error('not here')),
    elicitationComplete: () => undefined,
    claudeMessage: () => undefined,
  });
  return { id: sessionId, updates };
}

const prompt = (connection: AgentConnection, sessionId: string, text: string) =>
  connection.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });

describe('agent processes', function () {
  this.timeout(20_000);
  let pools: AgentPool[] = [];
  const poolOf = (options: Partial<AgentPoolOptions> = {}) => {
    const pool = new AgentPool({ log, version: '0.0.0', ...options });
    pools.push(pool);
    return pool;
  };
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    pools = [];
  });

  it('shares one process among sessions and starts another after a crash', async () => {
    const pool = poolOf();
    const [a, b] = await Promise.all([pool.lease(specOf()), pool.lease(specOf())]);
    assert.equal(a.connection, b.connection);
    const other = await pool.lease(specOf({ env: { OTHER: '1' } }));
    assert.notEqual(other.connection, a.connection);
    const session = await openSession(a.connection);
    await assert.rejects(prompt(a.connection, session.id, 'die 9'), {
      code: 'agent_failed',
      message: 'Scripted agent ended with exit code 9: dying on purpose',
    });
    const again = await pool.lease(specOf());
    assert.notEqual(again.connection.pid, a.connection.pid);
    assert.equal(other.connection.alive, true);
  });

  it('hears updates that come before the answer of session/new, and all updates before the answer of the turn', async () => {
    const { connection } = await poolOf().lease(specOf());
    const session = await openSession(connection);
    assert.match(JSON.stringify(session.updates[0]), /available_commands_update/);
    for (let i = 0; i < 20; i += 1) {
      session.updates.length = 0;
      await prompt(connection, session.id, 'stream 50');
      assert.equal(session.updates.length, 50);
    }
  });

  it('goes on through garbage and updates of unknown kinds, and counts the garbage', async () => {
    const { connection } = await poolOf().lease(specOf());
    const session = await openSession(connection);
    await prompt(connection, session.id, 'garbage\nunknown\necho still here');
    assert.match(JSON.stringify(session.updates), /_hologram.*still here/);
    assert.equal(connection.counters.garbageLines, 6);
  });

  it('answers requests that it does not know with "method not found"', async () => {
    const { connection } = await poolOf().lease(specOf());
    const session = await openSession(connection);
    await prompt(connection, session.id, 'request');
    assert.match(JSON.stringify(session.updates), /answered: -32601/);
  });

  it('keeps the text of an error and says how to sign in', async () => {
    const { connection } = await poolOf().lease(specOf());
    const session = await openSession(connection);
    await assert.rejects(prompt(connection, session.id, 'error out of quota'), {
      code: 'agent_failed',
      message: 'Scripted agent answered with an error: out of quota',
    });
    await assert.rejects(prompt(connection, session.id, 'auth'), {
      code: 'agent_failed',
      message: /sign in first.*Log in with a key/,
    });
  });

  it('says why an agent cannot be started', async () => {
    const pool = poolOf({ initializeMs: 700 });
    await assert.rejects(pool.lease({ ...specOf(), command: '/no/such/agent' }), {
      code: 'agent_unavailable',
      message: /"\/no\/such\/agent .*ENOENT/,
    });
    await assert.rejects(pool.lease(specOf({ start: 'die' })), {
      code: 'agent_unavailable',
      message: /exit code 7 — no key, no agent/,
    });
    await assert.rejects(pool.lease(program('process.stdin.resume()')), {
      code: 'agent_unavailable',
      message: /did not answer within 1 s/,
    });
    await assert.rejects(pool.lease(program(`console.log('{"jsonrpc":"2.0","id":0,"result":"hello"}')`)), {
      code: 'agent_unavailable',
      message: /initialize is not understood|exit code 0/,
    });
    const version = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":99}}';
    await assert.rejects(pool.lease(program(`console.log('${version}');process.stdin.resume()`)), {
      code: 'agent_unavailable',
      message: /version 99/,
    });
  });

  it('starts an agent also when the home folder is not there', async () => {
    const home = process.env['HOME'];
    process.env['HOME'] = '/no/such/home';
    try {
      const { connection } = await poolOf().lease(specOf());
      assert.ok(connection.alive);
    } finally {
      process.env['HOME'] = home;
    }
  });

  it('waits no longer than allowed for an answer that is due', async () => {
    const answer = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}';
    const { connection } = await poolOf().lease(program(`console.log('${answer}');process.stdin.resume()`));
    await assert.rejects(connection.request('session/new', { cwd: '/', mcpServers: [] }, 200), {
      code: 'agent_failed',
      message: 'Program did not answer session/new within 1 s.',
    });
    assert.equal(connection.alive, true);
  });

  it('ends the whole process tree, also one that is deaf to everything', async function () {
    if (process.platform === 'win32') this.skip();
    const answer =
      '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"PID","version":"1"}}}';
    const code = `process.on('SIGTERM',()=>{});const c=require('child_process').spawn(process.execPath,['-e','process.on("SIGTERM",()=>{});setInterval(()=>{},1e3)'],{stdio:'inherit'});console.log('${answer}'.replace('PID',c.pid));setInterval(()=>{},1e3)`;
    const { connection } = await poolOf().lease(program(code));
    const child = Number(connection.capabilities.agentName);
    const parent = connection.pid ?? 0;
    assert.ok(alive(child) && alive(parent));
    const exit = await connection.close();
    assert.equal(exit.signal, 'SIGKILL');
    await sleep(50);
    assert.ok(!alive(parent));
    assert.ok(!alive(child));
  });

  it('ends an idle agent only when that loses nothing', async () => {
    const pool = poolOf({ idleMs: 100 });
    const keeps = await pool.lease(specOf({ features: ['resume'] }));
    await openSession(keeps.connection);
    const forgets = await pool.lease(specOf({ features: [] }));
    await openSession(forgets.connection);
    await sleep(250);
    assert.ok(keeps.connection.alive && forgets.connection.alive);
    keeps.release();
    forgets.release();
    await keeps.connection.closed;
    await sleep(100);
    assert.equal(forgets.connection.alive, true);
  });

  it('takes a flood in bounded memory', async () => {
    const { connection } = await poolOf().lease(specOf());
    const { sessionId } = SessionAnswer.parse(
      await connection.request('session/new', { cwd: process.cwd(), mcpServers: [] }),
    );
    let bytes = 0;
    let highest = 0;
    const before = process.memoryUsage().rss;
    connection.attach(sessionId, {
      update: (update) => {
        bytes += JSON.stringify(update).length;
        if (bytes % 50 === 0) highest = Math.max(highest, process.memoryUsage().rss);
      },
      permission: () => Promise.resolve({ outcome: { outcome: 'cancelled' } }),
      request: () => Promise.reject(new Error('not here')),
      elicitationComplete: () => undefined,
      claudeMessage: () => undefined,
    });
    await prompt(connection, sessionId, 'flood 4000 50000');
    assert.ok(bytes > 200_000_000);
    assert.ok(highest - before < 150_000_000, `grew by ${String(highest - before)}`);
  });
});
