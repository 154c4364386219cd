import { setImmediate as nextTurn } from 'node:timers/promises';
import { v7 as uuid } from 'uuid';
import * as z from 'zod';
import type { ForkHeadParams } from '../../protocol/acp.js';
import { type ForkParams, ForkResult, PREFIX_FORK_SCHEMA } from '../../protocol/aster.js';
import type { ForkPreviewParams, ForkPreviewResult } from '../../protocol/deck.js';
import type { Cut, Entry } from '../../protocol/entry.js';
import { DomainError } from '../../protocol/errors.js';
import type { EntryBody } from '../sources/source.js';
import type { Client } from './client.js';
import type { EntryRecord, SessionData, TurnRecord } from './data.js';
import type { Operations } from './operations.js';
import type { Reader } from './reader.js';
import { isUnfinished, type SessionRecord } from './record.js';
import type { Shelf } from './shelf.js';
import { addUsage, countMessages } from './transcripts.js';
import { requireDirectories } from './directories.js';
import { changedSince, checkWorkspace, workspaceState } from './workspace.js';

/** Entries that are copied at once. */
const CHUNK = 200;
/** Sessions are named by this; more is no name. */
const TARGET_ID = /^[A-Za-z0-9][\w.:-]{0,127}$/;

type Preview = z.infer<typeof ForkPreviewResult>;

const ForkMeta = z.looseObject({ agent: z.string().min(1).max(64).nullish() }).nullish();

export interface ForkParts {
  readonly data: SessionData;
  readonly shelf: Shelf;
  readonly reader: Reader;
  readonly operations: Operations;
}

/** Branches: a new session of ours from all entries of another up to a completed boundary. */
export class Forks {
  /** Targets that are being written. */
  private readonly taken = new Set<string>();

  constructor(private readonly parts: ForkParts) {}

  /** What a fork at a boundary would keep, and what changed in the workspace since. Throws as `fork` for the boundary. */
  async preview(client: Client, params: ForkPreviewParams): Promise<Preview> {
    const { shelf, reader } = this.parts;
    await reader.freshen(shelf.resolve(client, params.sessionId));
    const record = shelf.resolve(client, params.sessionId);
    const boundary = this.boundary(record, params.boundaryEntryId);
    return {
      cut: cutOf(record),
      entryCount: boundary.ordinal + 1,
      workspace: await this.workspace(client, record, boundary),
    };
  }

  /**
   * Throws `boundary_invalid`, `boundary_incomplete`, `cut_stale` (with the current cut), `workspace_mismatch` (with the
   * part), `target_exists`, `operation_conflict`. The source is not changed; a fork that fails leaves nothing.
   */
  fork(client: Client, params: ForkParams, signal: AbortSignal): Promise<ForkResult> {
    const { shelf, operations } = this.parts;
    const { id } = shelf.resolve(client, params.sessionId);
    const { operationId, request } = params;
    const agent = wantedAgent(client, params._meta);
    return operations.once(
      PREFIX_FORK_SCHEMA,
      operationId,
      { sessionId: id, request, ...(agent === undefined ? {} : { agent }) },
      (recorded) => ForkResult.parse(recorded),
      (record) => this.make(client, id, params, agent, record, signal),
    );
  }

  /**
   * A fork from the last completed turn. Returns the new session. Throws `boundary_invalid` when there is none,
   * `invalid_params` for an agent that is not set, `session_unavailable`.
   */
  async head(client: Client, params: ForkHeadParams, signal: AbortSignal): Promise<SessionRecord> {
    const { shelf, reader } = this.parts;
    const { id } = shelf.resolve(client, params.sessionId, params.cwd);
    const agent = wantedAgent(client, params._meta);
    const directories = requireDirectories(client, params.additionalDirectories);
    await reader.freshen(shelf.resolve(client, id), signal);
    const source = shelf.resolve(client, id);
    const boundary = this.lastBoundary(source);
    const target = uuid();
    try {
      const copy = await this.copy(source, boundary, target, agent, signal);
      this.check(shelf.resolve(client, id), boundary.id, cutOf(source));
      const record = directories.length > 0 ? { ...copy, directories } : copy;
      shelf.save(record);
      return record;
    } catch (error) {
      await this.removeRemains(target);
      throw error;
    }
  }

  private async make(
    client: Client,
    id: string,
    params: ForkParams,
    agent: string | undefined,
    keep: (result: ForkResult) => void,
    signal: AbortSignal,
  ): Promise<ForkResult> {
    const { shelf, reader } = this.parts;
    const { request } = params;
    const target = request.target_session_id;
    await reader.freshen(shelf.resolve(client, id), signal);
    const source = shelf.resolve(client, id);
    const boundary = this.check(source, request.boundary_entry_id, request.expected_cut);
    this.checkTarget(target);
    this.taken.add(target);
    try {
      const workspace = await this.workspace(client, source, boundary);
      checkWorkspace(request.expected_workspace, workspace);
      const record = await this.copy(source, boundary, target, agent, signal);
      // The history may have been rewritten while it was copied.
      this.check(shelf.resolve(client, id), boundary.id, request.expected_cut);
      const result: ForkResult = {
        schema: PREFIX_FORK_SCHEMA,
        operationId: params.operationId,
        sessionId: target,
        parent: { sessionId: id, boundaryEntryId: boundary.id },
        entryCount: boundary.ordinal + 1,
        workspace,
      };
      shelf.save(record, { alongside: () => keep(result) });
      return result;
    } catch (error) {
      await this.removeRemains(target);
      throw error;
    } finally {
      this.taken.delete(target);
    }
  }

  /** Removes what a fork left that was cut short by the end of the service. */
  async recover(): Promise<void> {
    for (const record of this.parts.data.sessions())
      if (isUnfinished(record)) await this.removeRemains(record.id);
  }

  private async removeRemains(target: string): Promise<void> {
    const { data, shelf } = this.parts;
    if (!shelf.book.has(target)) await data.removeSession(target);
  }

  private checkTarget(target: string): void {
    if (!TARGET_ID.test(target))
      throw new DomainError('invalid_params', 'target_session_id is no session id.', {
        field: 'request.target_session_id',
      });
    if (this.parts.shelf.book.has(target) || this.taken.has(target))
      throw new DomainError('target_exists', 'There is a session with the target id already.');
  }

  private lastBoundary(record: SessionRecord): EntryRecord {
    const { data } = this.parts;
    for (let number = record.turnCount; number > 0; number -= 1) {
      const [turn] = data.turns(record.id, record.generation, number, 1);
      const row =
        turn?.boundaryEntryId === undefined || turn.status === 'running'
          ? undefined
          : data.entry(record.id, record.generation, turn.boundaryEntryId);
      if (row?.boundary === true) return row;
    }
    throw new DomainError('boundary_invalid', 'This session has no completed turn to fork from.', {
      cut: cutOf(record),
    });
  }

  private boundary(record: SessionRecord, entryId: string): EntryRecord {
    const { data } = this.parts;
    const row = data.entry(record.id, record.generation, entryId);
    if (!row || row.ordinal >= record.entryCount)
      throw new DomainError('boundary_invalid', 'This entry is not in the transcript.', {
        cut: cutOf(record),
      });
    if (row.boundary) return row;
    if (data.turn(record.id, record.generation, row.turnId)?.status === 'running')
      throw new DomainError('boundary_incomplete', 'The turn of this entry is still running.');
    throw new DomainError('boundary_invalid', 'This entry does not end a turn.');
  }

  /** The boundary, if the cut that the caller saw is still true. */
  private check(record: SessionRecord, boundaryEntryId: string, expected: Cut): EntryRecord {
    const { generation, revision } = expected;
    const stale = () =>
      new DomainError('cut_stale', 'The history is not as it was seen any more.', { cut: cutOf(record) });
    if (generation !== record.generation || revision > record.revision) throw stale();
    const boundary = this.boundary(record, boundaryEntryId);
    // Appends after the boundary are fine; nothing up to it may have changed since.
    if (this.parts.data.revisionUpTo(record.id, generation, boundary.ordinal) > revision) throw stale();
    return boundary;
  }

  private async workspace(client: Client, record: SessionRecord, boundary: EntryRecord) {
    const useGit = client.options.trusted;
    const turn = this.parts.data.turn(record.id, record.generation, boundary.turnId);
    const since = turn?.endedAt ?? boundary.at;
    const [state, changed] = await Promise.all([
      workspaceState(record.cwd, useGit),
      changedSince(record.cwd, since, useGit),
    ]);
    return { ...state, changedSinceBoundary: changed };
  }

  /** Copies entries and turns under a session that is not visible yet. Returns its record to make it so. */
  private async copy(
    source: SessionRecord,
    boundary: EntryRecord,
    target: string,
    agent: string | undefined,
    signal: AbortSignal,
  ): Promise<SessionRecord> {
    const { data, reader } = this.parts;
    const count = boundary.ordinal + 1;
    const draft = forkOf(source, target, boundary.id, agent);
    data.putSession(draft);
    let messages = 0;
    for (let from = 0; from < count; from += CHUNK) {
      signal.throwIfAborted();
      const rows = data.entries(source.id, source.generation, from, Math.min(CHUNK, count - from));
      const entries = await reader.whole(source, rows);
      if (entries.some(({ kind }, index) => kind === 'raw' && rows[index]?.kind !== 'raw'))
        throw new DomainError('cut_stale', 'The transcript cannot be read as it was seen.', {
          cut: cutOf(source),
        });
      messages += countMessages(rows);
      data.transaction(() => {
        data.putEntries(
          target,
          0,
          rows.map((row, index) => copyOf(row, entries[index])),
        );
      });
      await nextTurn();
    }
    const kept: TurnRecord[] = [];
    for (let from = 1; from <= source.turnCount; from += CHUNK) {
      const turns = data
        .turns(source.id, source.generation, from, CHUNK)
        .filter(({ firstOrdinal }) => firstOrdinal < count)
        .map((turn) => ({ ...turn, lastOrdinal: Math.min(turn.lastOrdinal, count - 1), own: true }));
      data.putTurns(target, 0, turns);
      kept.push(...turns);
      if (turns.length < CHUNK) break;
    }
    const usage = kept.reduce<SessionRecord['usage']>(
      (sum, turn) => (turn.usage ? addUsage(sum, turn.usage) : sum),
      undefined,
    );
    return {
      ...draft,
      revision: 1,
      entryCount: count,
      turnCount: kept.length,
      messageCount: messages,
      empty: false,
      ...(usage ? { usage } : {}),
    };
  }
}

const cutOf = ({ generation, revision }: SessionRecord) => ({ generation, revision });

/** The agent that the fork is to go on in; undefined: its parent's. */
function wantedAgent({ options }: Client, meta: unknown): string | undefined {
  const refuse = (message: string) => new DomainError('invalid_params', message, { field: '_meta.agent' });
  const parsed = ForkMeta.safeParse(meta);
  if (!parsed.success) throw refuse('_meta.agent is no id of an agent.');
  const agent = parsed.data?.agent ?? undefined;
  const agents = options.config.agents ?? {};
  if (agent !== undefined && !Object.hasOwn(agents, agent))
    throw refuse(`No agent named "${agent}" is set. Set are: ${Object.keys(agents).join(', ') || 'none'}.`);
  return agent;
}

/** Not listed until its entries are there. */
function forkOf(
  source: SessionRecord,
  id: string,
  boundaryEntryId: string,
  wanted: string | undefined,
): SessionRecord {
  const now = Date.now();
  // The agent of a tool's own session is known by the tool's name.
  const bound = source.agent ?? (source.source === 'deck' ? undefined : source.source);
  const agent = wanted ?? bound;
  return {
    id,
    source: 'deck',
    cwd: source.cwd,
    ...(source.title === undefined ? {} : { title: source.title }),
    ...(source.preview === undefined ? {} : { preview: source.preview }),
    createdAt: now,
    updatedAt: now,
    kind: source.kind,
    headless: false,
    state: 'idle',
    archived: false,
    ...(agent === undefined ? {} : { agent }),
    ...(source.model === undefined || agent !== bound ? {} : { model: source.model }),
    ...(source.directories === undefined ? {} : { directories: source.directories }),
    parent: { sessionId: source.id, boundaryEntryId, relation: 'fork' },
    hasErrors: source.hasErrors,
    empty: true,
    generation: 0,
    revision: 0,
    entryCount: 0,
    turnCount: 0,
    skipped: 0,
    offBranch: 0,
  };
}

/** The row with its content in our store, whatever becomes of the file that it came from. */
function copyOf(row: EntryRecord, entry: Entry | undefined): EntryRecord {
  if (!entry || row.place.in === 'store') return { ...row, revision: 1 };
  return { ...row, revision: 1, place: { in: 'store', body: bodyOf(entry) } };
}

function bodyOf(entry: Entry): EntryBody {
  const { kind, status, content, tool, plan, ask, compaction, interjection, severity, model } = entry;
  return {
    kind,
    content,
    ...(status === undefined ? {} : { status }),
    ...(tool === undefined ? {} : { tool }),
    ...(plan === undefined ? {} : { plan }),
    ...(ask === undefined ? {} : { ask }),
    ...(compaction === undefined ? {} : { compaction }),
    ...(interjection === undefined ? {} : { interjection }),
    ...(severity === undefined ? {} : { severity }),
    ...(model === undefined ? {} : { model }),
  };
}
