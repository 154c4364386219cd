import type { HostMethod } from '../agents/agent_connection.js';
import type { Elicitations } from './elicitations.js';
import type { HostFiles } from './host_files.js';
import type { LiveSession } from './live_session.js';
import type { Terminals } from './terminals.js';

/** The methods of the terminals. */
export type TerminalMethod = Extract<HostMethod, `terminal/${string}`>;

/** Answers what agents ask of their client, by handing it to the part whose business it is. */
export class AgentHost {
  constructor(
    private readonly parts: {
      readonly files: HostFiles;
      readonly terminals: Terminals;
      readonly elicitations: Elicitations;
    },
  ) {}

  /** The agent needs no answer to the question with that id of its own any more. */
  elicitationComplete(session: LiveSession, elicitationId: string): void {
    this.parts.elicitations.complete(session, elicitationId);
  }

  /** Rejects with a `RequestError` that the agent can read. */
  answer(session: LiveSession, method: HostMethod, params: unknown, signal: AbortSignal): Promise<unknown> {
    const { files, terminals, elicitations } = this.parts;
    switch (method) {
      case 'fs/read_text_file':
        return files.read(session, params, signal);
      case 'fs/write_text_file':
        return files.write(session, params, signal);
      case 'elicitation/create':
        return elicitations.create(session, params, signal);
      case 'terminal/create':
      case 'terminal/output':
      case 'terminal/wait_for_exit':
      case 'terminal/kill':
      case 'terminal/release':
        return terminals.answer(session, method, params, signal);
    }
  }
}
