import { dirname } from 'node:path';
import type * as z from 'zod';
import type { DeleteParams, DeleteResult } from '../../protocol/aster.js';
import type { DeletedResult } from '../../protocol/deck.js';
import { DomainError, sessionUnavailable } from '../../protocol/errors.js';
import type { Log } from '../log.js';
import type { Source } from '../sources/source.js';
import type { Client } from './client.js';
import type { SessionData, TrashRecord } from './data.js';
import type { Files } from './files.js';
import { type SessionRecord, toRow, without } from './record.js';
import type { RunControl } from './run_control.js';
import { scopeOf } from './scope.js';
import type { Shelf } from './shelf.js';
import type { Trash } from './trash.js';

/** How long a deletion can be undone, in ms. */
export const UNDO_MS = 30 * 24 * 60 * 60 * 1000;

export interface DeleteParts {
  readonly data: SessionData;
  readonly shelf: Shelf;
  readonly files: Files;
  readonly sources: readonly Source[];
  readonly trash: Trash;
  readonly runs: () => RunControl;
  readonly log: Log;
  /** The session is gone: nobody is told of it any more. */
  readonly onGone: (sessionId: string) => void;
  /** The file came back. */
  readonly onBack: (path: string) => void;
}

/** Deletes sessions so that it can be undone, undoes it, and in the end makes it final. */
export class Deletions {
  private readonly going = new Map<string, Promise<z.infer<typeof DeleteResult>>>();

  constructor(private readonly parts: DeleteParts) {}

  /**
   * Stops the run, moves the files of another tool to the trash, and takes the session with its sub-agents out of all
   * lists. All of it or, with an error, nothing.
   */
  delete(client: Client, params: DeleteParams): Promise<z.infer<typeof DeleteResult>> {
    const { id } = this.parts.shelf.resolve(client, params.sessionId, params.cwd);
    const going = this.going.get(id);
    if (going) return going;
    const work = this.remove(id).finally(() => this.going.delete(id));
    this.going.set(id, work);
    return work;
  }

  private async remove(id: string): Promise<z.infer<typeof DeleteResult>> {
    const { data, shelf, files, trash, onGone } = this.parts;
    for (const { id: one } of this.family(shelf.current(id))) await this.parts.runs().stop(one);
    const family = this.family(shelf.current(id));
    const own = family.flatMap((record) => files.ofSession(record.id) ?? []);
    const paths = await this.belongings(own);
    const deletedAt = Date.now();
    const undoUntil = deletedAt + UNDO_MS;
    const name = await trash.put(id, paths, deletedAt);
    try {
      if (family.some((record) => this.parts.runs().activeRun(record.id)))
        throw new DomainError('turn_in_progress', 'A turn was started in this session meanwhile.');
      shelf.saveAll(
        family.map(({ id: one }) => ({ ...shelf.current(one), deletedAt, undoUntil })),
        { alongside: () => data.putTrash({ name, sessionId: id, deletedAt, undoUntil }) },
      );
    } catch (error) {
      await trash.restore(name);
      throw error;
    }
    for (const { path } of own) files.forget(path);
    for (const record of family) onGone(record.id);
    return { deleted: true, undoUntil: new Date(undoUntil).toISOString() };
  }

  /** The session and the sub-agents below it. Forks are sessions of their own. */
  private family(record: SessionRecord): SessionRecord[] {
    const { book } = this.parts.shelf;
    const found = new Map([[record.id, record]]);
    for (const member of found.values())
      for (const child of book.subagents(member.id)) if (!found.has(child.id)) found.set(child.id, child);
    return [...found.values()];
  }

  /** What goes to the trash; nothing twice, and no file apart from the folder that holds it. */
  private async belongings(own: readonly { path: string; source: string }[]): Promise<string[]> {
    const paths = new Set<string>();
    for (const { path, source: kind } of own) {
      const source = this.parts.sources.find((one) => one.kind === kind);
      for (const one of source ? await source.belongings(path) : [path]) paths.add(one);
    }
    const isInside = (path: string): boolean => {
      for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
        if (paths.has(folder)) return true;
      return false;
    };
    return [...paths].filter((path) => !isInside(path));
  }

  /**
   * Brings a deleted session back with its files. Throws `session_unavailable` when there is nothing to bring back, and
   * `target_exists` when its place is taken; nothing is lost then. Returns the session.
   */
  async undo(client: Client, sessionId: string): Promise<SessionRecord> {
    const { data, shelf, files, trash, onBack } = this.parts;
    const { book } = shelf;
    const scope = scopeOf(client);
    const [deletion] = this.deletions().filter((one) => one.sessionId === sessionId);
    const record = book.getDeleted(sessionId) ?? book.get(sessionId);
    if (!deletion || !record || !scope.has(record)) throw sessionUnavailable();
    if (record.deletedAt !== deletion.deletedAt)
      throw new DomainError(
        'target_exists',
        'The session is there again; delete it before bringing back this one.',
      );
    await trash.restore(deletion.name);
    const family = book.allDeleted().filter(({ deletedAt }) => deletedAt === deletion.deletedAt);
    shelf.saveAll(
      family.map((one) => without(one, 'deletedAt', 'undoUntil')),
      { alongside: () => data.removeTrash(deletion.name) },
    );
    const ids = new Set(family.map(({ id }) => id));
    for (const file of data.files()) {
      if (!ids.has(file.sessionId)) continue;
      files.remember(file);
      onBack(file.path);
    }
    return shelf.current(sessionId);
  }

  /** What can be brought back, newest first. */
  list(client: Client): z.infer<typeof DeletedResult> {
    const scope = scopeOf(client);
    return {
      sessions: this.deletions().flatMap(({ sessionId, deletedAt, undoUntil }) => {
        const record = this.parts.shelf.book.getDeleted(sessionId);
        if (record?.deletedAt !== deletedAt || !scope.has(record)) return [];
        return {
          session: toRow(record, 0),
          deletedAt: new Date(deletedAt).toISOString(),
          undoUntil: new Date(undoUntil).toISOString(),
        };
      }),
    };
  }

  private deletions(): TrashRecord[] {
    const now = Date.now();
    return this.parts.data
      .trash()
      .filter(({ undoUntil }) => undoUntil > now)
      .sort((a, b) => b.deletedAt - a.deletedAt);
  }

  /** Puts back what a deletion had moved that was cut short by the end of the service. */
  async recover(): Promise<void> {
    const { data, trash, log } = this.parts;
    const known = new Set(data.trash().map(({ name }) => name));
    for (const name of await trash.names()) {
      if (known.has(name)) continue;
      try {
        await trash.restore(name);
        log.warn('a deletion that was cut short is undone', { name });
      } catch (error) {
        log.error('what a deletion had moved could not be put back; it is kept in the trash', {
          name,
          error: String(error),
        });
      }
    }
  }

  /** Makes deletions final whose time is over, and removes what is left of sessions that cannot come back. */
  async purge(now = Date.now()): Promise<void> {
    const { data, shelf, trash, log } = this.parts;
    for (const { name, undoUntil } of data.trash()) {
      if (undoUntil > now) continue;
      try {
        await trash.purge(name);
        data.removeTrash(name);
      } catch (error) {
        log.error('a deletion could not be made final', { name, error: String(error) });
      }
    }
    const undoable = new Set(data.trash().map(({ deletedAt }) => deletedAt));
    for (const { id, deletedAt } of shelf.book.allDeleted())
      if (deletedAt === undefined || !undoable.has(deletedAt)) {
        await data.removeSession(id);
        if (shelf.book.getDeleted(id)) shelf.book.drop(id);
      }
  }
}
