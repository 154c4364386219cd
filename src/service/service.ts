import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { logDir } from '../attach/paths.js';
import { PROTOCOL_VERSION } from '../protocol/hello.js';
import { Api } from './api.js';
import { ClientRegistry } from './clients.js';
import type { Compose, Composition } from './compose.js';
import { claimAddress, publishEndpoint, releaseAddress, withdrawEndpoint } from './endpoint.js';
import { FileLog } from './file_log.js';
import { IdleTimer } from './idle.js';
import { Listener } from './surfaces/listen.js';

const DEFAULT_IDLE_MS = 30_000;
/** Runs that are asked to end get this long; then their agents are left to the end of the process. */
const STOP_RUNS_MS = 10_000;
/** Answers that are on their way out get this long. */
const FLUSH_MS = 500;
const LAST_ANSWER_MS = 50;
/** How often the service looks whether the store is still its own. */
const OWNER_CHECK_MS = 2_000;

export interface ServiceOptions {
  readonly storeDir: string;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly compose: Compose;
}

function idleMs(env: NodeJS.ProcessEnv): number {
  const ms = Number(env['SESSION_DECK_IDLE_MS']);
  return Number.isFinite(ms) && ms > 0 ? ms : DEFAULT_IDLE_MS;
}

/** The session service of one store, from taking its lock to giving it back. */
export class Service {
  readonly log: FileLog;
  private readonly clients = new ClientRegistry();
  private stopping: Promise<void> | undefined;
  private settleEnded: () => void = () => undefined;
  /** Settles when the service has stopped and released everything. */
  readonly ended = new Promise<void>((resolve) => {
    this.settleEnded = resolve;
  });
  private idle: IdleTimer | undefined;
  private ownerCheck: NodeJS.Timeout | undefined;
  private composition: Composition | undefined;
  private listener: Listener | undefined;
  private address: string | undefined;

  constructor(private readonly options: ServiceOptions) {
    this.log = new FileLog(
      path.join(logDir(options.storeDir), 'service.log'),
      options.env['SESSION_DECK_LOG'] === 'debug',
    );
  }

  /** Takes the store and listens. Throws when another service owns the store, or the store cannot be opened. */
  async start(): Promise<void> {
    const { storeDir, version, env } = this.options;
    const { log, clients } = this;
    log.info('starts', { version, pid: process.pid, node: process.version, storeDir });
    const composition = await this.options.compose({ storeDir, version, env, clients, log });
    this.composition = composition;
    const { sessions, runs } = composition;
    const api = new Api({
      ...composition,
      clients,
      log,
      control: { stopSoon: (reason) => this.stopSoon(reason) },
      checkResults: env['SESSION_DECK_CHECK_RESULTS'] === '1',
    });
    const listener = new Listener({
      api,
      clients,
      sessions,
      runs,
      log,
      version,
      onChange: () => this.idle?.touch(),
      handOver: () => {
        if (this.busy()) return false;
        this.stopSoon('a newer version takes over');
        return true;
      },
    });
    this.listener = listener;
    this.address = claimAddress(storeDir);
    await listener.listen(this.address);
    composition.start();
    publishEndpoint(storeDir, {
      protocol: PROTOCOL_VERSION,
      version,
      pid: process.pid,
      socket: this.address,
      token: listener.token,
    });
    this.idle = new IdleTimer(
      idleMs(env),
      () => this.busy(),
      () => this.stopSoon('nobody is attached and nothing runs'),
    );
    this.idle.touch();
    this.ownerCheck = setInterval(() => {
      if (!composition.ownsStore()) this.stopSoon('the store was taken over or removed');
    }, OWNER_CHECK_MS);
  }

  /** Ends the service once what is being answered now has gone out. */
  stopSoon(reason: string): void {
    setImmediate(() => {
      this.stop(reason).catch((error: unknown) => this.log.error('could not end cleanly', error));
    });
  }

  /** Ends runs and connections, closes the store and gives up its lock. Rejects when the store cannot be closed. */
  stop(reason: string): Promise<void> {
    this.stopping ??= this.release(reason);
    return this.stopping;
  }

  private busy(): boolean {
    const { runs, tasks } = this.composition ?? {};
    return (this.listener?.peers ?? 0) > 0 || (runs?.activeCount ?? 0) + (tasks?.activeCount ?? 0) > 0;
  }

  private async release(reason: string): Promise<void> {
    this.log.info('ends', { reason });
    try {
      clearInterval(this.ownerCheck);
      this.idle?.stop();
      this.listener?.stopAccepting();
      if (this.listener) withdrawEndpoint(this.options.storeDir, this.listener.token);
      await this.stopRuns();
      // The answer to who asked for the end is still being written.
      if ((this.listener?.peers ?? 0) > 0) await sleep(LAST_ANSWER_MS);
      this.clients.endAll();
      if ((this.listener?.peers ?? 0) > 0) await sleep(FLUSH_MS);
      this.listener?.destroyAll();
      await this.composition?.close();
    } finally {
      if (this.address !== undefined) releaseAddress(this.address);
      this.log.info('ended');
      this.settleEnded();
    }
  }

  private async stopRuns(): Promise<void> {
    if (!this.composition) return;
    try {
      const late = sleep(STOP_RUNS_MS, 'late', { ref: false });
      const outcome = await Promise.race([this.composition.runs.stopAll(), late]);
      if (outcome === 'late') this.log.warn('runs did not end in time');
    } catch (error) {
      this.log.error('could not end the runs', error);
    }
  }
}
