import { cannotStart } from './agent_errors.js';
import type { AgentSpec } from './agent_process.js';

export interface CrashLimits {
  /** An agent that ends within so many ms after its start, before it did anything, has crashed. */
  readonly earlyMs: number;
  /** So many crashes within `withinMs` are a loop. */
  readonly crashes: number;
  readonly withinMs: number;
  /** How long it is then not started, in ms since the last crash. */
  readonly holdMs: number;
}
const defaultLimits: CrashLimits = { earlyMs: 3000, crashes: 4, withinMs: 60_000, holdMs: 15_000 };

interface Crashes {
  readonly times: readonly number[];
  readonly last: string;
}

/** Keeps an agent that ends right after its start from being started again and again. */
export class CrashGuard {
  private readonly crashes = new Map<string, Crashes>();
  private readonly limits: CrashLimits;

  constructor(
    limits: Partial<CrashLimits> = {},
    private readonly now: () => number = Date.now,
  ) {
    this.limits = { ...defaultLimits, ...limits };
  }

  /** Throws `agent_unavailable`, which says how it ended last, while that agent must not be started. */
  check(key: string, spec: AgentSpec): void {
    const { crashes, holdMs } = this.limits;
    const known = this.crashes.get(key);
    const last = known?.times.at(-1);
    if (!known || last === undefined || known.times.length < crashes) return;
    const waitMs = last + holdMs - this.now();
    if (waitMs <= 0) return;
    throw cannotStart(
      spec,
      `it ended right after its start ${String(known.times.length)} times in a row, so it is not tried again for ${String(Math.ceil(waitMs / 1000))} s. The last time: ${known.last}`,
    );
  }

  /** The agent did something before it ended. */
  worked(key: string): void {
    this.crashes.delete(key);
  }

  /** The agent ended by itself before it did anything. `how` is a sentence. */
  ended(key: string, startedAt: number, how: string): void {
    const now = this.now();
    if (now - startedAt > this.limits.earlyMs) return;
    const times = this.crashes.get(key)?.times.filter((at) => at > now - this.limits.withinMs) ?? [];
    this.crashes.set(key, { times: [...times, now].slice(-this.limits.crashes), last: how });
  }
}
