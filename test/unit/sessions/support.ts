import { NO_ABILITIES } from '../../../src/service/surfaces/abilities.js';
import * as z from 'zod';
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type PageParams, TRANSCRIPT_PAGE_SCHEMA } from '../../../src/protocol/aster.js';
import type { ActiveRun, SourceKind } from '../../../src/protocol/session.js';
import type { RunControl } from '../../../src/service/sessions/run_control.js';
import { Sessions } from '../../../src/service/sessions/sessions.js';
import { createSources } from '../../../src/service/sources/index.js';
import type { Scanner } from '../../../src/service/sources/scanner.js';
import type { Scan, Source } from '../../../src/service/sources/source.js';
import { StoreError } from '../../../src/service/store/errors.js';
import { Store } from '../../../src/service/store/store.js';
import type { ClientOptions } from '../../../src/protocol/deck.js';
import type { Client, Clients } from '../../../src/service/sessions/client.js';
import type { Log } from '../../../src/service/log.js';
import { DomainError } from '../../../src/protocol/errors.js';

/** A folder of this test alone, by its real path; removed by `removeFolders`. */
export function temporaryFolder(): string {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'deck-sessions-')));
  folders.push(folder);
  return folder;
}
const folders: string[] = [];
export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** A peer that keeps what it was told. */
export class TestClient implements Client {
  connected = true;
  options: ClientOptions = { workspaces: [], allFolders: true, trusted: true, config: {} };
  readonly told: { method: string; params: unknown }[] = [];
  readonly updates: { sessionId: string; update: Record<string, unknown> }[] = [];
  constructor(
    readonly id: string,
    readonly surface: 'editor' | 'acp' = 'editor',
  ) {}
  notify: Client['notify'] = (method, params) => {
    this.told.push({ method, params });
  };
  sessionUpdate(sessionId: string, update: Record<string, unknown>): void {
    this.updates.push({ sessionId, update });
  }
  readonly abilities = NO_ABILITIES;
  ask: Client['ask'] = () => Promise.reject(new Error('nobody is here'));
  only(...workspaces: string[]): this {
    this.options = { ...this.options, workspaces, allFolders: false };
    return this;
  }
}

export class TestClients implements Clients {
  private readonly all: Client[] = [];
  private readonly attachListeners: ((client: Client) => void)[] = [];
  private readonly detachListeners: ((client: Client) => void)[] = [];
  get size(): number {
    return this.all.length;
  }
  [Symbol.iterator](): Iterator<Client> {
    return this.all[Symbol.iterator]();
  }
  onAttach(listener: (client: Client) => void): void {
    this.attachListeners.push(listener);
  }
  onDetach(listener: (client: Client) => void): void {
    this.detachListeners.push(listener);
  }
  attach<C extends Client>(client: C): C {
    this.all.push(client);
    for (const listener of this.attachListeners) listener(client);
    return client;
  }
  detach(client: TestClient): void {
    client.connected = false;
    this.all.splice(this.all.indexOf(client), 1);
    for (const listener of this.detachListeners) listener(client);
  }
}

/** Keeps what is logged, so that a test can show it. */
export class TestLog implements Log {
  readonly lines: string[] = [];
  error = (message: string, details?: unknown) => void this.lines.push(`error ${message} ${String(details)}`);
  warn = (message: string, details?: unknown) => void this.lines.push(`warn ${message} ${String(details)}`);
  info = (message: string) => void this.lines.push(`info ${message}`);
  debug = () => undefined;
}

/** For `assert.throws` and `assert.rejects`: a domain error of this code. */
export const withCode = (code: string) => (error: unknown) => {
  if (error instanceof DomainError && error.code === code) return true;
  throw error;
};

/** Waits until `check` gives something, or fails after `ms`. */
export async function until<T>(check: () => T | undefined | false, ms = 5000): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const value = check();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error(`waited ${ms} ms for ${check.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Scans in this process: what the workers do, without starting them. */
export class DirectScanner implements Scanner {
  readonly scanned: string[] = [];
  constructor(private readonly sources: readonly Source[]) {}
  async scan(
    kind: SourceKind,
    path: string,
    from: number,
    state: unknown,
    signal: AbortSignal,
  ): Promise<Scan> {
    this.scanned.push(path);
    const source = this.sources.find((one) => one.kind === kind);
    if (!source) throw new Error(`no source ${kind}`);
    const scan = await source.scan(path, from, state, signal);
    // As it comes from a worker and from the store: plain JSON.
    return { ...scan, state: z.json().parse(JSON.parse(JSON.stringify(scan.state))) };
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Runs as the rules see them. */
export class TestRuns implements RunControl {
  readonly active = new Map<string, ActiveRun>();
  readonly stopped: string[] = [];
  refuse: Error | undefined;
  activeRun(sessionId: string): ActiveRun | undefined {
    return this.active.get(sessionId);
  }
  stop(sessionId: string): Promise<void> {
    if (this.refuse) return Promise.reject(this.refuse);
    this.stopped.push(sessionId);
    this.active.delete(sessionId);
    return Promise.resolve();
  }
  fetchHistory(): Promise<void> {
    return Promise.reject(new Error('no agents here'));
  }
  readonly forks: string[] = [];
  forked(parent: { readonly id: string }, fork: { readonly id: string }): Record<string, never> {
    this.forks.push(`${parent.id} -> ${fork.id}`);
    return {};
  }
  gone(): void {
    // Nothing waits here.
  }
  back(): void {
    // Nothing waits here.
  }
  can(): { prompt: boolean; compact: boolean } {
    return { prompt: true, compact: true };
  }
}

export interface Deck {
  readonly home: string;
  readonly storeDir: string;
  readonly sessions: Sessions;
  readonly store: Store;
  readonly clients: TestClients;
  /** Sees all folders. */
  readonly client: TestClient;
  readonly runs: TestRuns;
  readonly scanner: DirectScanner;
  readonly log: TestLog;
  close(): Promise<void>;
}

/** The rules over a real store and the real sources below a home. */
export async function openDeck(
  home: string,
  storeDir: string,
  { waitForIndex = true, readOnly = false }: { waitForIndex?: boolean; readOnly?: boolean } = {},
): Promise<Deck> {
  const store = await Store.open(storeDir);
  if (!(store instanceof Store)) throw new Error('the store is owned');
  const sources = createSources({ HOME: home });
  const clients = new TestClients();
  const runs = new TestRuns();
  const log = new TestLog();
  const scanner = new DirectScanner(sources);
  const { records, dir } = store;
  const mode = readOnly ? { readOnly, reason: 'for the test' } : store.mode;
  // As SQLite does with a disk that cannot be written.
  if (readOnly)
    records.putFile =
      records.putTrash =
      records.putSession =
        () => {
          throw new StoreError('store_read_only', 'The store can only be read.');
        };
  const sessions = new Sessions({
    store: { records, dir, mode, freeBallast: () => store.freeBallast() },
    sources,
    scanner,
    clients,
    runs: () => runs,
    log,
  });
  sessions.start();
  if (waitForIndex) await sessions.indexed();
  const client = clients.attach(new TestClient('all'));
  return {
    home,
    storeDir,
    sessions,
    store,
    clients,
    client,
    runs,
    scanner,
    log,
    async close() {
      await sessions.stop();
      store.close();
    },
  };
}

/** A transcript of Claude Code, written line by line. */
export class ClaudeFile {
  private parent: string | null = null;
  private count = 0;
  private time: number;
  constructor(
    readonly home: string,
    readonly id: string,
    readonly cwd: string,
    startMs = Date.parse('2026-01-01T00:00:00Z'),
  ) {
    this.time = startMs;
  }
  get path(): string {
    return join(this.home, '.claude/projects', this.cwd.replace(/[^A-Za-z0-9]/g, '-'), `${this.id}.jsonl`);
  }
  line(type: string, record: Record<string, unknown>): string {
    this.count += 1;
    const uuid = `${this.id}-${this.count}`;
    const timestamp = new Date((this.time += 1000)).toISOString();
    const { id: sessionId, cwd, parent: parentUuid } = this;
    this.parent = uuid;
    return (
      JSON.stringify({
        parentUuid,
        isSidechain: false,
        userType: 'external',
        cwd,
        sessionId,
        version: '2.0.0',
        type,
        ...record,
        uuid,
        timestamp,
      }) + '\n'
    );
  }
  /** The lines of a turn: prompt, a tool call with its result, answer. */
  turn(prompt: string, answer = `Answer to ${prompt}`): string {
    const n = this.count;
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = (content: unknown[], stop: string) => ({
      message: {
        id: `m-${this.id}-${n}-${stop}`,
        role: 'assistant',
        model: 'claude-x',
        content,
        stop_reason: stop,
        usage,
      },
    });
    return (
      this.line('user', { message: { role: 'user', content: prompt } }) +
      this.line(
        'assistant',
        message([{ type: 'tool_use', id: `t-${n}`, name: 'Bash', input: { command: 'ls' } }], 'tool_use'),
      ) +
      this.line('user', {
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: `t-${n}`, content: `files ${n}` }],
        },
      }) +
      this.line('assistant', message([{ type: 'text', text: answer }], 'end_turn'))
    );
  }
  /** Goes on behind an earlier record, as a rewind does. */
  rewind(record: number): this {
    this.parent = record === 0 ? null : `${this.id}-${record}`;
    return this;
  }
  write(...texts: string[]): this {
    mkdirSync(dirname(this.path), { recursive: true });
    writeFileSync(this.path, texts.join(''));
    return this;
  }
  append(...texts: string[]): this {
    appendFileSync(this.path, texts.join(''));
    return this;
  }
}

/** The params of a page. */
export const pageOf = (sessionId: string, cwd: string, more: Partial<PageParams> = {}): PageParams => ({
  schema: TRANSCRIPT_PAGE_SCHEMA,
  sessionId,
  operationId: 'op',
  cwd,
  ...more,
});
export const never = new AbortController().signal;
