import type { EntryKind, Usage } from '../../protocol/entry.js';
import type { Entry } from '../../protocol/entry.js';
import type { SessionKind, SourceKind } from '../../protocol/session.js';

/** A transcript file of another tool, as a look at the folder shows it. Nothing of it is read yet. */
export interface FoundFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly mtimeMs: number;
  /** Device and inode where the platform has them; tells a replaced file from a grown one. */
  readonly ino: string;
  readonly role: 'session' | 'subagent';
  /** The tool's own id of the session, from the file's name. */
  readonly sessionId: string;
  /** For a sub-agent: the session that started it. */
  readonly parentSessionId?: string;
}

/** A file or folder that is there and cannot be read. It is listed as such, with the reason. */
export interface UnreadableFile {
  readonly path: string;
  readonly problem: string;
}

/** What the first and last bytes of a file tell: enough for a row of the list. */
export interface SessionHead {
  readonly sessionId: string;
  /** Absolute; empty when the file does not tell. */
  readonly cwd: string;
  readonly title?: { readonly text: string; readonly by: 'prompt' | 'agent' | 'user' };
  /** First prompt, one line, at most 200 characters. */
  readonly preview?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly model?: string;
  readonly kind: SessionKind;
  readonly headless: boolean;
  readonly archived: boolean;
  readonly parent?: { readonly sessionId: string; readonly relation: 'fork' | 'subagent' };
  /** Nothing a person would call a session: no prompt, no answer. It is indexed, and listed only once it has one. */
  readonly empty: boolean;
  readonly unreadable?: string;
}

/** `[offset, length]` in bytes; a line without its newline. */
export type ByteRange = readonly [number, number];

/** An entry as the index keeps it: where its records are, not what they say. */
export interface IndexedEntry {
  readonly id: string;
  readonly turnId: string;
  readonly kind: EntryKind;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly status?: Entry['status'];
  readonly boundary: boolean;
  /** Its records; a tool call has the ranges of the call and of its result. */
  readonly ranges: readonly ByteRange[];
  /** Which content block of the first record, where one record yields several entries. */
  readonly block?: number;
  /** One line, at most 200 characters. */
  readonly preview: string;
}

export interface IndexedTurn {
  readonly id: string;
  /** One line, at most 200 characters. */
  readonly prompt: string;
  readonly at: number;
  readonly endedAt?: number;
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled';
  readonly firstEntryId: string;
  readonly lastEntryId: string;
  readonly boundaryEntryId?: string;
  readonly tools: number;
  readonly files: readonly string[];
  readonly usage?: Usage;
}

/** Tokens of one response, exactly once for each `messageId`. */
export interface UsageRecord {
  readonly messageId: string;
  readonly model?: string;
  readonly at: number;
  readonly usage: Usage;
}

/** A sub-agent's transcript that lives inside its parent's file. */
export interface InlineChild {
  readonly head: SessionHead;
  readonly entries: readonly IndexedEntry[];
  readonly turns: readonly IndexedTurn[];
}

/** The outcome of reading a file from an offset on. */
export interface Scan {
  /**
   * `append`: `entries` and `turns` are new ones, or known ones (same id) that changed.
   * `rewrite`: they are the whole transcript; whatever was known before is replaced.
   */
  readonly mode: 'append' | 'rewrite';
  readonly entries: readonly IndexedEntry[];
  readonly turns: readonly IndexedTurn[];
  readonly usage: readonly UsageRecord[];
  readonly children: readonly InlineChild[];
  /** Bytes consumed: the end of the last complete line. A last line without newline is read again later. */
  readonly offset: number;
  /** JSON to go on from `offset`; opaque to everybody else. */
  readonly state: unknown;
  /** Totals over the whole file. */
  readonly totals: {
    readonly messageCount: number;
    /** Lines that could not be parsed; each is shown as a `raw` entry. */
    readonly skipped: number;
    readonly offBranch: number;
    readonly hasErrors: boolean;
    readonly usage?: Usage;
    readonly model?: string;
    readonly title?: SessionHead['title'];
    readonly preview?: string;
    readonly updatedAt: number;
  };
}

/** The part of an entry that its records tell. */
export type EntryBody = Omit<
  Entry,
  | 'id'
  | 'ordinal'
  | 'turnId'
  | 'turn'
  | 'at'
  | 'boundary'
  | 'replay'
  | 'truncated'
  | 'turnUsage'
  | 'turnDurationMs'
>;

/** A tool whose sessions are read from its own files. One folder a source. */
export interface Source {
  readonly kind: SourceKind;
  /** As people know it, e.g. "Claude Code". */
  readonly title: string;
  /** Folders whose growth matters; those that do not exist are watched for through their parent. */
  roots(): string[];
  /** Looks at the folders, in batches. A missing root is no problem. */
  discover(signal: AbortSignal): AsyncIterable<{ found: FoundFile[]; unreadable: UnreadableFile[] }>;
  /** Reads head and tail of a file, never more than a few hundred KB. Never throws: see `unreadable`. */
  head(file: FoundFile): Promise<SessionHead>;
  /**
   * Reads a file from `from` on; runs in a worker thread. `state` is what the scan before gave; undefined at 0.
   * Throws when the file cannot be read, e.g. because it is shorter than `from`.
   */
  scan(path: string, from: number, state: unknown, signal: AbortSignal): Promise<Scan>;
  /** Makes the entry from the bytes of its ranges. Images are blocks with `data`. Never throws: shows raw instead. */
  render(
    entry: Pick<IndexedEntry, 'id' | 'kind' | 'status' | 'block'>,
    records: readonly Uint8Array[],
  ): EntryBody;
  /** The files and folders that belong to a session file, itself first: what goes to the trash with it. */
  belongings(path: string): Promise<string[]>;
}
