import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import type { AgentDefinition } from '../../src/protocol/agents.js';
import type { ClientOptions } from '../../src/protocol/deck.js';
import type { Entry, Turn } from '../../src/protocol/entry.js';
import { DomainError } from '../../src/protocol/errors.js';
import type { SessionRow } from '../../src/protocol/session.js';
import { AgentPool, type AgentPoolOptions } from '../../src/service/agents/agent_pool.js';
import { Agents } from '../../src/service/runs/agent_rules.js';
import { Discovery } from '../../src/service/runs/discovery.js';
import type { RunSessions } from '../../src/service/runs/ports.js';
import { Runs } from '../../src/service/runs/runs.js';
import type { RunTiming } from '../../src/service/runs/timing.js';
import type { TranscriptWriter } from '../../src/service/sessions/transcript.js';
import { Sessions } from '../../src/service/sessions/sessions.js';
import { createSources } from '../../src/service/sources/index.js';
import type { Scanner } from '../../src/service/sources/scanner.js';
import { Store } from '../../src/service/store/store.js';
import { TestClient, TestClients } from './test_client.js';

/** Runs over a real store, real sessions and real agents, in this process. */
export class RunsHome {
  /** The folder that sessions work in, and the only one that clients have in scope. */
  readonly dir: string;
  /** Where other tools keep their sessions. */
  readonly userHome: string;
  readonly clients = new TestClients();
  /** What was logged as an error. */
  readonly problems: string[] = [];
  /** While true, no entry can be written: the disk is full. */
  failWrites = false;
  /** While true, the end of a turn cannot be written either. */
  failEnds = false;
  runs!: Runs;
  sessions!: Sessions;
  private store!: Store;
  pool!: AgentPool;
  private agentRules: Agents | undefined;
  private life = { over: false };
  private readonly all = new TestClient('all', {
    workspaces: [],
    allFolders: true,
    trusted: true,
    config: {},
  });
  readonly log = {
    error: (message: string, details?: unknown) => this.problems.push(`${message}: ${String(details)}`),
    warn: () => undefined,
    info: () => undefined,
    debug: () => undefined,
  };

  private constructor(
    private readonly root: string,
    private readonly timing: Partial<RunTiming>,
    private readonly poolOptions: Partial<AgentPoolOptions>,
  ) {
    this.dir = join(root, 'work');
    this.userHome = join(root, 'home');
  }

  get storeDir(): string {
    return join(this.root, 'store');
  }

  static async open(
    timing: Partial<RunTiming> = {},
    pool: Partial<AgentPoolOptions> = {},
  ): Promise<RunsHome> {
    const home = new RunsHome(await realpath(await mkdtemp(join(tmpdir(), 'runs-'))), timing, pool);
    await mkdir(home.dir);
    await home.start();
    return home;
  }

  /** Begins again on the same store, as after a kill: what ran before reaches nothing any more. */
  async crash(): Promise<void> {
    this.life.over = true;
    await this.pool.close();
    await this.sessions.stop();
    this.store.close();
    await this.start();
  }

  async close(): Promise<void> {
    await this.runs.stopAll();
    await this.sessions.stop();
    this.store.close();
    await rm(this.root, { recursive: true, force: true });
  }

  /** Attaches a client with these agents. */
  client(
    agents: Record<string, AgentDefinition>,
    more: Partial<ClientOptions> & { surface?: 'editor' | 'acp' } = {},
  ): TestClient {
    const { surface = 'editor', ...options } = more;
    const client = new TestClient(
      uuid(),
      { workspaces: [this.dir], allFolders: false, trusted: true, config: { agents }, ...options },
      surface,
    );
    this.clients.attach(client);
    return client;
  }

  /** The rules of the agents themselves; made when they are first asked for, since they list sessions by themselves. */
  get agents(): Agents {
    const { pool, sessions, log } = this;
    this.agentRules ??= new Agents({
      agents: pool,
      discovery: new Discovery({ agents: pool, lists: sessions.agentLists, log }),
    });
    return this.agentRules;
  }

  /** All entries, whole. */
  async entries(sessionId: string): Promise<Entry[]> {
    const entries: Entry[] = [];
    for await (const batch of this.sessions.replay(sessionId)) entries.push(...batch);
    return entries;
  }

  state(sessionId: string): string {
    return this.sessions.resolve(this.all, sessionId).state;
  }

  async turns(sessionId: string): Promise<Turn[]> {
    return (await this.sessions.turns(this.all, { sessionId })).turns;
  }

  async listed(): Promise<SessionRow[]> {
    return (await this.sessions.list(this.all, {})).sessions;
  }

  /** Sessions in the store, those that are not listed included. */
  get sessionCount(): number {
    return this.store.records.sessions().length;
  }

  private async start(): Promise<void> {
    const life = { over: false };
    this.life = life;
    const alive = () => !life.over;
    const store = await Store.open(this.storeDir);
    if (!(store instanceof Store)) throw new Error('the store has another owner');
    const sources = createSources({ HOME: this.userHome });
    const scanner: Scanner = {
      scan: (kind, path, from, state, signal) => {
        const source = sources.find((each) => each.kind === kind);
        return source
          ? source.scan(path, from, state, signal)
          : Promise.reject(new Error(`no source ${kind}`));
      },
      close: () => Promise.resolve(),
    };
    const { clients, log } = this;
    const sessions = new Sessions({ store, sources, scanner, clients, runs: () => this.runs, log });
    this.store = store;
    this.sessions = sessions;
    this.pool = new AgentPool({ log, version: '0.0.0', ...this.poolOptions });
    const writer: TranscriptWriter = {
      beginTurn: (id, prompt) => sessions.writer.beginTurn(id, prompt),
      write: (id, turnId, entries) => {
        if (this.failWrites) throw new DomainError('store_full', 'The disk is full.');
        sessions.writer.write(id, turnId, entries);
      },
      endTurn: (id, turnId, end) => {
        if (this.failEnds) throw new DomainError('store_full', 'The disk is full.');
        sessions.writer.endTurn(id, turnId, end);
      },
    };
    const port: RunSessions = {
      resolve: (client, id, cwd) => sessions.resolve(client, id, cwd),
      create: (session) => sessions.create(session),
      update: (id, changes) => sessions.update(id, changes),
      isWatching: (client, id) => sessions.isWatching(client, id),
      replay: (id) => sessions.replay(id),
      importing: (id) => sessions.importing(id),
      forkPoint: (id) => sessions.forkPoint(id),
      writer: mortal(writer, alive),
    };
    this.runs = new Runs({
      store: mortal(store.runs, alive),
      sessions: mortal(port, alive),
      agents: this.pool,
      clients,
      log,
      timing: this.timing,
    });
    await this.runs.recover();
    sessions.start();
    await sessions.ready;
    await this.runs.recovered;
  }
}

/** The object, until the process that it belongs to is over: then nothing it is told reaches anything. */
function mortal<T extends object>(target: T, alive: () => boolean): T {
  return new Proxy(target, {
    get(object, key) {
      if (!alive()) throw new Error('this process is dead');
      const value: unknown = Reflect.get(object, key);
      return value;
    },
  });
}

export const prompt = (sessionId: string, text: string) => ({ sessionId, prompt: [{ type: 'text', text }] });

/** A signal that never aborts. */
export const unaborted = new AbortController().signal;

/** Each entry as "kind: text", a tool call as "tool: name status". */
export const brief = (entries: readonly Entry[]): string[] =>
  entries.map((entry) =>
    entry.tool
      ? `tool: ${entry.tool.name} ${entry.status ?? ''}`
      : `${entry.kind}: ${entry.content.map((block) => ('text' in block ? block.text : block.type)).join('')}`,
  );

/** Polls until the condition holds. */
export async function until(condition: () => boolean | Promise<boolean>, ms = 5000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${String(ms)} ms: ${String(condition)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
