import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import spawn from 'cross-spawn';
import { signalGroup } from './process_group.js';

/** What to start: an agent as the settings define it. */
export interface AgentSpec {
  /** The name it has in the settings. */
  readonly id: string;
  /** As people know it. */
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Started instead where this program is on the PATH. */
  readonly preferred?: { readonly command: string; readonly args: readonly string[] };
  /** Added to the service's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What new sessions begin with, where the agent has it. */
  readonly defaults?: { readonly mode?: string | undefined; readonly model?: string | undefined };
}

/** How an agent process ended. */
export interface AgentExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The process could not be started at all: the system's reason. */
  readonly spawnError?: string;
  /** The end of what it wrote to stderr, at most a few KB, trimmed. */
  readonly stderrTail: string;
}

const STDERR_TAIL_CHARACTERS = 4000;

/** Milliseconds that an agent gets to end by itself after its stdin closed, and again after SIGTERM. */
export interface EndTiming {
  readonly stdinMs: number;
  readonly termMs: number;
}
const defaultEndTiming: EndTiming = { stdinMs: 300, termMs: 1500 };

/** One child process with piped stdio, in a process group of its own so that its descendants end with it. */
export class AgentProcess {
  /** Settles when the process is gone and its output was read to the end. Never rejects. */
  readonly exited: Promise<AgentExit>;
  private readonly child: ChildProcess;
  private tail = '';
  private gone = false;
  private ending: Promise<AgentExit> | undefined;

  private constructor(
    child: ChildProcess,
    readonly stdin: Writable,
    readonly stdout: Readable,
    stderr: Readable,
  ) {
    this.child = child;
    stderr.setEncoding('utf8');
    stderr.on('data', (text: string) => {
      this.tail = (this.tail + text).slice(-STDERR_TAIL_CHARACTERS);
    });
    // A pipe that breaks because the process went away is told by `exited`.
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
    this.exited = new Promise((resolve) => {
      const settle = (exit: Omit<AgentExit, 'stderrTail'>) => {
        if (this.gone) return;
        this.gone = true;
        this.killGroup('SIGKILL');
        resolve({ ...exit, stderrTail: this.tail.trim() });
      };
      child.once('error', (error) => {
        if (child.pid === undefined) settle({ code: null, signal: null, spawnError: error.message });
      });
      child.once('close', (code, signal) => settle({ code, signal }));
      // A descendant may hold the pipes open for ever.
      child.once('exit', (code, signal) => void setTimeout(() => settle({ code, signal }), 500).unref());
    });
  }

  /** Starts the command without a shell (Windows `.cmd` shims excepted). A failure to start is told by `exited`. */
  static start(spec: AgentSpec): AgentProcess {
    const env: NodeJS.ProcessEnv = { ...process.env, ...spec.env };
    // The editor's runtime sets this for the service; an agent that is an Electron program must not inherit it.
    if (spec.env['ELECTRON_RUN_AS_NODE'] === undefined) delete env['ELECTRON_RUN_AS_NODE'];
    const child = spawn(spec.command, [...spec.args], {
      // A folder that is not there would read as if the program were not.
      cwd: existsSync(homedir()) ? homedir() : tmpdir(),
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error('pipes were not made');
    return new AgentProcess(child, stdin, stdout, stderr);
  }

  /** Absent when it could not be started. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  /** The end of stderr so far. */
  get stderrTail(): string {
    return this.tail.trim();
  }

  /** Ends the process and its descendants: stdin closes, then SIGTERM, then SIGKILL. Safe to call twice. */
  end(timing: EndTiming = defaultEndTiming): Promise<AgentExit> {
    this.ending ??= this.endOnce(timing);
    return this.ending;
  }

  private async endOnce(timing: EndTiming): Promise<AgentExit> {
    this.stdin.end();
    if (await this.goneWithin(timing.stdinMs)) return this.exited;
    this.killGroup('SIGTERM');
    if (await this.goneWithin(timing.termMs)) return this.exited;
    this.killGroup('SIGKILL');
    return this.exited;
  }

  private async goneWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const result = await Promise.race([this.exited.then(() => true), late]);
    clearTimeout(timer);
    return result;
  }

  private killGroup(signal: 'SIGTERM' | 'SIGKILL'): void {
    const pid = this.child.pid;
    if (pid === undefined) return;
    // On Windows the number may be another's once the process has ended.
    const ended = this.child.exitCode !== null || this.child.signalCode !== null;
    if (process.platform !== 'win32' || !ended) signalGroup(pid, signal);
  }
}

/** One sentence that tells how a process ended, for people. */
export function describeExit(title: string, exit: AgentExit): string {
  const how =
    exit.spawnError !== undefined
      ? `could not be started (${exit.spawnError})`
      : exit.signal !== null
        ? `was ended by ${exit.signal}`
        : `ended with exit code ${String(exit.code)}`;
  return exit.stderrTail === '' ? `${title} ${how}.` : `${title} ${how}: ${exit.stderrTail}`;
}
