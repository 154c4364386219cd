import { v7 as uuid } from 'uuid';
import type { InterjectParams, InterjectResult } from '../../protocol/aster.js';
import type { Interjection } from '../../protocol/deck.js';
import { DomainError } from '../../protocol/errors.js';
import type { Client } from '../sessions/client.js';
import { requireTrust } from '../sessions/trust.js';
import type { InterjectionRow, InterjectionState, RunSession, RunStore } from './ports.js';
import type { Run } from './run.js';

export interface InterjectionsParts {
  readonly store: RunStore;
  /** The run of the session that is going on now. */
  activeRun(sessionId: string): Run | undefined;
  /** Runs the next queued interjection when nothing else runs. */
  runQueued(sessionId: string): void;
  /** Tells everybody who may see the session. */
  announce(interjection: Interjection): void;
}

/** An interjection that waits for its own turn, and who sent it. */
export interface QueuedInterjection {
  readonly row: InterjectionRow;
  /** Undefined when its sender is not known any more. */
  readonly owner: Client | undefined;
}

const QUEUED = ['queued'] as const;
/** States of which the text is still the person's to deal with. */
const OPEN = ['pending', 'queued', 'returned'] as const;

/**
 * Text that people add to a run. It is stored before anything is done with it, and every text ends as injected, as a
 * turn of its own, or handed back; it is never lost and never sent twice.
 */
export class Interjections {
  private readonly owners = new Map<string, Client>();

  constructor(private readonly parts: InterjectionsParts) {}

  /**
   * Takes text for the active run. Throws `generation_stale`, `no_active_run` (another run than `expectedRunId`),
   * `operation_conflict` (the id was used for another text), `forbidden` (restricted window).
   */
  async add(client: Client, session: RunSession, params: InterjectParams): Promise<InterjectResult> {
    requireTrust(client);
    const id = params.interjectionId ?? uuid();
    const known = this.parts.store.interjection(id);
    if (known) {
      if (known.sessionId !== session.id || known.text !== params.text)
        throw new DomainError('operation_conflict', 'This interjectionId was used for another text.');
      return receipt(known, session.generation);
    }
    if (params.expectedGeneration !== undefined && params.expectedGeneration !== session.generation)
      throw new DomainError('generation_stale', 'The history of this session was rewritten meanwhile.', {
        generation: session.generation,
      });
    const run = this.parts.activeRun(session.id);
    if (params.expectedRunId !== undefined && params.expectedRunId !== run?.id)
      throw new DomainError('no_active_run', 'The run that this text was meant for has ended.', {
        ...(run ? { runId: run.id } : {}),
      });
    const now = Date.now();
    const row: InterjectionRow = {
      id,
      sessionId: session.id,
      runId: run?.id,
      text: params.text,
      state: run ? 'pending' : 'idle',
      createdAt: now,
      updatedAt: now,
    };
    this.parts.store.addInterjection(row);
    this.parts.announce(toWire(row));
    if (!run) return receipt(row, session.generation);
    this.owners.set(id, client);
    return receipt(await this.deliver(row, run), session.generation);
  }

  /** The next one that waits for a turn of its own. */
  next(sessionId: string): QueuedInterjection | undefined {
    const row = this.parts.store.interjections(QUEUED, sessionId)[0];
    return row && { row, owner: this.owners.get(row.id) };
  }

  /** The text has become the turn `runId`. */
  sent(row: InterjectionRow, runId: string): void {
    this.owners.delete(row.id);
    this.change(row, 'injected', runId);
  }

  /** Hands back everything that waits: the run was cancelled or failed. */
  returnQueued(sessionId: string): void {
    for (const row of this.parts.store.interjections(QUEUED, sessionId)) this.giveBack(row);
  }

  giveBack(row: InterjectionRow): InterjectionRow {
    this.owners.delete(row.id);
    return this.change(row, 'returned');
  }

  /** Those that wait or were handed back, oldest first. */
  list(sessionId: string): Interjection[] {
    return this.parts.store.interjections(OPEN, sessionId).map(toWire);
  }

  /** Takes one back. Throws `task_unavailable` (unknown), `already_resolved` (sent, or discarded before). */
  discard(sessionId: string, interjectionId: string): void {
    const row = this.parts.store.interjection(interjectionId);
    if (row?.sessionId !== sessionId)
      throw new DomainError('task_unavailable', 'This interjection is not known.');
    if (row.state !== 'queued' && row.state !== 'returned' && row.state !== 'idle')
      throw new DomainError('already_resolved', 'This interjection cannot be taken back any more.', {
        state: row.state,
      });
    this.owners.delete(row.id);
    this.change(row, 'discarded');
  }

  private async deliver(row: InterjectionRow, run: Run): Promise<InterjectionRow> {
    if (await run.steer(row.text)) {
      this.owners.delete(row.id);
      return this.change(row, 'injected');
    }
    const queued = this.change(row, 'queued');
    if (this.parts.activeRun(row.sessionId)) return queued;
    // The run ended while the agent was asked, so nobody else will look at the queue.
    const { status } = await run.ended;
    if (status !== 'completed') return this.giveBack(queued);
    this.parts.runQueued(row.sessionId);
    return this.parts.store.interjection(row.id) ?? queued;
  }

  private change(row: InterjectionRow, state: InterjectionState, runId?: string): InterjectionRow {
    const updatedAt = Date.now();
    this.parts.store.changeInterjection(row.id, {
      state,
      updatedAt,
      ...(runId === undefined ? {} : { runId }),
    });
    const changed = { ...row, state, updatedAt, ...(runId === undefined ? {} : { runId }) };
    this.parts.announce(toWire(changed));
    return changed;
  }
}

/** The row as clients see it. */
export function toWire(row: InterjectionRow): Interjection {
  return {
    interjectionId: row.id,
    sessionId: row.sessionId,
    ...(row.runId === undefined ? {} : { runId: row.runId }),
    text: row.text,
    state: row.state,
    createdAt: new Date(row.createdAt).toISOString(),
    updatedAt: new Date(row.updatedAt).toISOString(),
  };
}

function receipt(row: InterjectionRow, generation: number): InterjectResult {
  const status =
    row.state === 'injected'
      ? 'injected'
      : row.state === 'pending' || row.state === 'queued'
        ? 'queued'
        : 'idle';
  return {
    interjectionId: row.id,
    status,
    generation,
    ...(row.runId === undefined ? {} : { runId: row.runId }),
  };
}
