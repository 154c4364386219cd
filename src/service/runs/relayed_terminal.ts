import type { TerminalExitStatus, TerminalOutputResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import type { Client } from '../sessions/client.js';
import type { Terminal } from './terminal.js';

const Created = z.looseObject({ terminalId: z.string().min(1) });
const Exit = z
  .looseObject({ exitCode: z.number().int().nullish(), signal: z.string().nullish() })
  .transform(({ exitCode, signal }) => ({ exitCode: exitCode ?? null, signal: signal ?? null }));
const Output = z.looseObject({
  output: z.string(),
  truncated: z.boolean().catch(false),
  exitStatus: Exit.nullish(),
});

/** The client gets this long to end a command that it runs, in ms. */
const END_MS = 5000;

/** A command that the ACP client that owns the turn runs. */
export class RelayedTerminal implements Terminal {
  exit: TerminalExitStatus | undefined;
  readonly exited: Promise<TerminalExitStatus>;
  readonly gone: Promise<void>;
  onChange: () => void = () => undefined;
  private readonly over = new AbortController();
  private last: TerminalOutputResponse = { output: '', truncated: false };

  private constructor(
    readonly title: string,
    private readonly client: Client,
    private readonly sessionId: string,
    private readonly terminalId: string,
  ) {
    this.exited = this.untilExit();
    this.gone = this.exited.then(() => undefined);
  }

  /** Asks the client to start it. Rejects as the client does. */
  static async create(
    client: Client,
    sessionId: string,
    title: string,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<RelayedTerminal> {
    const answer = await client.ask('terminal/create', { ...params, sessionId }, signal);
    return new RelayedTerminal(title, client, sessionId, Created.parse(answer).terminalId);
  }

  idAt(client: Client): string | undefined {
    return client === this.client ? this.terminalId : undefined;
  }

  async output(signal: AbortSignal): Promise<TerminalOutputResponse> {
    if (this.over.signal.aborted) return this.last;
    const { output, truncated, exitStatus } = Output.parse(await this.ask('terminal/output', signal));
    this.last = { output, truncated, ...(exitStatus ? { exitStatus } : {}) };
    this.onChange();
    return this.last;
  }

  tail(bytes: number): string {
    return this.last.output.slice(-bytes);
  }

  async end(): Promise<boolean> {
    if (this.over.signal.aborted) return true;
    const signal = AbortSignal.timeout(END_MS);
    try {
      await this.ask('terminal/kill', signal);
      Exit.parse(await this.ask('terminal/wait_for_exit', signal));
      return true;
    } catch {
      // The client refused, did not answer in time, or has gone: nobody knows.
      return false;
    }
  }

  /** Frees it in the client. Rejects as the client does. */
  async release(): Promise<void> {
    if (this.over.signal.aborted) return;
    const signal = AbortSignal.timeout(END_MS);
    try {
      await this.output(signal);
      await this.ask('terminal/release', signal);
    } finally {
      this.over.abort();
    }
  }

  private async untilExit(): Promise<TerminalExitStatus> {
    const exit = await this.askForExit();
    this.exit = exit;
    this.onChange();
    return exit;
  }

  private async askForExit(): Promise<TerminalExitStatus> {
    try {
      const exit = Exit.parse(await this.ask('terminal/wait_for_exit', this.over.signal));
      await this.output(AbortSignal.timeout(END_MS));
      return exit;
    } catch {
      // Released, or the client has gone with it: how it ended is not known.
      this.over.abort();
      return { exitCode: null, signal: null };
    }
  }

  private ask(method: string, signal: AbortSignal): Promise<unknown> {
    return this.client.ask(method, { sessionId: this.sessionId, terminalId: this.terminalId }, signal);
  }
}
