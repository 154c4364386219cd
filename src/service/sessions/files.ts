import type { FileRecord, SessionData } from './data.js';
import type { SessionRecord } from './record.js';

/** Whether something of the file is not in the index yet. */
export const isBehind = (file: FileRecord): boolean =>
  file.size !== file.indexedSize || file.mtimeMs !== file.indexedMtimeMs;

/** The transcript files of other tools that are known, in memory and in the store. */
export class Files {
  private readonly byPath = new Map<string, FileRecord>();
  private readonly bySession = new Map<string, string>();

  /** A deleted session's record stays in the store, for its return. */
  constructor(
    private readonly data: SessionData,
    isLive: (sessionId: string) => boolean,
  ) {
    for (const file of data.files()) if (isLive(file.sessionId)) this.remember(file);
  }

  get(path: string): FileRecord | undefined {
    return this.byPath.get(path);
  }

  all(): IterableIterator<FileRecord> {
    return this.byPath.values();
  }

  /** What a scan needs to go on: read from the store each time, since all of them together are large. */
  stateOf(path: string): unknown {
    return this.data.fileState(path);
  }

  /** The file that was found to be the session. */
  ofSession(sessionId: string): FileRecord | undefined {
    const path = this.bySession.get(sessionId);
    return path === undefined ? undefined : this.byPath.get(path);
  }

  /** The file that a session's entries are in: its own, or for a sub-agent inside a file that of its parent. */
  holding(session: SessionRecord): FileRecord | undefined {
    const own = this.ofSession(session.id);
    if (own || session.parent?.relation !== 'subagent') return own;
    return this.ofSession(session.parent.sessionId);
  }

  put(file: FileRecord): void {
    this.data.putFile(file);
    this.remember(file);
  }

  remove(path: string): void {
    this.data.removeFile(path);
    this.forget(path);
  }

  /** Takes a record in that is stored already. */
  remember(file: FileRecord): void {
    this.forget(file.path);
    this.byPath.set(file.path, file);
    this.bySession.set(file.sessionId, file.path);
  }

  /** Takes a record out of memory only. */
  forget(path: string): void {
    const before = this.byPath.get(path);
    if (!before) return;
    this.byPath.delete(path);
    if (this.bySession.get(before.sessionId) === path) this.bySession.delete(before.sessionId);
  }

  /** How far the index is. */
  progress(): { files: { done: number; total: number }; bytes: { done: number; total: number } } {
    const files = { done: 0, total: 0 };
    const bytes = { done: 0, total: 0 };
    for (const file of this.byPath.values()) {
      files.total += 1;
      bytes.total += file.size;
      if (isBehind(file)) bytes.done += Math.min(file.offset, file.size);
      else {
        files.done += 1;
        bytes.done += file.size;
      }
    }
    return { files, bytes };
  }
}
