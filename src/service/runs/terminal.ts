import type { TerminalExitStatus, TerminalOutputResponse } from '@agentclientprotocol/sdk';
import type { Client } from '../sessions/client.js';

/** A command that an agent has started through its client. */
export interface Terminal {
  /** The command line, for people. */
  readonly title: string;
  /** How the command ended; undefined while it runs. */
  readonly exit: TerminalExitStatus | undefined;
  /** Settles when the command has ended, whatever it left running. Never rejects. */
  readonly exited: Promise<TerminalExitStatus>;
  /** Settles when nothing of it is left. Never rejects. */
  readonly gone: Promise<void>;
  /** Rejects when the client that runs it cannot tell. */
  output(signal: AbortSignal): Promise<TerminalOutputResponse>;
  /** The end of the output as it is known here, at most so many bytes. */
  tail(bytes: number): string;
  /** Ends it with all that it started. True when nothing of it is left. Safe to call twice, never rejects. */
  end(): Promise<boolean>;
  /** Ends it and frees what is kept of it, but for the tail. */
  release(): Promise<void>;
  /** What the client that runs it calls it there; undefined for a client that does not run it. */
  idAt(client: Client): string | undefined;
  /** Called whenever there is more output, or it has ended. */
  onChange: () => void;
}
