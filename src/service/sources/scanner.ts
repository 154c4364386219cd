import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { SourceKind } from '../../protocol/session.js';
import { FileShrunkError } from './jsonl.js';
import { ScanReply, type ScanRequest } from './scan_wire.js';
import type { Scan } from './source.js';

/** `urgent`: somebody waits for it. */
export type ScanPriority = 'urgent' | 'background';

/** Reads transcripts in the background. */
export interface Scanner {
  /**
   * As `Source.scan`. Urgent scans go before others. Rejects with the signal's reason when aborted, with
   * `FileShrunkError` when the file is shorter than `from`, with `ScanCrashedError` when the worker died of it.
   */
  scan(
    kind: SourceKind,
    path: string,
    from: number,
    state: unknown,
    signal: AbortSignal,
    priority?: ScanPriority,
  ): Promise<Scan>;
  /** Ends the workers; scans that are not done are rejected. */
  close(): Promise<void>;
}

/** The worker ended while it read the file, e.g. out of memory. The next scan gets a new one. */
export class ScanCrashedError extends Error {
  override readonly name = 'ScanCrashedError';
}

export interface WorkerScannerOptions {
  /** Tells the sources where their files are: `HOME`, `CLAUDE_CONFIG_DIR`, `CODEX_HOME`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of one worker, in MB. */
  readonly maxMemoryMb?: number;
  /** The program that a worker runs; it calls `runScanWorker`. By default the bundle that this is part of. */
  readonly program?: string;
}

const MAX_WORKERS = 2;
const MAX_MEMORY_MB = 2048;
/** A worker without work is ended after this long, to give its memory back. */
const IDLE_MS = 5_000;

interface Job {
  readonly id: number;
  readonly request: ScanRequest;
  readonly signal: AbortSignal;
  readonly entries: Scan['entries'][number][];
  readonly turns: Scan['turns'][number][];
  readonly usage: Scan['usage'][number][];
  readonly resolve: (scan: Scan) => void;
  readonly reject: (reason: unknown) => void;
  readonly onAbort: () => void;
}

interface Slot {
  worker: Worker;
  job: Job | undefined;
  idle: NodeJS.Timeout | undefined;
}

/** Scans in worker threads: one for background work, a second one only while something urgent waits. */
export class WorkerScanner implements Scanner {
  readonly #options: WorkerScannerOptions;
  readonly #queues: Readonly<Record<ScanPriority, Job[]>> = { urgent: [], background: [] };
  readonly #slots = new Set<Slot>();
  #nextId = 1;
  #closed = false;

  constructor(options: WorkerScannerOptions) {
    this.#options = options;
  }

  scan(
    kind: SourceKind,
    path: string,
    from: number,
    state: unknown,
    signal: AbortSignal,
    priority: ScanPriority = 'background',
  ): Promise<Scan> {
    if (this.#closed) return Promise.reject(new Error('the scanner is closed'));
    if (signal.aborted) return Promise.reject(asError(signal.reason));
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const request: ScanRequest = { do: 'scan', id, kind, path, from, state };
      const onAbort = () => this.#abort(job);
      const job: Job = { id, request, signal, entries: [], turns: [], usage: [], resolve, reject, onAbort };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queues[priority].push(job);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const reason = new Error('the scanner was closed');
    for (const queue of Object.values(this.#queues))
      for (const job of queue.splice(0)) settle(job).reject(reason);
    const slots = [...this.#slots];
    this.#slots.clear();
    await Promise.all(
      slots.map(async ({ worker, job, idle }) => {
        clearTimeout(idle);
        if (job) settle(job).reject(reason);
        await worker.terminate();
      }),
    );
  }

  #next(): void {
    for (;;) {
      const queue = this.#queues.urgent.length > 0 ? this.#queues.urgent : this.#queues.background;
      if (queue.length === 0) return;
      const slot = this.#freeSlot(queue === this.#queues.urgent);
      const job = slot && queue.shift();
      if (!slot || !job) return;
      clearTimeout(slot.idle);
      slot.job = job;
      slot.worker.ref();
      slot.worker.postMessage(job.request);
    }
  }

  #freeSlot(urgent: boolean): Slot | undefined {
    const busy = [...this.#slots].filter((slot) => slot.job).length;
    if (busy >= (urgent ? MAX_WORKERS : 1)) return undefined;
    return [...this.#slots].find((slot) => !slot.job) ?? this.#start();
  }

  #start(): Slot {
    const { env, maxMemoryMb = MAX_MEMORY_MB, program = ownProgram() } = this.#options;
    const worker = new Worker(program, {
      workerData: { role: 'scan', env: { ...env } },
      // Three times the nursery counts as memory of the service; a larger one saves little time.
      resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb, maxYoungGenerationSizeMb: 16 },
    });
    const slot: Slot = { worker, job: undefined, idle: undefined };
    this.#slots.add(slot);
    worker.on('message', (message: unknown) => this.#received(slot, message));
    worker.on('error', (error) => this.#ended(slot, asError(error).message));
    worker.on('exit', (code) => this.#ended(slot, `the scan worker ended with code ${code}`));
    worker.unref();
    return slot;
  }

  #received(slot: Slot, message: unknown): void {
    const parsed = ScanReply.safeParse(message);
    const { job } = slot;
    if (!parsed.success) {
      if (!job) return;
      this.#free(slot);
      settle(job).reject(parsed.error);
      this.#next();
      return;
    }
    const reply = parsed.data;
    if (job?.id !== reply.id) return;
    if (reply.is === 'part') {
      job.entries.push(...reply.entries);
      job.turns.push(...reply.turns);
      job.usage.push(...reply.usage);
      return;
    }
    this.#free(slot);
    const { resolve, reject } = settle(job);
    if (reply.is === 'done')
      resolve({ ...reply.rest, entries: job.entries, turns: job.turns, usage: job.usage });
    else reject(errorOf(reply.name, reply.message));
    this.#next();
  }

  #free(slot: Slot): void {
    slot.job = undefined;
    slot.worker.unref();
    slot.idle = setTimeout(() => {
      this.#slots.delete(slot);
      void slot.worker.terminate();
    }, IDLE_MS).unref();
  }

  #ended(slot: Slot, message: string): void {
    if (!this.#slots.delete(slot)) return;
    clearTimeout(slot.idle);
    if (slot.job) settle(slot.job).reject(new ScanCrashedError(message));
    if (!this.#closed) this.#next();
  }

  #abort(job: Job): void {
    settle(job).reject(asError(job.signal.reason));
    for (const queue of Object.values(this.#queues)) {
      const at = queue.indexOf(job);
      if (at >= 0) queue.splice(at, 1);
    }
    for (const { job: running, worker } of this.#slots) {
      const cancel: ScanRequest = { do: 'cancel', id: job.id };
      if (running === job) worker.postMessage(cancel);
    }
  }
}

/** Stops listening to the job's signal. */
function settle(job: Job): Job {
  job.signal.removeEventListener('abort', job.onAbort);
  return job;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

function errorOf(name: string, message: string): Error {
  if (name === 'FileShrunkError') return new FileShrunkError(message);
  const error = new Error(message);
  error.name = name;
  return error;
}

/** In the bundle this module's file is the whole program; run from its sources it has an entry of its own. */
function ownProgram(): string {
  const own = fileURLToPath(import.meta.url);
  return own.endsWith('.ts') ? fileURLToPath(new URL('./scan_entry.cjs', import.meta.url)) : own;
}
