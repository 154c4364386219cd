import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { IndexedEntry, IndexedTurn, InlineChild, Scan } from '../sources/source.js';
import type { EntryRecord, FileRecord, SessionData, TurnRecord } from './data.js';
import { fromHead, fromTotals } from './heads.js';
import type { SessionRecord } from './record.js';
import type { Shelf } from './shelf.js';
import { countMessages, type Publish } from './transcripts.js';

/** Rows in one transaction, so that no request waits long behind it. */
const CHUNK = 400;
/** The clock of an agent and its last words are this much off from our record of the run, in ms. */
const WINDOW_MARGIN = 1000;

/**
 * `later`: an agent is at work on the session for us; what it writes is in our own rows. `whole`: the new entries do not
 * come last, the file has to be scanned from its start.
 */
export type Applied = 'done' | 'later' | 'whole';

interface Part {
  readonly mode: Scan['mode'];
  readonly entries: readonly IndexedEntry[];
  readonly turns: readonly IndexedTurn[];
}

/** Brings what a scan of a file found into the transcript that the store holds: entries, turns, usage, the row. */
export class IndexWriter {
  constructor(
    private readonly data: SessionData,
    private readonly shelf: Shelf,
    private readonly publish: Publish,
  ) {}

  /** Whether an agent is at work on the session for us, so that its file tells what our own rows tell already. */
  isBusy(sessionId: string): boolean {
    return this.data.runWindows(sessionId).some(({ endedAt }) => endedAt === undefined);
  }

  /** `file` is the record to be stored when all is in; a failure in between leaves the old offset, and is repeated. */
  async apply(file: FileRecord, scan: Scan): Promise<Applied> {
    const session = this.shelf.book.get(file.sessionId);
    if (!session) return 'done';
    const windows = this.data.runWindows(session.id);
    // The agent of a fork copies what the fork began with into its own file.
    const since = session.source === 'deck' && session.parent?.relation === 'fork' ? session.createdAt : 0;
    const ranHere = (at: number) =>
      at < since ||
      windows.some(
        ({ startedAt, endedAt = Infinity }) =>
          at >= startedAt - WINDOW_MARGIN && at <= endedAt + WINDOW_MARGIN,
      );
    const quiet = session.messageCount === undefined;

    const part = withoutOurs(scan, ranHere, (id) => this.knows(session, id));
    const outcome = await this.merge(session.id, part, quiet);
    if (outcome !== 'done') return outcome;
    for (const child of scan.children) await this.applyChild(session, scan.mode, child, quiet);

    const usage = scan.usage.filter(({ at }) => !ranHere(at));
    for (let from = 0; from < usage.length; from += CHUNK) {
      if (!this.shelf.book.get(session.id)) return 'done';
      const some = usage.slice(from, from + CHUNK);
      this.data.transaction(() => this.data.putUsage(session.id, some), { repeatable: true });
      await nextTurn();
    }
    const now = this.shelf.book.get(session.id);
    if (!now) return 'done';
    const record = now.source === 'deck' ? now : fromTotals(now, scan.totals);
    this.shelf.save(record, {
      quiet,
      repeatable: true,
      alongside: () => this.data.putFile(file, scan.state ?? null),
    });
    return 'done';
  }

  private async applyChild(
    parent: SessionRecord,
    mode: Scan['mode'],
    child: InlineChild,
    quiet: boolean,
  ): Promise<void> {
    const { head, entries, turns } = child;
    const known = this.shelf.book.get(head.sessionId);
    if (known ? known.parent?.sessionId !== parent.id : this.shelf.book.has(head.sessionId)) return;
    const record = fromHead(known, { ...head, cwd: head.cwd || parent.cwd }, parent.source, head.sessionId);
    this.shelf.save({ ...record, messageCount: countMessages(entries) }, { quiet, repeatable: true });
    await this.merge(record.id, { mode, entries, turns }, quiet);
  }

  private async merge(sessionId: string, part: Part, quiet: boolean): Promise<Applied> {
    const session = this.shelf.book.get(sessionId);
    if (!session) return 'done';
    if (this.wouldComeBeforeOurs(session, part)) {
      if (part.mode === 'append') return 'whole';
      return this.rebuild(session, part, quiet);
    }
    if (part.mode === 'rewrite' && session.entryCount > 0 && !(await this.isContinued(session, part)))
      return this.rebuild(session, part, quiet);
    await this.append(sessionId, part, quiet);
    return 'done';
  }

  private knows({ id, generation }: SessionRecord, turnId: string): boolean {
    return this.data.turn(id, generation, turnId) !== undefined;
  }

  /** Whether a new turn of the file is older than one that was run here. */
  private wouldComeBeforeOurs(session: SessionRecord, { turns }: Part): boolean {
    const lastOurs = this.ownTurns(session).at(-1);
    if (!lastOurs) return false;
    return turns.some(({ id, at }) => at < lastOurs.at && !this.knows(session, id));
  }

  private ownTurns(session: SessionRecord): TurnRecord[] {
    if (this.data.runWindows(session.id).length === 0) return [];
    return this.data.turns(session.id, session.generation, 1, session.turnCount).filter(({ own }) => own);
  }

  /** Whether the known entries of the file are the beginning of the new ones, in the same order. */
  private async isContinued(session: SessionRecord, { entries }: Part): Promise<boolean> {
    let next = 0;
    for (let from = 0; from < session.entryCount; from += CHUNK) {
      for (const row of this.data.entries(session.id, session.generation, from, CHUNK)) {
        if (row.place.in === 'store') continue;
        if (entries[next]?.id !== row.id) return false;
        next += 1;
      }
      await nextTurn();
    }
    return true;
  }

  /** Appends what is new and replaces what changed, in steps of which each is whole. */
  private async append(sessionId: string, part: Part, quiet: boolean): Promise<void> {
    const turns = new Map(part.turns.map((turn) => [turn.id, turn]));
    for (let from = 0; from < part.entries.length; from += CHUNK) {
      const session = this.shelf.book.get(sessionId);
      if (!session) return;
      this.appendChunk(session, part.entries.slice(from, from + CHUNK), turns, quiet);
      await nextTurn();
    }
    this.updateTurns(sessionId, part);
  }

  private appendChunk(
    session: SessionRecord,
    entries: readonly IndexedEntry[],
    found: ReadonlyMap<string, IndexedTurn>,
    quiet: boolean,
  ): void {
    const { generation } = session;
    const revision = session.revision + 1;
    const rows: EntryRecord[] = [];
    const appended: string[] = [];
    const replaced: string[] = [];
    const turns = new Turns(session, (id) => this.data.turn(session.id, generation, id));
    let next = session.entryCount;
    for (const entry of entries) {
      const known = session.entryCount === 0 ? undefined : this.data.entry(session.id, generation, entry.id);
      if (known?.place.in === 'store') continue;
      const row = toRecord(entry, known?.ordinal ?? next, revision);
      if (known) {
        if (isDeepStrictEqual({ ...known, revision }, row)) continue;
        replaced.push(row.id);
      } else {
        next += 1;
        appended.push(row.id);
      }
      turns.add(row, found.get(row.turnId));
      rows.push(row);
    }
    if (rows.length === 0) return;
    const isNew = new Set(appended);
    this.shelf.save(
      {
        ...session,
        revision,
        entryCount: next,
        turnCount: turns.count,
        ...(session.source === 'deck'
          ? {
              messageCount:
                (session.messageCount ?? 0) + countMessages(rows.filter(({ id }) => isNew.has(id))),
            }
          : {}),
      },
      {
        quiet,
        repeatable: true,
        alongside: () => {
          this.data.putEntries(session.id, generation, rows);
          this.data.putTurns(session.id, generation, turns.changed());
        },
      },
    );
    this.publish(session.id, {
      baseRevision: session.revision,
      cut: { generation, revision },
      total: next,
      appended,
      replaced,
    });
  }

  /** Turns that changed although none of their entries did. */
  private updateTurns(sessionId: string, { turns, entries }: Part): void {
    const session = this.shelf.book.get(sessionId);
    if (!session) return;
    const told = new Set(entries.map(({ turnId }) => turnId));
    const changed = turns.flatMap((turn) => {
      if (told.has(turn.id)) return [];
      const known = this.data.turn(sessionId, session.generation, turn.id);
      if (!known || known.own) return [];
      const updated = { ...known, ...factsOf(turn) };
      return isDeepStrictEqual(updated, known) ? [] : [updated];
    });
    if (changed.length > 0)
      this.data.transaction(() => {
        this.data.putTurns(sessionId, session.generation, changed);
      });
  }

  /**
   * The history is another one now: writes it beside the old one as the next generation, the turns that were run here in
   * their place by time, and then switches over at once.
   */
  private async rebuild(before: SessionRecord, part: Part, quiet: boolean): Promise<Applied> {
    const { id } = before;
    const generation = before.generation + 1;
    await this.data.removeOtherGenerations(id, before.generation);
    const revision = before.revision + 1;
    const turns = new Turns({ ...before, turnCount: 0 }, () => undefined);
    const found = new Map(part.turns.map((turn) => [turn.id, turn]));
    let count = 0;
    let chunk: EntryRecord[] = [];
    const flush = async () => {
      const rows = chunk;
      chunk = [];
      this.data.transaction(() => {
        this.data.putEntries(id, generation, rows);
        this.data.putTurns(id, generation, turns.changed());
      });
      await nextTurn();
    };
    for (const item of inOrder(part, found, this.ownTurns(before))) {
      const rows =
        'own' in item
          ? this.rowsOf(before, item).map((row) => ({ ...row, ordinal: count++, revision }))
          : [toRecord(item, count++, revision)];
      for (const row of rows) turns.add(row, 'own' in item ? item : found.get(row.turnId));
      chunk.push(...rows);
      if (chunk.length >= CHUNK) await flush();
    }
    await flush();
    // Somebody wrote into the old history meanwhile; it must not be lost.
    const now = this.shelf.book.get(id);
    if (!now) return 'done';
    if (now.revision !== before.revision || now.generation !== before.generation) return 'later';
    this.shelf.save({ ...now, generation, revision, entryCount: count, turnCount: turns.count }, { quiet });
    this.publish(id, {
      baseRevision: before.revision,
      cut: { generation, revision },
      total: count,
      appended: [],
      replaced: [],
      rewritten: true,
    });
    await this.data.removeOtherGenerations(id, generation);
    return 'done';
  }

  private rowsOf(session: SessionRecord, turn: TurnRecord): EntryRecord[] {
    return this.data
      .entries(session.id, session.generation, turn.firstOrdinal, turn.lastOrdinal - turn.firstOrdinal + 1)
      .filter(({ turnId }) => turnId === turn.id);
  }
}

/** Leaves out the turns that were run here: our own rows stand for them. */
function withoutOurs(
  { mode, entries, turns }: Scan,
  ranHere: (at: number) => boolean,
  isKnown: (turnId: string) => boolean,
): Part {
  const kept = turns.filter(({ at }) => !ranHere(at));
  if (kept.length === turns.length && mode === 'rewrite') return { mode, entries, turns };
  const keptIds = new Set(kept.map(({ id }) => id));
  const told = new Set(turns.map(({ id }) => id));
  // A turn that this scan does not tell is one of an earlier scan; it is in the store unless it was left out.
  const isKept = (turnId: string) => (told.has(turnId) ? keptIds.has(turnId) : isKnown(turnId));
  return { mode, entries: entries.filter(({ turnId }) => isKept(turnId)), turns: kept };
}

/** The entries of the file, and between its turns those that were run here, by time. */
function* inOrder(
  { entries }: Part,
  found: ReadonlyMap<string, IndexedTurn>,
  own: readonly TurnRecord[],
): Generator<IndexedEntry | TurnRecord> {
  const waiting = [...own];
  let turnId: string | undefined;
  for (const entry of entries) {
    if (entry.turnId !== turnId) {
      turnId = entry.turnId;
      const at = found.get(turnId)?.at ?? entry.at;
      for (let next = waiting[0]; next && next.at < at; next = waiting[0]) {
        yield next;
        waiting.shift();
      }
    }
    yield entry;
  }
  yield* waiting;
}

function toRecord(entry: IndexedEntry, ordinal: number, revision: number): EntryRecord {
  return {
    id: entry.id,
    ordinal,
    turnId: entry.turnId,
    kind: entry.kind,
    at: entry.at,
    ...(entry.status === undefined ? {} : { status: entry.status }),
    boundary: entry.boundary,
    preview: entry.preview,
    revision,
    place: {
      in: 'file',
      ranges: entry.ranges,
      ...(entry.block === undefined ? {} : { block: entry.block }),
    },
  };
}

type TurnFacts = Pick<TurnRecord, 'prompt' | 'at' | 'endedAt' | 'status' | 'tools' | 'files' | 'usage'> & {
  readonly boundaryEntryId?: string | undefined;
};

function factsOf(turn: IndexedTurn | TurnRecord): TurnFacts {
  return {
    prompt: turn.prompt,
    at: turn.at,
    ...(turn.endedAt === undefined ? {} : { endedAt: turn.endedAt }),
    status: turn.status,
    tools: turn.tools,
    files: turn.files,
    ...(turn.usage === undefined ? {} : { usage: turn.usage }),
    ...(turn.boundaryEntryId === undefined ? {} : { boundaryEntryId: turn.boundaryEntryId }),
  };
}

/** Numbers turns as their entries come, and keeps where they begin and end. */
class Turns {
  count: number;
  private readonly known = new Map<string, TurnRecord>();
  private readonly touched = new Set<string>();

  constructor(
    session: SessionRecord,
    private readonly load: (id: string) => TurnRecord | undefined,
  ) {
    this.count = session.turnCount;
  }

  add(row: EntryRecord, found: IndexedTurn | TurnRecord | undefined): void {
    const known = this.known.get(row.turnId) ?? this.load(row.turnId);
    const facts: TurnFacts = found
      ? factsOf(found)
      : (known ?? { prompt: '', at: row.at, status: 'completed', tools: 0, files: [] });
    const turn: TurnRecord = {
      ...facts,
      id: row.turnId,
      number: known?.number ?? (this.count += 1),
      firstOrdinal: Math.min(known?.firstOrdinal ?? row.ordinal, row.ordinal),
      lastOrdinal: Math.max(known?.lastOrdinal ?? row.ordinal, row.ordinal),
      own: row.place.in === 'store',
    };
    this.known.set(row.turnId, turn);
    this.touched.add(row.turnId);
  }

  /** Those that changed since the last call. */
  changed(): TurnRecord[] {
    const turns = [...this.touched].flatMap((id) => this.known.get(id) ?? []);
    this.touched.clear();
    return turns;
  }
}
