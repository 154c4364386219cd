import { v7 as uuid } from 'uuid';
import type { CompactParams, CompactResult } from '../../protocol/aster.js';
import { DomainError } from '../../protocol/errors.js';
import type { AgentSpec } from '../agents/agent_process.js';
import type { Client } from '../sessions/client.js';
import type { LiveSessions } from './live_sessions.js';
import type { RunSession, RunStore } from './ports.js';
import type { Run, RunInput } from './run.js';
import type { RunTiming } from './timing.js';

export interface CompactionsParts {
  readonly store: RunStore;
  readonly live: LiveSessions;
  readonly timing: RunTiming;
  activeRun(sessionId: string): Run | undefined;
  startRun(input: RunInput): Run;
}

interface Running {
  readonly id: string;
  readonly result: Promise<CompactResult>;
}

/** The agents' command that replaces their context by a summary. */
const COMMAND = 'compact';

/** Compaction through the agent's own command. The transcript keeps everything and shows the compaction. */
export class Compactions {
  private readonly running = new Map<string, Running>();

  constructor(private readonly parts: CompactionsParts) {}

  /**
   * Compacts, or joins the compaction that is running. Throws `turn_in_progress`, `not_supported` (the agent has no
   * such command), `cancelled` when `signal` aborts, and what starting and asking the agent throws; then the context
   * is as it was.
   */
  async compact(
    client: Client,
    session: RunSession,
    spec: AgentSpec,
    params: CompactParams,
    signal: AbortSignal,
  ): Promise<CompactResult> {
    const known = this.running.get(session.id);
    if (known) return { ...(await known.result), status: 'already_running' };
    const id = uuid();
    const result = this.start(id, client, session, spec, params, signal).finally(() =>
      this.running.delete(session.id),
    );
    this.running.set(session.id, { id, result });
    return result;
  }

  /** Whether one is running or about to. */
  isRunning(sessionId: string): boolean {
    return this.running.has(sessionId);
  }

  private async start(
    id: string,
    client: Client,
    session: RunSession,
    spec: AgentSpec,
    params: CompactParams,
    signal: AbortSignal,
  ): Promise<CompactResult> {
    this.refuseDuringRun(session.id);
    const opened = await this.parts.live.open(session, spec);
    try {
      const commands = await opened.live.knownCommands(this.parts.timing.commandsMs);
      if (!commands.some(({ name }) => name === COMMAND))
        throw new DomainError(
          'not_supported',
          `${spec.title} offers no "${COMMAND}" command, so this conversation cannot be compacted.`,
        );
      if (opened.live.handover !== undefined)
        throw new DomainError(
          'not_supported',
          `${spec.title} was started anew and does not know this conversation yet, so there is nothing to compact. The next prompt hands it over.`,
        );
      if (signal.aborted) throw cancelled();
      this.refuseDuringRun(session.id);
      return await this.run(id, client, session, spec, params, signal);
    } finally {
      opened.release();
    }
  }

  private async run(
    id: string,
    client: Client,
    session: RunSession,
    spec: AgentSpec,
    params: CompactParams,
    signal: AbortSignal,
  ): Promise<CompactResult> {
    const entryId = uuid();
    const startedAt = Date.now();
    const context = params.userContext?.trim() ?? '';
    const run = this.parts.startRun({
      session,
      spec,
      kind: 'compaction',
      owner: client,
      blocks: [{ type: 'text', text: context === '' ? `/${COMMAND}` : `/${COMMAND} ${context}` }],
      first: {
        id: entryId,
        kind: 'compaction',
        at: new Date(startedAt).toISOString(),
        status: 'in_progress',
        content: [],
        compaction: { trigger: 'user' },
      },
    });
    this.parts.store.addCompaction({ id, sessionId: session.id, runId: run.id, entryId, startedAt });
    const onAbort = () => run.cancel();
    signal.addEventListener('abort', onAbort, { once: true });
    const outcome = await run.ended;
    signal.removeEventListener('abort', onAbort);
    this.parts.store.endCompaction(id, {
      status: outcome.status,
      endedAt: Date.now(),
      ...run.tokens,
      ...(outcome.error ? { error: outcome.error.message } : {}),
    });
    if (outcome.status === 'failed')
      throw outcome.error ?? new DomainError('agent_failed', `${spec.title} did not compact.`);
    if (outcome.status === 'cancelled') throw cancelled();
    return { compactionId: id, status: 'completed', ...run.tokens };
  }

  private refuseDuringRun(sessionId: string): void {
    if (this.parts.activeRun(sessionId))
      throw new DomainError('turn_in_progress', 'A turn is running. Compact when it has ended.');
  }
}

function cancelled(): DomainError {
  return new DomainError('cancelled', 'The compaction was cancelled.');
}
