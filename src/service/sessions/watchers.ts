import { TRANSCRIPT_UPDATE_SCHEMA } from '../../protocol/aster.js';
import type { Cut, Entry } from '../../protocol/entry.js';
import type { Params } from '../../protocol/methods.js';
import type { Log } from '../log.js';
import type { Client, Clients } from './client.js';

/** Shortest time between two updates of one session to one client: at most 20 a second. */
const UPDATE_EVERY_MS = 50;
/** A client that is further behind than this many entries is told to ask for a page instead. */
const MAX_CHANGES = 400;

/** A change of a transcript that is durable. Entries are named, not carried: they are rendered when they go out. */
export interface TranscriptChange {
  /** The revision before. */
  readonly baseRevision: number;
  readonly cut: Cut;
  readonly total: number;
  readonly appended: readonly string[];
  readonly replaced: readonly string[];
  /** The history was rewritten: a new generation began, and entries are not told one by one. */
  readonly rewritten?: boolean;
}

/** Renders entries as they go out, in the order asked for; those that are gone are left out. */
export type RenderEntries = (sessionId: string, entryIds: readonly string[]) => Promise<Entry[]>;

interface Pending {
  readonly baseRevision: number;
  cut: Cut;
  total: number;
  readonly ops: Map<string, 'append' | 'replace'>;
  /** The client has to ask for a page: too much changed, or the history was rewritten. */
  jump: boolean;
}

interface Watch {
  readonly client: Client;
  pending: Pending | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Pages of this client that are on their way; updates wait so that they arrive after them. */
  holds: number;
  /** Updates of one watch go out one after the other. */
  tail: Promise<void>;
}

/** Who watches which transcript, and the updates on their way: in order, without gaps, coalesced. */
export class Watchers {
  private readonly sessions = new Map<string, Map<string, Watch>>();

  constructor(
    clients: Clients,
    private readonly render: RenderEntries,
    /** Asked before anything is told: a client's scope may be another one since it began to watch. */
    private readonly sees: (client: Client, sessionId: string) => boolean,
    private readonly log: Log,
  ) {
    clients.onDetach((client) => {
      for (const sessionId of [...this.sessions.keys()]) this.unwatch(client, sessionId);
    });
  }

  isWatched(sessionId: string): boolean {
    return this.sessions.has(sessionId);
  }

  isWatching(client: Client, sessionId: string): boolean {
    return this.sessions.get(sessionId)?.has(client.id) ?? false;
  }

  watch(client: Client, sessionId: string): void {
    if (!client.connected) return;
    let watches = this.sessions.get(sessionId);
    if (!watches) this.sessions.set(sessionId, (watches = new Map<string, Watch>()));
    if (!watches.has(client.id))
      watches.set(client.id, {
        client,
        pending: undefined,
        timer: undefined,
        holds: 0,
        tail: Promise.resolve(),
      });
  }

  unwatch(client: Client, sessionId: string): void {
    const watches = this.sessions.get(sessionId);
    const watch = watches?.get(client.id);
    if (!watches || !watch) return;
    clearTimeout(watch.timer);
    watches.delete(client.id);
    if (watches.size === 0) this.sessions.delete(sessionId);
  }

  /** Ends all watches of a session that is gone. */
  forget(sessionId: string): void {
    for (const { client } of this.sessions.get(sessionId)?.values() ?? []) this.unwatch(client, sessionId);
  }

  /** Takes a change in; it goes out at once, or with the next update when the last one was a moment ago. */
  publish(sessionId: string, change: TranscriptChange): void {
    for (const watch of this.sessions.get(sessionId)?.values() ?? []) {
      merge(watch, change);
      if (watch.timer === undefined && watch.holds === 0) this.send(sessionId, watch);
    }
  }

  /**
   * Lets a client receive what changed until now and holds back the rest until its answer is on its way.
   * Call it together with the reading of the cut; call the result once the answer was handed over.
   */
  hold(client: Client, sessionId: string): { readonly sent: Promise<void>; release: () => void } {
    const watch = this.sessions.get(sessionId)?.get(client.id);
    if (!watch) return { sent: Promise.resolve(), release: () => undefined };
    this.send(sessionId, watch);
    watch.holds += 1;
    return {
      sent: watch.tail,
      release: () =>
        // After the surface has written the answer.
        void setImmediate(() => {
          watch.holds -= 1;
          if (watch.holds === 0 && watch.timer === undefined) this.send(sessionId, watch);
        }),
    };
  }

  /** Resolves when all that was published has gone out. For an orderly end and for tests. */
  async flushed(): Promise<void> {
    const tails = [...this.sessions].flatMap(([sessionId, watches]) =>
      [...watches.values()].map((watch) => {
        this.send(sessionId, watch);
        return watch.tail;
      }),
    );
    await Promise.all(tails);
  }

  private send(sessionId: string, watch: Watch): void {
    const { pending } = watch;
    if (!pending) return;
    watch.pending = undefined;
    clearTimeout(watch.timer);
    watch.timer = setTimeout(() => {
      watch.timer = undefined;
      if (watch.holds === 0) this.send(sessionId, watch);
    }, UPDATE_EVERY_MS);
    watch.timer.unref();
    watch.tail = watch.tail.then(() => this.deliver(sessionId, watch.client, pending));
  }

  private async deliver(sessionId: string, client: Client, pending: Pending): Promise<void> {
    const notify = (update: Params<'aster/session/transcript/update/v1'>) => {
      if (this.sees(client, sessionId)) client.notify('aster/session/transcript/update/v1', update);
      else this.unwatch(client, sessionId);
    };
    const message = {
      schema: TRANSCRIPT_UPDATE_SCHEMA,
      sessionId,
      cut: pending.cut,
      total: pending.total,
      replay: false,
    } as const;
    const jump = () => {
      notify({ ...message, baseRevision: pending.cut.revision, changes: [] });
    };
    if (pending.jump) {
      jump();
      return;
    }
    try {
      const entries = await this.render(sessionId, [...pending.ops.keys()]);
      if (entries.length < pending.ops.size) {
        jump();
        return;
      }
      const changes = entries.map(
        (entry) => ({ op: pending.ops.get(entry.id) ?? 'replace', entry }) as const,
      );
      changes.sort((a, b) => a.entry.ordinal - b.entry.ordinal);
      notify({ ...message, baseRevision: pending.baseRevision, changes });
    } catch (error) {
      this.log.warn('could not render a transcript update', error);
      jump();
    }
  }
}

function merge(watch: Watch, change: TranscriptChange): void {
  const before = watch.pending;
  const pending: Pending = before ?? {
    baseRevision: change.baseRevision,
    cut: change.cut,
    total: change.total,
    ops: new Map(),
    jump: false,
  };
  if (change.rewritten === true) pending.jump = true;
  pending.cut = change.cut;
  pending.total = change.total;
  if (change.appended.length + change.replaced.length + pending.ops.size > MAX_CHANGES) pending.jump = true;
  if (pending.jump) pending.ops.clear();
  else {
    for (const id of change.appended) pending.ops.set(id, 'append');
    for (const id of change.replaced) if (!pending.ops.has(id)) pending.ops.set(id, 'replace');
  }
  watch.pending = pending;
}
