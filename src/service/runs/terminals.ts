import { RequestError, type TerminalExitStatus, type TerminalOutputResponse } from '@agentclientprotocol/sdk';
import { v7 as uuid } from 'uuid';
import type { AgentConnection } from '../agents/agent_connection.js';
import type { AgentPool } from '../agents/agent_pool.js';
import type { Log } from '../log.js';
import type { Client } from '../sessions/client.js';
import type { TerminalMethod } from './agent_host.js';
import type { LiveSession } from './live_session.js';
import { OrphanGuard } from './orphan_guard.js';
import { TAIL_BYTES } from './plain_output.js';
import type { RunSessions } from './ports.js';
import { RelayedTerminal } from './relayed_terminal.js';
import type { Tasks } from './tasks.js';
import type { Terminal } from './terminal.js';
import {
  CreateTerminal,
  OfTerminal,
  outputLimit,
  parseParams,
  programOf,
  workingFolder,
} from './terminal_params.js';
import { TerminalProcess } from './terminal_process.js';

export interface TerminalsParts {
  readonly sessions: Pick<RunSessions, 'resolve'>;
  readonly agents: AgentPool;
  readonly tasks: Tasks;
  readonly log: Log;
}

/** A terminal of a session in an agent. */
export interface HeldTerminal {
  readonly id: string;
  readonly sessionId: string;
  readonly connection: AgentConnection;
  readonly terminal: Terminal;
  readonly taskId: string;
  readonly listeners: Set<() => void>;
}

/** Terminals that one agent may hold at once. */
const MAX_HELD = 64;

/**
 * Commands that agents run through their client: by the ACP client that owns the turn where it can, else here. A
 * terminal belongs to a session in an agent, and ends with that agent, not with its turn.
 */
export class Terminals {
  private readonly held = new Map<string, HeldTerminal>();
  private readonly watched = new WeakSet<AgentConnection>();
  private readonly guard: OrphanGuard;
  private closing = false;

  constructor(private readonly parts: TerminalsParts) {
    this.guard = new OrphanGuard(parts.log);
  }

  /** Answers a request of an agent. Rejects with a `RequestError` that it can read. */
  async answer(
    session: LiveSession,
    method: TerminalMethod,
    params: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (method === 'terminal/create')
      return this.create(session, parseParams(CreateTerminal, params), signal);
    const held = this.find(session, parseParams(OfTerminal, params).terminalId);
    if (!held) throw RequestError.resourceNotFound(parseParams(OfTerminal, params).terminalId);
    switch (method) {
      case 'terminal/output':
        return this.outputOf(held, signal);
      case 'terminal/wait_for_exit':
        return exitOf(held.terminal, signal);
      case 'terminal/kill':
        if (!(await held.terminal.end()))
          throw RequestError.internalError(undefined, 'the command could not be ended');
        return {};
      case 'terminal/release':
        await this.release(held);
        return {};
    }
  }

  /** The terminal that the agent calls so in this session. */
  find(session: LiveSession, terminalId: string): HeldTerminal | undefined {
    const held = this.held.get(terminalId);
    return held?.sessionId === session.sessionId && held.connection === session.connection ? held : undefined;
  }

  /** Calls `changed` whenever there is more of the terminal, until it is released. */
  follow(held: HeldTerminal, changed: () => void): void {
    held.listeners.add(changed);
  }

  /** Ends the terminals of a session. */
  async endSession(sessionId: string): Promise<void> {
    await this.releaseAll((held) => held.sessionId === sessionId);
  }

  /** Ends all terminals. Nothing can be started afterwards. */
  async close(): Promise<void> {
    this.closing = true;
    await this.releaseAll(() => true);
  }

  private async create(session: LiveSession, params: CreateTerminal, signal: AbortSignal): Promise<unknown> {
    const { sessionId, connection } = session;
    const owner = session.sink?.owner;
    if (!owner) throw RequestError.invalidRequest(undefined, 'a command can only be started during a turn');
    if (!owner.options.trusted)
      throw RequestError.invalidRequest(
        undefined,
        'commands cannot be started from a window that is not trusted',
      );
    if ([...this.held.values()].filter((held) => held.connection === connection).length >= MAX_HELD)
      throw RequestError.invalidRequest(undefined, 'too many terminals; release some first');
    const id = uuid();
    const terminal = await this.start(id, session, owner, params, signal);
    const taskId = this.show(terminal, sessionId, connection);
    const held: HeldTerminal = { id, sessionId, connection, terminal, taskId, listeners: new Set() };
    const { onChange } = terminal;
    terminal.onChange = () => {
      onChange();
      for (const listener of held.listeners) listener();
    };
    this.held.set(id, held);
    this.endWith(connection);
    // The agent or the service may have gone while it was being started.
    if (this.closing || !connection.alive) await this.release(held);
    return { terminalId: id };
  }

  private async start(
    id: string,
    session: LiveSession,
    owner: Client,
    params: CreateTerminal,
    signal: AbortSignal,
  ): Promise<Terminal> {
    const { sessionId } = session;
    if (owner.surface === 'acp' && owner.abilities.terminal && owner.connected) {
      const title = [params.command, ...(params.args ?? [])].join(' ');
      return RelayedTerminal.create(owner, sessionId, title, params, signal);
    }
    const { cwd: root, directories = [] } = this.parts.sessions.resolve(owner, sessionId);
    const cwd = await workingFolder(params, [root, ...directories]);
    const env = Object.fromEntries((params.env ?? []).map(({ name, value }) => [name, value]));
    try {
      const command = { id, ...programOf(params), env, cwd, outputByteLimit: outputLimit(params) };
      const started = await TerminalProcess.start(command);
      this.guard.add(started.pid);
      void started.gone.then(() => this.guard.remove(started.pid));
      return started;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw RequestError.internalError(undefined, `the command could not be started (${reason})`);
    }
  }

  /** Shows it as a background task, and keeps the agent running as long as it does. */
  private show(terminal: Terminal, sessionId: string, connection: AgentConnection): string {
    const letGo = this.parts.agents.hold(connection);
    const task = this.parts.tasks.start({
      kind: 'command',
      title: terminal.title,
      sessionId,
      stop: () => terminal.end(),
    });
    terminal.onChange = () => task.output(() => terminal.tail(TAIL_BYTES));
    terminal.onChange();
    void terminal.gone.then(async () => {
      const { exitCode, signal } = await terminal.exited;
      letGo();
      task.end(exitCode === 0 ? 'completed' : 'failed', describe(exitCode, signal));
    });
    return task.id;
  }

  private async outputOf(held: HeldTerminal, signal: AbortSignal): Promise<TerminalOutputResponse> {
    try {
      return await held.terminal.output(signal);
    } catch (error) {
      throw RequestError.internalError(undefined, `the client did not tell the output (${String(error)})`);
    }
  }

  private async release(held: HeldTerminal): Promise<void> {
    if (!this.held.delete(held.id)) return;
    try {
      await held.terminal.release();
    } catch (error) {
      this.parts.log.info('a client did not release a terminal', error);
    }
    for (const listener of held.listeners) listener();
    held.listeners.clear();
  }

  private async releaseAll(which: (held: HeldTerminal) => boolean): Promise<void> {
    await Promise.all([...this.held.values()].filter(which).map((held) => this.release(held)));
  }

  private endWith(connection: AgentConnection): void {
    if (this.watched.has(connection)) return;
    this.watched.add(connection);
    void connection.closed.then(() => this.releaseAll((held) => held.connection === connection));
  }
}

function describe(exitCode: number | null | undefined, signal: string | null | undefined): string {
  if (signal) return `It was ended by ${signal}.`;
  return typeof exitCode === 'number' ? `Exit code ${String(exitCode)}.` : 'It ended.';
}

/** Waits for the exit, unless the agent takes its question back. */
async function exitOf(terminal: Terminal, signal: AbortSignal): Promise<TerminalExitStatus> {
  if (signal.aborted) throw RequestError.requestCancelled();
  return new Promise((resolve, reject) => {
    const stop = () => reject(RequestError.requestCancelled());
    signal.addEventListener('abort', stop, { once: true });
    void terminal.exited.then((exit) => {
      signal.removeEventListener('abort', stop);
      resolve(exit);
    });
  });
}
