import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import type { AgentDefinition, ClientOptions } from '../../src/protocol/deck.js';
import type { Entry } from '../../src/protocol/entry.js';
import { DomainError, sessionUnavailable } from '../../src/protocol/errors.js';
import { AgentPool, type AgentPoolOptions } from '../../src/service/agents/agent_pool.js';
import type { RunTiming } from '../../src/service/runs/timing.js';
import type {
  InterjectionRow,
  PermissionRow,
  RunRow,
  RunSession,
  RunSessions,
  RunStore,
} from '../../src/service/runs/ports.js';
import { Runs } from '../../src/service/runs/runs.js';
import { TestClient, TestClients } from './test_client.js';

type Ended<T> = T & { end?: Record<string, unknown> };

/** Runs over stand-ins of store and sessions, with real agents. */
export class RunsHome {
  readonly clients = new TestClients();
  readonly problems: string[] = [];
  readonly log = {
    error: (message: string, details?: unknown) => this.problems.push(`${message}: ${String(details)}`),
    warn: () => undefined,
    info: () => undefined,
    debug: () => undefined,
  };
  runs!: Runs;
  private pool!: AgentPool;
  private readonly rows = new Map<string, RunSession & { state: string; title?: string | null }>();
  private readonly transcripts = new Map<string, Entry[]>();
  private readonly turnsOf = new Map<string, { id: string; status: string; stopReason?: string }[]>();
  private readonly runRows = new Map<string, Ended<RunRow>>();
  private readonly interjections = new Map<string, InterjectionRow>();
  private readonly permissions = new Map<string, Ended<PermissionRow>>();
  readonly usage: Record<string, unknown>[] = [];
  failWrites = false;
  private life = { over: false };

  private constructor(
    readonly dir: string,
    private readonly timing: Partial<RunTiming>,
    private readonly poolOptions: Partial<AgentPoolOptions>,
  ) {
    this.start();
  }

  static async open(
    timing: Partial<RunTiming> = {},
    pool: Partial<AgentPoolOptions> = {},
  ): Promise<RunsHome> {
    return new RunsHome(await realpath(await mkdtemp(join(tmpdir(), 'runs-'))), timing, pool);
  }

  /** Begins again on the same store, as after a kill: nothing is said to what ran before. */
  async crash(): Promise<void> {
    const { pool } = this;
    this.start();
    await pool.close();
    await this.runs.recover();
  }

  async close(): Promise<void> {
    await this.runs.stopAll();
    await rm(this.dir, { recursive: true, force: true });
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

  entries(sessionId: string): Promise<Entry[]> {
    return Promise.resolve(structuredClone(this.transcripts.get(sessionId) ?? []));
  }
  state(sessionId: string): string {
    return this.rows.get(sessionId)?.state ?? 'gone';
  }
  turns(sessionId: string): { status: string }[] {
    return this.turnsOf.get(sessionId) ?? [];
  }
  get sessionCount(): number {
    return this.rows.size;
  }

  private start(): void {
    const life = { over: false };
    this.life.over = true;
    this.life = life;
    const alive = () => !life.over;
    this.pool = new AgentPool({ log: this.log, version: '0.0.0', ...this.poolOptions });
    this.runs = new Runs({
      store: mortal(this.store, alive),
      sessions: mortal({ ...this.sessions, writer: mortal(this.sessions.writer, alive) }, alive),
      agents: this.pool,
      clients: this.clients,
      log: this.log,
      timing: this.timing,
    });
  }

  private readonly store: RunStore = {
    addRun: (row) => void this.runRows.set(row.id, { ...row }),
    endRun: (id, end) => void Object.assign(this.runRows.get(id) ?? {}, { end }),
    openRuns: () => [...this.runRows.values()].filter(({ end }) => !end),
    addInterjection: (row) => void this.interjections.set(row.id, row),
    changeInterjection: (id, change) => {
      const row = this.interjections.get(id);
      if (row) this.interjections.set(id, { ...row, ...change });
    },
    interjection: (id) => this.interjections.get(id),
    interjections: (states, sessionId) =>
      [...this.interjections.values()].filter(
        (row) => states.includes(row.state) && (sessionId === undefined || row.sessionId === sessionId),
      ),
    addPermission: (row) => void this.permissions.set(row.id, { ...row }),
    endPermission: (id, end) => void Object.assign(this.permissions.get(id) ?? {}, { end }),
    openPermissions: () => [...this.permissions.values()].filter(({ end }) => !end),
    addCompaction: () => undefined,
    endCompaction: () => undefined,
    addUsage: (row) => void this.usage.push({ ...row }),
  };

  private readonly sessions: RunSessions = {
    resolve: (client, id) => {
      const session = this.rows.get(id);
      if (!session || !(client.options.allFolders || client.options.workspaces.includes(session.cwd)))
        throw sessionUnavailable();
      return session;
    },
    create: (fields) => {
      const session = { id: uuid(), source: 'deck' as const, generation: 1, state: 'idle', ...fields };
      this.rows.set(session.id, session);
      return session;
    },
    update: (id, { agentTitle, ...changes }) => {
      const row = this.rows.get(id);
      if (row)
        this.rows.set(id, { ...row, ...changes, ...(agentTitle === undefined ? {} : { title: agentTitle }) });
    },
    writer: {
      beginTurn: (sessionId, prompt) => {
        const turns = this.turnsOf.get(sessionId) ?? [];
        if (turns.at(-1)?.status === 'running') throw new DomainError('turn_in_progress', 'A turn is open.');
        const turnId = uuid();
        this.turnsOf.set(sessionId, [...turns, { id: turnId, status: 'running' }]);
        this.sessions.writer.write(sessionId, turnId, [prompt]);
        return { turnId };
      },
      write: (sessionId, turnId, drafts) => {
        if (this.failWrites) throw new DomainError('store_full', 'The disk is full.');
        const entries = this.transcripts.get(sessionId) ?? [];
        for (const draft of drafts) {
          const at = entries.findIndex(({ id }) => id === draft.id);
          const ordinal = at === -1 ? entries.length : at;
          const turn = this.turns(sessionId).length;
          entries[ordinal] = {
            ...structuredClone(draft),
            turnId,
            turn,
            ordinal,
            boundary: false,
            replay: false,
          };
        }
        this.transcripts.set(sessionId, entries);
      },
      endTurn: (sessionId, turnId, end) => {
        Object.assign(this.turnsOf.get(sessionId)?.find(({ id }) => id === turnId) ?? {}, end);
        const last = this.transcripts.get(sessionId)?.at(-1);
        if (last) last.boundary = true;
      },
    },
    replay: (sessionId) => this.replay(sessionId),
  };

  private async *replay(sessionId: string): AsyncGenerator<Entry[]> {
    yield await this.entries(sessionId);
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
