import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TerminalExitStatus, TerminalOutputResponse } from '@agentclientprotocol/sdk';
import spawn from 'cross-spawn';
import { endTree, isTreeThere, type ProcessTree } from '../agents/process_group.js';
import { OutputBuffer } from './output_buffer.js';
import type { Terminal } from './terminal.js';

export interface TerminalCommand {
  readonly id: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the service's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  readonly outputByteLimit: number;
}

/** Named in the environment of each command, so that all of its descendants are found. */
const MARK = 'SESSION_DECK_TERMINAL';
/** From SIGTERM to SIGKILL, in ms. */
const TERM_MS = 1500;
/** What an ended command wrote last is waited for so long while others hold its pipes, in ms. */
const LAST_OUTPUT_MS = 200;
/** How often it is looked whether what an ended command left running has gone, in ms. */
const LEFTOVER_MS = 1000;

/** A command that runs here, in a process group of its own. */
export class TerminalProcess implements Terminal {
  readonly title: string;
  exit: TerminalExitStatus | undefined;
  readonly exited: Promise<TerminalExitStatus>;
  readonly gone: Promise<void>;
  onChange: () => void = () => undefined;
  private readonly buffer: OutputBuffer;
  private ending: Promise<boolean> | undefined;

  private constructor(
    child: ChildProcess,
    streams: readonly Readable[],
    private readonly tree: ProcessTree,
    { command, args, outputByteLimit }: TerminalCommand,
  ) {
    this.title = [command, ...args].join(' ');
    this.buffer = new OutputBuffer(outputByteLimit);
    for (const stream of streams) this.read(stream);
    this.exited = new Promise((resolve) => {
      const settle = (exitCode: number | null, signal: string | null) => {
        if (this.exit) return;
        this.exit = { exitCode, signal };
        this.onChange();
        resolve(this.exit);
      };
      child.once('close', settle);
      child.once('exit', (code, signal) => setTimeout(() => settle(code, signal), LAST_OUTPUT_MS));
    });
    this.gone = this.untilGone();
  }

  /** Starts it. Rejects with the system's reason when that is not possible. */
  static start(command: TerminalCommand): Promise<TerminalProcess> {
    const mark = `${MARK}=${command.id}`;
    const env: NodeJS.ProcessEnv = { ...process.env, ...command.env, [MARK]: command.id };
    // The editor's runtime sets this for the service; a command that is an Electron program must not inherit it.
    delete env['ELECTRON_RUN_AS_NODE'];
    const child = spawn(command.command, [...command.args], {
      cwd: command.cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.once('spawn', () => {
        const { pid, stdout, stderr } = child;
        if (pid === undefined || stdout === null || stderr === null)
          reject(new Error('its pipes were not made'));
        else resolve(new TerminalProcess(child, [stdout, stderr], { pid, mark }, command));
      });
    });
  }

  get pid(): number {
    return this.tree.pid;
  }

  output(): Promise<TerminalOutputResponse> {
    return Promise.resolve({
      output: this.buffer.text(),
      truncated: this.buffer.truncated,
      ...(this.exit ? { exitStatus: this.exit } : {}),
    });
  }

  idAt(): undefined {
    return undefined;
  }

  tail(bytes: number): string {
    return this.buffer.text(bytes);
  }

  end(): Promise<boolean> {
    this.ending ??= endTree(this.tree, TERM_MS).then((gone) => {
      // A further attempt may succeed where this one did not.
      if (!gone) this.ending = undefined;
      return gone;
    });
    return this.ending;
  }

  async release(): Promise<void> {
    await this.end();
  }

  private read(stream: Readable): void {
    const input = this.buffer.input();
    stream.on('data', (bytes: Buffer) => {
      input.write(bytes);
      this.onChange();
    });
    stream.once('end', () => input.end());
    // A pipe that breaks because the process went away is told by its exit.
    stream.on('error', () => undefined);
  }

  private async untilGone(): Promise<void> {
    await this.exited;
    while (await isTreeThere(this.tree)) {
      const pause = sleep(LEFTOVER_MS, undefined, { ref: false });
      await (this.ending ? Promise.race([pause, this.ending]) : pause);
    }
  }
}
