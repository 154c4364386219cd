import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../protocol/errors.js';
import type { Log } from '../log.js';
import { FileShrunkError } from '../sources/jsonl.js';
import type { ScanPriority, Scanner } from '../sources/scanner.js';
import type { FileRecord } from './data.js';
import { type Files, isBehind } from './files.js';
import type { IndexWriter } from './index_writer.js';
import type { Shelf } from './shelf.js';

/** Files in the background at the same time: one is scanned while what was found in another is stored. */
const LANES = 2;
/** How long a file waits that the store could not take, in ms. */
const AGAIN_MS = 5000;

const isOfStore = (error: unknown) => error instanceof DomainError && error.code.startsWith('store_');

export interface IndexerParts {
  readonly files: Files;
  readonly shelf: Shelf;
  readonly scanner: Scanner;
  readonly writer: IndexWriter;
  readonly log: Log;
  /** Nothing can be kept, so nothing is read. */
  readonly readOnly: boolean;
  /** Progress was made. */
  readonly onProgress: () => void;
  /** Reading in the background has begun and goes on until `over`. */
  readonly onBegin?: ((over: Promise<void>) => void) | undefined;
}

/**
 * Reads files into the index: in the background the newest first, at once for a session that somebody opens. Goes on
 * where it stopped, also after a restart. One file is never read twice at the same time.
 */
export class Indexer {
  private readonly waiting = new Set<string>();
  /** Files of sessions that are at work for us: they wait for the end of the run. */
  private readonly deferred = new Set<string>();
  private readonly running = new Map<string, Promise<void>>();
  private order: string[] | undefined;
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;

  constructor(private readonly parts: IndexerParts) {}

  get isActive(): boolean {
    return this.waiting.size > 0 || this.running.size > 0;
  }

  /** Queues a file if there is something to read in it. */
  add(path: string): void {
    const file = this.parts.files.get(path);
    if (this.parts.readOnly || !file || !isBehind(file) || this.stopping.signal.aborted) return;
    this.waiting.add(path);
    this.order = undefined;
    this.wake();
  }

  /** Looks at a file again and queues it if it changed. Never rejects. */
  async recheck(path: string): Promise<void> {
    if (this.parts.readOnly) return;
    try {
      await this.look(path);
      this.add(path);
    } catch (error) {
      this.later(path, error);
    }
  }

  /** Queues the files that waited for the end of the session's run. */
  runEnded(sessionId: string): void {
    const file = this.parts.files.ofSession(sessionId);
    if (file && this.deferred.delete(file.path)) void this.recheck(file.path);
  }

  /** Looks at the file now and reads what is new in it before others. Never rejects: what failed is in the row. */
  async urgent(path: string): Promise<void> {
    if (this.parts.readOnly) return;
    await this.running.get(path);
    try {
      const file = await this.look(path);
      if (!file || !isBehind(file)) return;
    } catch (error) {
      this.later(path, error);
      return;
    }
    this.waiting.delete(path);
    await this.run(path, 'urgent');
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.waiting.clear();
    await Promise.all([this.loop, ...this.running.values()]);
  }

  /** Resolves when nothing is queued. For tests. */
  async idle(): Promise<void> {
    while (this.isActive || this.loop) await (this.loop ?? Promise.all(this.running.values()));
  }

  private wake(): void {
    if (this.loop) return;
    const loop = Promise.all(Array.from({ length: LANES }, () => this.work())).then(() => {
      this.loop = undefined;
      if (this.waiting.size > 0) this.wake();
    });
    this.loop = loop;
    this.parts.onBegin?.(loop);
  }

  private async work(): Promise<void> {
    for (let path = this.next(); path !== undefined; path = this.next()) {
      this.waiting.delete(path);
      await this.run(path, 'background');
      await nextTurn();
    }
  }

  private next(): string | undefined {
    if (!this.order) {
      const mtime = (path: string) => this.parts.files.get(path)?.mtimeMs ?? 0;
      // Newest last, where it is taken from.
      this.order = [...this.waiting].sort((a, b) => mtime(a) - mtime(b));
    }
    for (let path = this.order.pop(); path !== undefined; path = this.order.pop())
      if (this.waiting.has(path)) return path;
    return undefined;
  }

  private async run(path: string, priority: ScanPriority): Promise<void> {
    const before = this.running.get(path);
    if (before) {
      await before;
      const file = this.parts.files.get(path);
      if (!file || !isBehind(file)) return;
    }
    const work = this.index(path, priority).finally(() => {
      this.running.delete(path);
      this.parts.onProgress();
    });
    this.running.set(path, work);
    await work;
  }

  /** Takes size and time of a file as they are now into its record; undefined when it is not there or not known. */
  private async look(path: string): Promise<FileRecord | undefined> {
    const { files } = this.parts;
    try {
      const { size, mtimeMs, dev, ino } = await stat(path);
      const file = files.get(path);
      if (!file) return undefined;
      const now = { ...file, size, mtimeMs, ino: `${String(dev)}:${String(ino)}` };
      // Another file under the name may have the size and time of the one before.
      if (now.ino !== file.ino && !isBehind(now)) return this.keep({ ...now, indexedSize: -1 });
      return size === file.size && mtimeMs === file.mtimeMs ? file : this.keep(now);
    } catch (error) {
      this.problem(path, error);
      return undefined;
    }
  }

  private keep(file: FileRecord): FileRecord {
    this.parts.files.put(file);
    return file;
  }

  private async index(path: string, priority: ScanPriority): Promise<void> {
    try {
      const file = await this.look(path);
      if (!file || !isBehind(file)) return;
      // What was before the run is worth reading at once, if it never was.
      if (file.indexedSize >= 0 && this.parts.writer.isBusy(file.sessionId)) {
        this.deferred.add(path);
        return;
      }
      const applied = await this.scanAndApply(file, file.offset, this.parts.files.stateOf(path), priority);
      if (applied === 'whole') await this.scanAndApply(file, 0, undefined, priority);
      if (applied === 'later') this.deferred.add(path);
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      if (isOfStore(error)) this.later(path, error);
      else this.giveUp(path, error);
    }
  }

  /** The file cannot be read: tried again when it changes, not before. */
  private giveUp(path: string, error: unknown): void {
    try {
      this.problem(path, error);
      const file = this.parts.files.get(path);
      if (file) this.keep({ ...file, indexedSize: file.size, indexedMtimeMs: file.mtimeMs });
    } catch (late) {
      this.later(path, late);
    }
  }

  /** The store does not take it now, e.g. on a full disk: it is no fault of the file, which is tried again. */
  private later(path: string, error: unknown): void {
    this.parts.log.warn('a transcript waits for the store', { path, error: String(error) });
    setTimeout(() => {
      if (!this.stopping.signal.aborted) void this.recheck(path);
    }, AGAIN_MS).unref();
  }

  private async scanAndApply(file: FileRecord, from: number, state: unknown, priority: ScanPriority) {
    const { scanner, writer, files } = this.parts;
    const scan = await this.scan(scanner, file, Math.min(from, file.size), state, priority);
    const now = files.get(file.path);
    if (!now) return 'done';
    const indexed: FileRecord = {
      ...now,
      offset: scan.offset,
      indexedSize: file.size,
      indexedMtimeMs: file.mtimeMs,
    };
    const applied = await writer.apply(indexed, scan);
    if (applied === 'done' && files.get(file.path)) files.remember(indexed);
    return applied;
  }

  private async scan(
    scanner: Scanner,
    { source, path }: FileRecord,
    from: number,
    state: unknown,
    priority: ScanPriority,
  ) {
    const { signal } = this.stopping;
    try {
      return await scanner.scan(source, path, from, from === 0 ? undefined : state, signal, priority);
    } catch (error) {
      if (!(error instanceof FileShrunkError)) throw error;
      return scanner.scan(source, path, 0, undefined, signal, priority);
    }
  }

  /** The row says that the file cannot be read; it stays. */
  private problem(path: string, error: unknown): void {
    const { files, shelf, log } = this.parts;
    const file = files.get(path);
    const record = file && shelf.book.get(file.sessionId);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ENOENT') log.warn('a transcript cannot be read', { path, error: String(error) });
    if (!record) return;
    const unreadable = code === 'ENOENT' ? FILE_GONE : error instanceof Error ? error.message : String(error);
    if (record.unreadable !== unreadable) shelf.save({ ...record, unreadable });
  }
}

/** Why a session cannot be read whose file is not there any more. */
export const FILE_GONE = 'The file is gone.';
