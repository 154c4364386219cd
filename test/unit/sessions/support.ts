import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  requestPermission: Client['requestPermission'] = () => Promise.reject(new Error('nobody is here'));
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
