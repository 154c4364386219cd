import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SourceKind } from '../../protocol/session.js';
import type { Log } from '../log.js';
import type { FoundFile, SessionHead, Source } from '../sources/source.js';
import type { FileRecord, SessionData } from './data.js';
import { type Files, isBehind } from './files.js';
import { fromHead } from './heads.js';
import type { HiddenSessions } from './hidden.js';
import { FILE_GONE, type Indexer } from './indexer.js';
import type { Moves } from './moves.js';
import type { SessionRecord } from './record.js';
import type { Shelf } from './shelf.js';

/** Files whose heads are read at the same time. */
const PARALLEL = 16;
/** Rows in one transaction. */
const BATCH = 500;

export interface CatalogueParts {
  readonly data: SessionData;
  readonly files: Files;
  readonly shelf: Shelf;
  readonly sources: readonly Source[];
  readonly indexer: Indexer;
  readonly moves: Moves;
  readonly hidden: Pick<HiddenSessions, 'has'>;
  readonly log: Log;
}

interface Looked {
  readonly source: SourceKind;
  readonly file: FoundFile;
  readonly head: SessionHead;
}

/** Keeps the list equal to what the sources have on disk. */
export class Catalogue {
  private readonly unreadablePaths = new Map<string, string>();
  private looking: Promise<void> | undefined;
  private wanted = 0;
  private readonly stopping = new AbortController();

  constructor(private readonly parts: CatalogueParts) {}

  private isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Files and folders that cannot be read at all. */
  get unreadable(): number {
    return this.unreadablePaths.size;
  }

  /** Looks at all sources. While one look goes on, a further one is promised to follow it. */
  look(): Promise<void> {
    this.wanted += 1;
    this.looking ??= this.lookUntilStill().finally(() => (this.looking = undefined));
    return this.looking;
  }

  /** These files came, grew or went. */
  async changed(paths: readonly string[]): Promise<void> {
    const { files, indexer } = this.parts;
    // Only a look at the folders tells what a new file is; one that went is also marked there.
    if (paths.some((path) => !files.get(path))) await this.look();
    for (const path of paths) if (files.get(path)) await indexer.recheck(path);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.looking;
  }

  private async lookUntilStill(): Promise<void> {
    let answered: number;
    do {
      answered = this.wanted;
      await this.lookOnce();
    } while (this.wanted > answered && !this.isStopping());
  }

  private async lookOnce(): Promise<void> {
    const { sources, files, log, indexer } = this.parts;
    const { signal } = this.stopping;
    for (const source of sources) {
      const seen = new Set<string>();
      const problems = new Map<string, string>();
      let isComplete = true;
      let news: FoundFile[] = [];
      try {
        for await (const batch of source.discover(signal)) {
          for (const { path, problem } of batch.unreadable) problems.set(path, problem);
          for (const { path } of batch.found) seen.add(path);
          news.push(...batch.found.filter((file) => this.isNews(file)));
          // Few large transactions: each one waits for the disk.
          if (news.length < BATCH) continue;
          await this.takeIn(source, news);
          news = [];
        }
      } catch (error) {
        if (this.isStopping()) return;
        isComplete = false;
        log.error('could not look at a source', { source: source.kind, error: String(error) });
      }
      await this.takeIn(source, news);
      for (const path of [...this.unreadablePaths.keys()])
        if (source.roots().some((root) => path.startsWith(root))) this.unreadablePaths.delete(path);
      for (const [path, problem] of problems) this.unreadablePaths.set(path, problem);
      if (isComplete) await this.markMissing(source.kind, seen, problems);
    }
    for (const file of files.all()) if (isBehind(file)) indexer.add(file.path);
  }

  /** Reads the heads of what is new or changed, and stores their rows. */
  private async takeIn(source: Source, news: readonly FoundFile[]): Promise<void> {
    for (let from = 0; from < news.length; from += BATCH) {
      const { mark } = this.parts.moves;
      const looked = await inParallel(news.slice(from, from + BATCH), async (file) => ({
        source: source.kind,
        file,
        head: await source.head(file),
      }));
      if (this.isStopping()) return;
      await this.store(looked, mark);
      await nextTurn();
    }
  }

  private isNews(found: FoundFile): boolean {
    const { hidden } = this.parts;
    if (hidden.has(found.sessionId) || hidden.has(found.parentSessionId ?? '')) return false;
    const file = this.parts.files.get(found.path);
    if (!file) return true;
    if (file.size !== found.size || file.mtimeMs !== found.mtimeMs || file.ino !== found.ino) return true;
    return this.parts.shelf.book.get(file.sessionId)?.unreadable !== undefined;
  }

  private async store(looked: readonly Looked[], mark: number): Promise<void> {
    const { shelf, files, data, moves: moving } = this.parts;
    const { gone, left } = await this.places(looked);
    // From here on nothing is waited for: what is read from the book is still so when it is saved.
    const records = new Map<string, SessionRecord>();
    const fileRecords: FileRecord[] = [];
    const moves = new Map<string, string>();
    for (const one of looked) {
      const { file, head, source } = one;
      if (moving.isTouched(file.path, mark) || this.parts.hidden.has(head.sessionId)) continue;
      const known = files.get(file.path);
      if (!known && gone.has(file.path)) continue;
      const moved = known || records.has(head.sessionId) ? undefined : files.get(left.get(file.path) ?? '');
      const before = known ?? moved;
      if (moved) moves.set(file.path, moved.path);
      const id = before?.sessionId ?? this.idFor(one, records);
      const current = records.get(id) ?? shelf.book.get(id);
      // A deletion ended this record while its head was read.
      if (known && !current) continue;
      // What the agent of a session writes beside the file or the rows that we have of it tells nothing new.
      if (!before && current && isKnownOtherwise(current, head.sessionId, files)) continue;
      fileRecords.push(toFile(source, file, id, before));
      if (current?.source === 'deck') continue;
      if (head.unreadable !== undefined && current) {
        records.set(id, { ...current, unreadable: head.unreadable });
        continue;
      }
      records.set(id, this.record(one, id, current, moved !== undefined));
    }
    const revived = [...records.values()].filter(({ id }) => shelf.book.getDeleted(id));
    shelf.saveAll([...records.values()], {
      repeatable: true,
      alongside: () => {
        for (const file of fileRecords) {
          const from = moves.get(file.path);
          data.putFile(file, from === undefined ? undefined : data.fileState(from));
        }
        for (const path of moves.values()) data.removeFile(path);
      },
    });
    for (const path of moves.values()) files.remove(path);
    for (const file of fileRecords) files.remember(file);
    for (const { id, generation } of revived) await data.removeOtherGenerations(id, generation);
  }

  private record(
    { head, file, source }: Looked,
    id: string,
    current: SessionRecord | undefined,
    isMoved: boolean,
  ): SessionRecord {
    const { book } = this.parts.shelf;
    const found =
      head.parent ??
      (file.role === 'subagent' && file.parentSessionId !== undefined
        ? ({ sessionId: file.parentSessionId, relation: 'subagent' } as const)
        : undefined);
    // The tool's id of the parent may be another than ours.
    const parentId = found && (book.ofAgentSession(found.sessionId)?.id ?? found.sessionId);
    const parent = found && parentId !== undefined ? { ...found, sessionId: parentId } : undefined;
    const record = fromHead(current, head, source, id, current?.parent ?? parent, isMoved);
    const deleted = book.getDeleted(id);
    // Its agent had listed it before its file was found.
    const fresh = { ...record, source, agentSession: record.agentSession ?? head.sessionId };
    // Restored by hand after a delete: it begins anew, beyond what the index of the deleted one had.
    return deleted && !current
      ? { ...fresh, generation: deleted.generation + 1, revision: deleted.revision + 1 }
      : fresh;
  }

  /** Our id for a file that was not known. */
  private idFor({ head, file, source }: Looked, records: ReadonlyMap<string, SessionRecord>): string {
    const { book } = this.parts.shelf;
    const own = book.ofAgentSession(head.sessionId);
    if (own?.source === 'agent') return own.id;
    // A session of ours that this tool's agent runs: the file is its own record of it.
    if (own && (own.source === 'deck' || own.id !== head.sessionId) && own.agent !== undefined) return own.id;
    const isFree = (id: string) => !records.has(id) && !book.get(id) && id !== '';
    const wanted = head.sessionId || file.sessionId;
    if (isFree(wanted)) return wanted;
    const prefixed = `${source}:${wanted}`;
    for (let n = 1; ; n += 1) {
      const id = n === 1 ? prefixed : `${prefixed}:${String(n)}`;
      if (isFree(id)) return id;
    }
  }

  /** Of files that are not known: those that went again, and for the others where the same session was before. */
  private async places(looked: readonly Looked[]): Promise<{
    readonly gone: ReadonlySet<string>;
    readonly left: ReadonlyMap<string, string>;
  }> {
    const gone = new Set<string>();
    const left = new Map<string, string>();
    for (const one of looked) {
      const { path } = one.file;
      if (this.parts.files.get(path)) continue;
      const from = await this.movedFrom(one);
      if (from !== undefined) left.set(path, from);
      if (one.head.unreadable !== undefined && !(await isThere(path))) gone.add(path);
    }
    return { gone, left };
  }

  /** The path of the same session where it is no more, e.g. before the tool archived it. */
  private async movedFrom({ head, source }: Looked): Promise<string | undefined> {
    const { shelf, files } = this.parts;
    const record = shelf.book.get(head.sessionId);
    const file = record && files.ofSession(record.id);
    if (!file || file.source !== source) return undefined;
    return (await isThere(file.path)) ? undefined : file.path;
  }

  /** What was there and is not: its row stays, and says so. */
  private async markMissing(
    kind: SourceKind,
    seen: ReadonlySet<string>,
    problems: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { files, shelf, moves } = this.parts;
    const { mark } = moves;
    const missing = new Map<string, string>();
    for (const file of [...files.all()]) {
      if (file.source !== kind || seen.has(file.path)) continue;
      const problem = [...problems].find(([path]) => file.path.startsWith(path))?.[1];
      if (problem === undefined && (await isThere(file.path))) continue;
      missing.set(file.path, problem ?? FILE_GONE);
    }
    const records = [...missing].flatMap(([path, unreadable]) => {
      const file = files.get(path);
      const record = file && shelf.book.get(file.sessionId);
      if (!record || record.source === 'deck' || moves.isTouched(path, mark)) return [];
      return record.unreadable === unreadable ? [] : [{ ...record, unreadable }];
    });
    for (let from = 0; from < records.length; from += BATCH) shelf.saveAll(records.slice(from, from + BATCH));
  }
}

/** A session with the agent's own id was read through its agent: its history is ours already. */
function isKnownOtherwise(current: SessionRecord, toolId: string, files: Files): boolean {
  if (current.source === 'agent') return false;
  return current.source !== 'deck' || current.id === toolId || files.ofSession(current.id) !== undefined;
}

function toFile(
  source: SourceKind,
  { path, size, mtimeMs, ino, role }: FoundFile,
  sessionId: string,
  before: FileRecord | undefined,
): FileRecord {
  const isAnother = before !== undefined && before.ino !== ino;
  return {
    path,
    source,
    sessionId,
    role,
    size,
    mtimeMs,
    ino,
    offset: before?.offset ?? 0,
    indexedSize: isAnother ? -1 : (before?.indexedSize ?? -1),
    indexedMtimeMs: before?.indexedMtimeMs ?? -1,
  };
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    return code !== 'ENOENT' && code !== 'ENOTDIR';
  }
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, lane));
  return results;
}
