import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attachOrStart, type Attached } from '../../src/attach/attach.js';
import { endpointFiles, logDir } from '../../src/attach/paths.js';
import type { ClientOptions } from '../../src/protocol/deck.js';
import { Endpoint } from '../../src/protocol/hello.js';
import { buildService } from './service_build.js';

export const everything: ClientOptions = { workspaces: [], allFolders: true, trusted: true, config: {} };

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until `condition` gives something true. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string,
  ms = 10_000,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`did not happen in ${ms} ms: ${what}`);
    await sleep(25);
  }
}

/** A home and a store of their own, and every service that was started on them. */
export class ServicePlace {
  readonly home: string;
  readonly store: string;
  readonly workspace: string;
  env: NodeJS.ProcessEnv;
  private readonly pids = new Set<number>();
  private readonly children: ChildProcessWithoutNullStreams[] = [];

  constructor() {
    const base = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'deck-place-')));
    this.home = path.join(base, 'home');
    this.store = path.join(base, 'store');
    this.workspace = path.join(base, 'work');
    for (const folder of [this.home, this.workspace]) fs.mkdirSync(folder);
    this.env = {
      ...process.env,
      HOME: this.home,
      CLAUDE_CONFIG_DIR: path.join(this.home, '.claude'),
      CODEX_HOME: path.join(this.home, '.codex'),
      XDG_RUNTIME_DIR: base,
      SESSION_DECK_STORE: this.store,
      SESSION_DECK_IDLE_MS: '2000',
      SESSION_DECK_CHECK_RESULTS: '1',
    };
  }

  /** Attaches as an editor window or an ACP client would. */
  async attach(
    options: {
      surface?: 'editor' | 'acp';
      client?: Partial<ClientOptions>;
      /** Of the caller, and of the service that it starts. */
      version?: string;
    } = {},
  ): Promise<Attached> {
    const { surface = 'editor', client = {}, version } = options;
    const attached = await attachOrStart({
      storeDir: this.store,
      serviceScript: await buildService(version),
      runtime: process.execPath,
      env: this.env,
      hello: { surface, version: version ?? '0.1.0', client: { ...everything, ...client } },
      onStart: (pid) => this.pids.add(pid),
    });
    attached.socket.on('error', () => undefined);
    this.pids.add(attached.pid);
    return attached;
  }

  /** Runs the service's command line. */
  async command(...args: string[]): Promise<ChildProcessWithoutNullStreams> {
    const child = spawn(process.execPath, [await buildService(), ...args], {
      env: this.env,
      cwd: this.workspace,
    });
    this.children.push(child);
    return child;
  }

  endpoint(): Endpoint | undefined {
    if (!fs.existsSync(this.store)) return undefined;
    const file = endpointFiles(this.store).inStore;
    return fs.existsSync(file) ? Endpoint.parse(JSON.parse(fs.readFileSync(file, 'utf8'))) : undefined;
  }

  /** What the services have logged. */
  log(): string {
    const file = path.join(logDir(this.store), 'service.log');
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  }

  /** Ends every process, then removes the files. */
  async dispose(): Promise<void> {
    const endpoint = this.endpoint();
    if (endpoint) this.pids.add(endpoint.pid);
    for (const child of this.children) child.kill('SIGKILL');
    for (const pid of this.pids) if (isAlive(pid)) process.kill(pid, 'SIGTERM');
    for (const pid of this.pids) {
      await until(() => !isAlive(pid), `process ${pid} ends`).catch(() => process.kill(pid, 'SIGKILL'));
    }
    fs.rmSync(path.dirname(this.store), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Everything a child writes, and its exit code. */
export async function outcome(
  child: ChildProcessWithoutNullStreams,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}
