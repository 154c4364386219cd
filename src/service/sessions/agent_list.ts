import { MAX_TITLE_LENGTH } from '../../protocol/session.js';
import { type SessionRecord, strongerTitle, without } from './record.js';
import { folderKey } from './scope.js';
import type { Shelf } from './shelf.js';
import { oneLine, shorten } from './titles.js';
import type { Tombstones } from './tombstones.js';

/** Rows in one transaction. */
const BATCH = 500;

/** A session as an agent lists it. */
export interface ListedSession {
  /** The agent's id of it. */
  readonly agentSession: string;
  /** Absolute. */
  readonly cwd: string;
  readonly title?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly updatedAt?: number | undefined;
  readonly archived?: boolean | undefined;
  readonly directories?: readonly string[] | undefined;
  readonly messageCount?: number | undefined;
}

/** What an agent tells anew of a session that it listed. A null title clears the agent's. */
export interface ListedNews {
  readonly title?: string | null | undefined;
  /** Milliseconds since the epoch. */
  readonly updatedAt?: number | undefined;
}

/** Merges what agents list with what is known: one session is one row, and what was deleted stays away. */
export class AgentLists {
  /** Called when there is something for an agent to delete. */
  onToDelete: (agent: string) => void = () => undefined;

  constructor(
    private readonly shelf: Shelf,
    private readonly tombstones: Tombstones,
  ) {}

  /** Takes in a part of an agent's list. Returns how many sessions of it were not known. */
  takeIn(agent: string, listed: readonly ListedSession[]): number {
    const deleted = new Map(
      this.shelf.book.allDeleted().map((record) => [record.agentSession ?? record.id, record]),
    );
    const changed = new Map<string, SessionRecord>();
    let added = 0;
    for (const session of listed) {
      const { agentSession } = session;
      const gone = deleted.get(agentSession);
      const known = this.known(agent, session);
      if (known) {
        const renewed = renew(changed.get(known.id) ?? known, session);
        if (renewed !== known) changed.set(known.id, renewed);
      } else if (!(gone && isSame(gone, agent, session)) && !this.tombstones.has(agent, agentSession)) {
        const id = this.freeId(agent, agentSession, changed);
        if (id === undefined) continue;
        changed.set(id, blank(id, agent, session));
        added += 1;
      }
    }
    const records = [...changed.values()];
    for (let from = 0; from < records.length; from += BATCH)
      this.shelf.saveAll(records.slice(from, from + BATCH), { quiet: true, repeatable: true });
    return added;
  }

  /** Takes in what an agent tells of a session that it listed and that nobody has read. */
  renew(agent: string, agentSession: string, news: ListedNews): void {
    const { book } = this.shelf;
    const known = [book.get(`${agent}:${agentSession}`), book.ofAgentSession(agentSession)].find(
      (record) => record?.source === 'agent' && record.agent === agent,
    );
    if (!known) return;
    const renewed = renew(known, news);
    if (renewed !== known) this.shelf.save(renewed, { repeatable: true });
  }

  /** The row that an agent's session has, unless something else stands for it. */
  unread(agent: string, agentSession: string): SessionRecord | undefined {
    const { book } = this.shelf;
    return [book.get(`${agent}:${agentSession}`), book.get(agentSession)].find(
      (record) =>
        record?.source === 'agent' && record.agent === agent && record.agentSession === agentSession,
    );
  }

  /** A session that is not ours to show, e.g. one that a small job is done in. Its row goes if there is one. */
  hide(agent: string, agentSession: string): void {
    this.tombstones.add({ agent, agentSession, toDelete: false });
  }

  /** A session that a person deleted, for good now: no list brings it back, and its agent is to delete it too. */
  bury(record: SessionRecord): void {
    this.tombstones.bury(record);
    if (record.agent !== undefined) this.onToDelete(record.agent);
  }

  /** What a person deleted for good and the agent still has, as far as it was not told yet. */
  toDelete(agent: string): string[] {
    return this.tombstones.toDelete(agent);
  }

  /** The agent was asked to delete it, whatever it answered. */
  askedToDelete(agent: string, agentSession: string): void {
    this.tombstones.told(agent, agentSession);
  }

  private known(agent: string, session: ListedSession): SessionRecord | undefined {
    const { book } = this.shelf;
    const { agentSession } = session;
    return [
      book.get(`${agent}:${agentSession}`),
      book.ofAgentSession(agentSession),
      book.get(agentSession),
    ].find((record) => record !== undefined && isSame(record, agent, session));
  }

  /** The agent's own id where it is free; undefined when the list has the session twice. */
  private freeId(agent: string, agentSession: string, taken: ReadonlyMap<string, SessionRecord>) {
    const isTaken = (id: string) => taken.has(id) || this.shelf.book.has(id);
    if (taken.get(agentSession)?.agent === agent) return undefined;
    if (!isTaken(agentSession)) return agentSession;
    const prefixed = `${agent}:${agentSession}`;
    return isTaken(prefixed) ? undefined : prefixed;
  }
}

/**
 * Whether a session is the one that an agent lists. Two agents may use one id for two sessions; where they work in the
 * same folder they are two settings of the same program.
 */
function isSame(record: SessionRecord, agent: string, { agentSession, cwd }: ListedSession): boolean {
  if ((record.agentSession ?? record.id) !== agentSession) return false;
  if (record.source === 'claude-code' || record.source === 'codex') return true;
  return record.agent === agent || folderKey(record.cwd) === folderKey(cwd);
}

/** The record with the news; the same one when there are none. What has its transcript here needs none. */
function renew(record: SessionRecord, news: ListedNews): SessionRecord {
  if (record.source !== 'agent') return record;
  const title =
    news.title === null && record.title?.by === 'agent'
      ? undefined
      : strongerTitle(record.title, titleOf(news.title));
  const updatedAt = news.updatedAt ?? record.updatedAt;
  if (title?.text === record.title?.text && updatedAt === record.updatedAt) return record;
  return { ...without(record, 'title'), updatedAt, ...(title ? { title } : {}) };
}

function titleOf(title: string | null | undefined): SessionRecord['title'] {
  const text = shorten(oneLine((title ?? '').slice(0, 10_000)), MAX_TITLE_LENGTH);
  return text === '' ? undefined : { text, by: 'agent' };
}

/** Its entries are not known, but it is no empty session. */
function blank(id: string, agent: string, listed: ListedSession): SessionRecord {
  const title = titleOf(listed.title);
  // An agent that tells no time: when it was first heard of.
  const updatedAt = listed.updatedAt ?? Date.now();
  return {
    id,
    source: 'agent',
    cwd: listed.cwd,
    ...(title ? { title } : {}),
    createdAt: updatedAt,
    updatedAt,
    kind: 'build',
    headless: false,
    state: 'idle',
    archived: listed.archived ?? false,
    agent,
    agentSession: listed.agentSession,
    ...(listed.directories === undefined ? {} : { directories: listed.directories }),
    ...(listed.messageCount === undefined ? {} : { messageCount: listed.messageCount }),
    hasErrors: false,
    empty: false,
    generation: 0,
    revision: 0,
    entryCount: 0,
    turnCount: 0,
    skipped: 0,
    offBranch: 0,
  };
}
