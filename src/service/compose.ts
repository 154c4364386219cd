import { AgentPool } from './agents/agent_pool.js';
import type { ClientRegistry } from './clients.js';
import type { Log } from './log.js';
import type { Rules, RunRules } from './parts.js';
import { Jobs } from './jobs/jobs.js';
import { WorkspaceSearch } from './jobs/search_rules.js';
import { Agents } from './runs/agent_rules.js';
import { Discovery } from './runs/discovery.js';
import { Runs } from './runs/runs.js';
import { showIndexing } from './runs/index_job.js';
import { Sessions } from './sessions/sessions.js';
import { createSources } from './sources/index.js';
import { WorkerScanner } from './sources/scanner.js';
import { Store } from './store/store.js';

/** Looks once an hour whether the daily backup is due. */
const MAINTAIN_MS = 60 * 60 * 1000;

export interface ComposeOptions {
  readonly storeDir: string;
  /** Of the service. */
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clients: ClientRegistry;
  readonly log: Log;
}

/** The rules of a service over an open store. */
export interface Composition extends Rules {
  readonly runs: RunRules & { stopAll(): Promise<void> };
  /** False once the store belongs to another process, or is gone. */
  ownsStore(): boolean;
  /** Begins to look at the sources, in the background. */
  start(): void;
  /** Ends background work, closes the store and gives up its lock. */
  close(): Promise<void>;
}

export type Compose = (options: ComposeOptions) => Promise<Composition>;

/** Another service owns the store. */
export class StoreOwnedError extends Error {
  override readonly name = 'StoreOwnedError';
  constructor(readonly pid: number) {
    super(`The store belongs to another session service (process ${pid}).`);
  }
}

/** Opens the store and builds the rules over it. Throws `StoreOwnedError`, or `StoreError` when it cannot be read. */
export async function compose(options: ComposeOptions): Promise<Composition> {
  const { storeDir, version, env, clients, log } = options;
  const store = await Store.open(storeDir);
  if (!(store instanceof Store)) throw new StoreOwnedError(store.owner.pid);
  const { readOnly, reason, repaired } = store.mode;
  if (readOnly) log.warn('the store is read-only', reason);
  if (repaired !== undefined) log.warn(repaired);
  try {
    const scanner = new WorkerScanner({ env });
    const sources = createSources(env);
    const sessions: Sessions = new Sessions({
      store,
      sources,
      scanner,
      clients,
      runs: () => runs,
      log,
      version,
      onIndexing: (over) => showIndexing(runs.tasks, over),
    });
    const agents = new AgentPool({ log, version });
    const discovery = new Discovery({ agents, lists: sessions.agentLists, log });
    const runs = new Runs({
      store: store.runs,
      sessions,
      agents,
      clients,
      log,
    });
    const jobs = new Jobs({ sessions, agents, clients, tasks: runs.tasks, turns: runs, env, log });
    if (!readOnly) await runs.recover();
    const maintenance = setInterval(() => maintain(store, log), MAINTAIN_MS);
    return {
      sessions,
      runs,
      controls: runs.controls,
      inbox: runs.inbox,
      tasks: runs.tasks,
      agents: new Agents({ agents, discovery }),
      jobs,
      search: new WorkspaceSearch({ sessions, env }),
      ownsStore: () => store.isOurs,
      start: () => {
        sessions.start();
        setImmediate(() => maintain(store, log));
      },
      close: async () => {
        clearInterval(maintenance);
        jobs.stop();
        try {
          await sessions.stop();
          await scanner.close();
        } finally {
          store.close();
        }
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

function maintain(store: Store, log: Log): void {
  try {
    store.maintain();
  } catch (error) {
    log.error('the daily backup failed', error);
  }
}
