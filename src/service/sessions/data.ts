import type { EntryKind, Entry, Usage } from '../../protocol/entry.js';
import type { SourceKind } from '../../protocol/session.js';
import type { ByteRange, EntryBody, UsageRecord } from '../sources/source.js';
import type { SessionRecord } from './record.js';

/** A transcript file of another tool as the store knows it. */
export interface FileRecord {
  readonly path: string;
  readonly source: SourceKind;
  /** The session that it holds; also of a deck session whose agent writes it. */
  readonly sessionId: string;
  readonly role: 'session' | 'subagent';
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: string;
  /** Bytes that are in the index. */
  readonly offset: number;
  /** The file as it was when it was indexed last; differs from `size` and `mtimeMs` when there is something to read. */
  readonly indexedSize: number;
  readonly indexedMtimeMs: number;
}

/** Where an entry's content is. */
export type Place =
  | {
      /** At these ranges of the session's file. */
      readonly in: 'file';
      readonly ranges: readonly ByteRange[];
      readonly block?: number | undefined;
    }
  /** Ours: the body as JSON. */
  | { readonly in: 'store'; readonly body: EntryBody };

/** One row of a transcript. */
export interface EntryRecord {
  readonly id: string;
  readonly ordinal: number;
  readonly turnId: string;
  readonly kind: EntryKind;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly status?: Entry['status'];
  readonly boundary: boolean;
  readonly preview: string;
  /** Of the transcript when this row was last changed. */
  readonly revision: number;
  readonly place: Place;
}

export interface TurnRecord {
  readonly id: string;
  /** 1-based, dense. */
  readonly number: number;
  readonly prompt: string;
  readonly at: number;
  readonly endedAt?: number | undefined;
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled';
  readonly firstOrdinal: number;
  readonly lastOrdinal: number;
  readonly boundaryEntryId?: string | undefined;
  readonly tools: number;
  readonly files: readonly string[];
  readonly usage?: Usage | undefined;
  /** The turn was run here; its rows are ours. */
  readonly own: boolean;
}

/** One deletion. A session whose file came back by itself may be deleted again, so they have names of their own. */
export interface TrashRecord {
  /** Of its folder in the trash. */
  readonly name: string;
  readonly sessionId: string;
  readonly deletedAt: number;
  readonly undoUntil: number;
}

export interface OperationRecord {
  readonly method: string;
  /** Of the params, to tell another request from the same one. */
  readonly fingerprint: string;
  readonly result: unknown;
  readonly at: number;
}

/** What the rules of sessions keep in the store. Each call is durable when it returns, or with its transaction. */
export interface SessionData {
  /**
   * Runs `work` in one transaction; nested calls join it. A `repeatable` one is durable with the next one that is not:
   * only for what is read again from a file.
   */
  transaction<T>(work: () => T, options?: { repeatable?: boolean }): T;
  getMeta(key: string): string | undefined;
  setMeta(key: string, value: string): void;

  /** All, deleted ones too. */
  sessions(): SessionRecord[];
  putSession(record: SessionRecord): void;
  /** The session and all that hangs on it, in steps that do not block. Nothing of it may be in use. */
  removeSession(id: string): Promise<void>;

  files(): FileRecord[];
  /** What a scan needs to go on from the file's offset; opaque, and large. Undefined when there is none. */
  fileState(path: string): unknown;
  /** The state that is stored for the path stays when none is given; null removes it. */
  putFile(file: FileRecord, state?: unknown): void;
  removeFile(path: string): void;

  /** Up to `limit` rows from `ordinal` on, or up to and with `ordinal` backwards; ascending in both cases. */
  entries(sessionId: string, generation: number, from: number, limit: number): EntryRecord[];
  entry(sessionId: string, generation: number, id: string): EntryRecord | undefined;
  putEntries(sessionId: string, generation: number, entries: readonly EntryRecord[]): void;
  /** The highest revision of the rows up to `ordinal`. */
  revisionUpTo(sessionId: string, generation: number, ordinal: number): number;
  turns(sessionId: string, generation: number, from: number, limit: number): TurnRecord[];
  turn(sessionId: string, generation: number, id: string): TurnRecord | undefined;
  putTurns(sessionId: string, generation: number, turns: readonly TurnRecord[]): void;
  /** Rows of another generation than this one, in steps that do not block. */
  removeOtherGenerations(sessionId: string, generation: number): Promise<void>;

  putUsage(sessionId: string, records: readonly UsageRecord[]): void;
  /** Windows of our own runs on the session; an open one has no end. */
  runWindows(sessionId: string): { readonly startedAt: number; readonly endedAt?: number | undefined }[];

  trash(): TrashRecord[];
  putTrash(record: TrashRecord): void;
  removeTrash(name: string): void;

  operation(id: string): OperationRecord | undefined;
  putOperation(id: string, record: OperationRecord): void;
  /** Those older than `before`. */
  removeOperations(before: number): void;
}
