import type { Log } from '../log.js';
import { DomainError } from '../../protocol/errors.js';
import { AgentConnection } from './agent_connection.js';
import { describeExit, type AgentSpec } from './agent_process.js';
import { CrashGuard, type CrashLimits } from './crash_guard.js';

export interface AgentPoolOptions {
  readonly log: Log;
  /** Of the service; told to the agents. */
  readonly version: string;
  /** Milliseconds for `initialize`; long, because a first `npx` may download the agent. */
  readonly initializeMs?: number;
  /** Milliseconds without a lease after which a process that can restore its sessions is ended. */
  readonly idleMs?: number;
  readonly crashes?: Partial<CrashLimits>;
}

interface Slot {
  connection: Promise<AgentConnection>;
  leases: number;
  idle: NodeJS.Timeout | undefined;
}

/** Keeps an agent running while something is asked of it. */
export interface AgentLease {
  readonly connection: AgentConnection;
  /** Safe to call twice. */
  readonly release: () => void;
}

/** One process for each agent definition, shared by all sessions, whatever their directory. */
export class AgentPool {
  private readonly slots = new Map<string, Slot>();
  private readonly startListeners: ((connection: AgentConnection) => void)[] = [];
  private readonly initializeMs: number;
  private readonly idleMs: number;
  private readonly guard: CrashGuard;
  private closing = false;

  constructor(private readonly options: AgentPoolOptions) {
    this.initializeMs = options.initializeMs ?? 120_000;
    this.idleMs = options.idleMs ?? 10 * 60_000;
    this.guard = new CrashGuard(options.crashes);
  }

  /**
   * The running agent of a definition, started when there is none or the last one has gone.
   * Throws `agent_unavailable`.
   */
  async lease(spec: AgentSpec): Promise<AgentLease> {
    const key = specKey(spec);
    const slot = this.slots.get(key) ?? this.open(key, spec);
    const release = this.take(key, slot);
    try {
      const connection = await slot.connection;
      if (connection.alive) return { connection, release };
    } catch (error) {
      release();
      throw error;
    }
    // It ended in the very moment; the listener of `open` has forgotten it or is about to.
    release();
    if (this.slots.get(key) === slot) this.slots.delete(key);
    return this.lease(spec);
  }

  /** Keeps an agent that runs from being ended for idleness, until the returned function is called. */
  hold(connection: AgentConnection): () => void {
    const key = specKey(connection.spec);
    const slot = this.slots.get(key);
    return slot && connection.alive ? this.take(key, slot) : () => undefined;
  }

  /** Whether the process of that definition runs, or is about to. */
  isRunning(spec: AgentSpec): boolean {
    return this.slots.has(specKey(spec));
  }

  /** Hears of every agent that has started. */
  onStart(listener: (connection: AgentConnection) => void): void {
    this.startListeners.push(listener);
  }

  /** Ends all processes. */
  async close(): Promise<void> {
    this.closing = true;
    const slots = [...this.slots.values()];
    this.slots.clear();
    for (const slot of slots) clearTimeout(slot.idle);
    await Promise.allSettled(slots.map(async (slot) => (await slot.connection).close()));
  }

  private open(key: string, spec: AgentSpec): Slot {
    if (this.closing) throw new Error('the agent pool is closed');
    this.guard.check(key, spec);
    const startedAt = Date.now();
    const forget = () => {
      if (this.slots.get(key) === slot) this.slots.delete(key);
    };
    const connection = AgentConnection.start(spec, this.options.version, this.options.log, this.initializeMs);
    const slot: Slot = { connection, leases: 0, idle: undefined };
    this.slots.set(key, slot);
    connection.then(
      (started) => {
        this.options.log.info('agent started', { agent: spec.id, pid: started.pid });
        void started.closed.then((exit) => {
          this.options.log.info('agent ended', {
            agent: spec.id,
            pid: started.pid,
            code: exit.code,
            signal: exit.signal,
          });
          if (started.hasServed) this.guard.worked(key);
          else if (!started.isEnding) this.guard.ended(key, startedAt, describeExit(spec.title, exit));
          forget();
        });
        for (const listener of this.startListeners) listener(started);
      },
      (error: unknown) => {
        this.options.log.warn('agent did not start', { agent: spec.id, error: String(error) });
        if (error instanceof DomainError && error.details['ended'] === true)
          this.guard.ended(key, startedAt, error.message);
        forget();
      },
    );
    return slot;
  }

  /** Safe to release twice. */
  private take(key: string, slot: Slot): () => void {
    slot.leases += 1;
    clearTimeout(slot.idle);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      slot.leases -= 1;
      if (slot.leases === 0) this.endLater(key, slot);
    };
  }

  private endLater(key: string, slot: Slot): void {
    slot.idle = setTimeout(() => void this.endIdle(key, slot), this.idleMs);
    slot.idle.unref();
  }

  private async endIdle(key: string, slot: Slot): Promise<void> {
    const [result] = await Promise.allSettled([slot.connection]);
    if (slot.leases > 0 || this.slots.get(key) !== slot || result.status === 'rejected') return;
    const { capabilities, sessionCount } = result.value;
    // Ending it would throw away what the model knows of sessions that cannot be restored.
    if (!capabilities.resume && !capabilities.loadSession && sessionCount > 0) return;
    this.slots.delete(key);
    await result.value.close();
  }
}

/** Two definitions with the same key are the same process. */
export function specKey(spec: AgentSpec): string {
  const env = Object.entries(spec.env).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([spec.id, spec.command, spec.args, env]);
}
