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
import type { Moves } from './moves.js';
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
  readonly moves: Moves;
  readonly runs: () => RunControl;
  readonly log: Log;
  /** Frees room that is kept for a full disk; false when there is none. */
  readonly makeRoom: () => boolean;
  /** The session is gone: nobody is told of it any more. */
  readonly onGone: (sessionId: string) => void;
  /** Files came back. */
  readonly onBack: () => void;
  /** A person's deletion is about to become final. */
  readonly onFinal: (record: SessionRecord) => void;
}

/** Deletes sessions so that it can be undone, undoes it, and in the end makes it final. */
export class Deletions {
  /** One after the other for each session. */
  private readonly going = new Map<string, Promise<unknown>>();
  private readonly deleting = new Map<string, Promise<z.infer<typeof DeleteResult>>>();
  private lastDeletedAt = 0;

  constructor(private readonly parts: DeleteParts) {}

  /**
   * Stops the run, moves the files of another tool to the trash, and takes the session with its sub-agents out of all
   * lists. All of it or, with an error, nothing.
   */
  delete(client: Client, params: DeleteParams): Promise<z.infer<typeof DeleteResult>> {
    const { id } = this.parts.shelf.resolve(client, params.sessionId, params.cwd);
    const deleting = this.deleting.get(id);
    if (deleting) return deleting;
    const work = this.inTurn(id, () => this.remove(id)).finally(() => this.deleting.delete(id));
    this.deleting.set(id, work);
    return work;
  }

  private inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.going.get(id) ?? Promise.resolve()).then(work);
    const settled = turn
      .catch(() => undefined)
      .then(() => {
        if (this.going.get(id) === settled) this.going.delete(id);
      });
    this.going.set(id, settled);
    return turn;
  }

  private async remove(id: string): Promise<z.infer<typeof DeleteResult>> {
    const { data, shelf, files, trash, moves, onGone } = this.parts;
    for (const { id: one } of this.family(shelf.current(id))) await this.parts.runs().stop(one);
    const family = this.family(shelf.current(id));
    const own = family.flatMap((record) => files.ofSession(record.id) ?? []);
    const paths = await this.belongings(own);
    const deletedAt = this.timeOfDeletion();
    const undoUntil = deletedAt + UNDO_MS;
    const move = async () => {
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
        await trash.purge(name);
        throw error;
      }
      for (const { path } of own) files.forget(path);
    };
    await moves.during(paths, () => this.withRoom(move));
    for (const record of family) {
      onGone(record.id);
      this.parts.runs().gone(record);
    }
    return { deleted: true, undoUntil: new Date(undoUntil).toISOString() };
  }

  /** Deleting is how a person makes room, so it must work on a full disk too. `work` undoes itself when it fails. */
  private async withRoom(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isFull(error) || !this.parts.makeRoom()) throw error;
      this.parts.log.warn('the disk is full: freed the room that was kept for deleting');
      await work();
    }
  }

  /** No two deletions have the same: it tells what was deleted together. */
  private timeOfDeletion(): number {
    const taken = new Set(this.parts.shelf.book.allDeleted().map(({ deletedAt }) => deletedAt));
    let time = Math.max(Date.now(), this.lastDeletedAt + 1);
    while (taken.has(time)) time += 1;
    return (this.lastDeletedAt = time);
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
  undo(client: Client, sessionId: string): Promise<SessionRecord> {
    return this.inTurn(sessionId, async () => {
      const { book } = this.parts.shelf;
      const [deletion] = this.deletions().filter((one) => one.sessionId === sessionId);
      const record = book.getDeleted(sessionId) ?? book.get(sessionId);
      if (!deletion || !record || !scopeOf(client).has(record)) throw sessionUnavailable();
      if (record.deletedAt !== deletion.deletedAt)
        throw new DomainError(
          'target_exists',
          'The session is there again; delete it before bringing back this one.',
        );
      await this.bringBack(deletion);
      return this.parts.shelf.current(sessionId);
    });
  }

  /** The files first: an undo that is cut short after that goes on at the next start. */
  private async bringBack({ name, deletedAt }: TrashRecord): Promise<void> {
    const { data, shelf, files, trash, moves, log, onBack } = this.parts;
    await moves.during(await trash.paths(name), async () => {
      await trash.restore(name);
      const family = shelf.book.allDeleted().filter((one) => one.deletedAt === deletedAt);
      try {
        shelf.saveAll(
          family.map((one) => without(one, 'deletedAt', 'undoUntil', 'unreadable')),
          { alongside: () => data.removeTrash(name) },
        );
      } catch (error) {
        await trash.withdraw(name);
        throw error;
      }
      const ids = new Set(family.map(({ id }) => id));
      for (const file of data.files()) if (ids.has(file.sessionId)) files.remember(file);
      for (const id of ids) this.parts.runs().back(id);
    });
    onBack();
    await trash
      .purge(name)
      .catch((error: unknown) =>
        log.warn('an empty deletion is left in the trash', { name, error: String(error) }),
      );
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

  /** Puts back what a deletion had moved, and ends an undo, that was cut short by the end of the service. */
  async recover(): Promise<void> {
    const { data, shelf, trash, log } = this.parts;
    const known = new Map(data.trash().map((one) => [one.name, one]));
    for (const name of await trash.names()) {
      const deletion = known.get(name);
      try {
        if (!deletion) {
          await trash.restore(name);
          await trash.purge(name);
          log.warn('a deletion that was cut short is undone', { name });
        } else if (
          shelf.book.getDeleted(deletion.sessionId)?.deletedAt === deletion.deletedAt &&
          (await trash.isBegun(name))
        ) {
          await this.bringBack(deletion);
          log.warn('an undo that was cut short is ended', { name });
        }
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
    for (const record of shelf.book.allDeleted()) {
      const { id, deletedAt, undoUntil } = record;
      if (deletedAt === undefined || !undoable.has(deletedAt)) {
        if (undoUntil !== undefined) this.parts.onFinal(record);
        await data.removeSession(id);
        if (shelf.book.getDeleted(id)) shelf.book.drop(id);
      }
    }
  }
}

function isFull(error: unknown): boolean {
  if (error instanceof DomainError) return error.code === 'store_full';
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
