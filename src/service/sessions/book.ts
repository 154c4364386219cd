import type { SessionRecord } from './record.js';
import { fold } from './titles.js';

/** Newest first, then by id, both descending. */
function order(a: SessionRecord, b: SessionRecord): number {
  if (a.updatedAt !== b.updatedAt) return b.updatedAt - a.updatedAt;
  return a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
}

/**
 * Every session of the store in memory, deleted ones apart: what lists and look-ups work on. The store is the truth;
 * a record comes in here once it is durable.
 */
export class Book {
  private readonly records = new Map<string, SessionRecord>();
  private readonly deleted = new Map<string, SessionRecord>();
  private readonly childIds = new Map<string, Set<string>>();
  private readonly byAgentSession = new Map<string, string>();
  private readonly searchTexts = new WeakMap<SessionRecord, string>();
  private ordered: SessionRecord[] | undefined;

  /** A session that is not deleted. */
  get(id: string): SessionRecord | undefined {
    return this.records.get(id);
  }

  getDeleted(id: string): SessionRecord | undefined {
    return this.deleted.get(id);
  }

  /** Whether the id is taken, also by a deleted session that can come back. */
  has(id: string): boolean {
    return this.records.has(id) || this.deleted.has(id);
  }

  put(record: SessionRecord): void {
    const before = this.records.get(record.id);
    const { ordered } = this;
    const at =
      before && ordered && order(before, record) === 0
        ? this.indexAfter(before.updatedAt, before.id) - 1
        : -1;
    this.drop(record.id);
    if (record.deletedAt !== undefined) {
      this.deleted.set(record.id, record);
      return;
    }
    this.records.set(record.id, record);
    if (record.parent) {
      const siblings = this.childIds.get(record.parent.sessionId) ?? new Set();
      this.childIds.set(record.parent.sessionId, siblings.add(record.id));
    }
    if (record.agentSession !== undefined) this.byAgentSession.set(record.agentSession, record.id);
    // Most changes leave the order as it is; sorting ten thousand at each of them would make requests wait.
    if (ordered && at >= 0) ordered[at] = record;
    this.ordered = at >= 0 ? ordered : undefined;
  }

  /** Takes a session out for good. */
  drop(id: string): void {
    this.deleted.delete(id);
    const before = this.records.get(id);
    if (!before) return;
    this.records.delete(id);
    if (before.parent) {
      const siblings = this.childIds.get(before.parent.sessionId);
      siblings?.delete(id);
      if (siblings?.size === 0) this.childIds.delete(before.parent.sessionId);
    }
    if (before.agentSession !== undefined && this.byAgentSession.get(before.agentSession) === id)
      this.byAgentSession.delete(before.agentSession);
    this.ordered = undefined;
  }

  /** The session that an agent or a tool knows by this id. */
  ofAgentSession(agentSession: string): SessionRecord | undefined {
    const id = this.byAgentSession.get(agentSession);
    return id === undefined ? undefined : this.records.get(id);
  }

  /** All, newest first. */
  all(): readonly SessionRecord[] {
    return (this.ordered ??= [...this.records.values()].sort(order));
  }

  allDeleted(): SessionRecord[] {
    return [...this.deleted.values()];
  }

  /** What is listed below a session: its sub-agents and forks, newest first. */
  children(id: string): SessionRecord[] {
    return [...(this.childIds.get(id) ?? [])]
      .flatMap((child) => this.records.get(child) ?? [])
      .filter((child) => !child.empty)
      .sort(order);
  }

  /** The sub-agents of a session, empty ones too. */
  subagents(id: string): SessionRecord[] {
    return [...(this.childIds.get(id) ?? [])]
      .flatMap((child) => this.records.get(child) ?? [])
      .filter(({ parent }) => parent?.relation === 'subagent');
  }

  childCount(id: string): number {
    let count = 0;
    for (const child of this.childIds.get(id) ?? []) if (this.records.get(child)?.empty === false) count += 1;
    return count;
  }

  /** Whether the session has a row of its own in the list. A sub-agent has one only when its parent is not there. */
  isListed(record: SessionRecord): boolean {
    if (record.empty || record.deletedAt !== undefined) return false;
    return record.parent?.relation !== 'subagent' || !this.records.has(record.parent.sessionId);
  }

  /** Where in `all()` the first row after the place of a cursor is. */
  indexAfter(updatedAt: number, id: string): number {
    const all = this.all();
    let low = 0;
    let high = all.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const record = all[middle];
      const isAfter =
        record && (record.updatedAt < updatedAt || (record.updatedAt === updatedAt && record.id < id));
      if (isAfter === true) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Title, first prompt and folder, folded for searching. */
  searchText(record: SessionRecord): string {
    let text = this.searchTexts.get(record);
    if (text === undefined) {
      text = fold([record.title?.text ?? '', record.preview ?? '', record.cwd].join('\n'));
      this.searchTexts.set(record, text);
    }
    return text;
  }
}
