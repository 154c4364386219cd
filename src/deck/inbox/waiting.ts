import type { InboxChanged, InboxItem } from '../../protocol/inbox.js';

/** What an item of a kind is worth: questions that hold an agent up come before what only wants to be seen. */
const rank: Record<InboxItem['kind'], number> = { permission: 0, form: 1, url: 2, failed: 3 };

/** The items that wait, those of a kind together, oldest first. */
export class Waiting {
  private items = new Map<string, InboxItem>();
  private sorted: InboxItem[] | undefined;

  get all(): readonly InboxItem[] {
    return (this.sorted ??= [...this.items.values()].sort(
      (a, b) => rank[a.kind] - rank[b.kind] || Date.parse(a.at) - Date.parse(b.at),
    ));
  }

  get(id: string): InboxItem | undefined {
    return this.items.get(id);
  }

  reset(items: readonly InboxItem[]): void {
    this.items = new Map(items.map((item) => [item.id, item]));
    this.sorted = undefined;
  }

  /** Takes a change in and gives the items that were not there before. */
  apply({ upserted, removed }: InboxChanged): InboxItem[] {
    const fresh = upserted.filter(({ id }) => !this.items.has(id));
    for (const item of upserted) this.items.set(item.id, item);
    for (const { id } of removed) this.items.delete(id);
    this.sorted = undefined;
    return fresh.filter(({ id }) => this.items.has(id));
  }

  /** The session that waits and comes after this one, going round; sessions in the order of their first item. */
  sessionAfter(sessionId: string | undefined): string | undefined {
    const sessions = [...new Set(this.all.map((item) => item.sessionId))];
    const at = sessionId === undefined ? -1 : sessions.indexOf(sessionId);
    return sessions[(at + 1) % sessions.length];
  }
}
