import type { InboxAnswerParams, InboxChanged, InboxItem } from '../protocol/inbox.js';
import type { Field, Value } from './form_fields.js';
import { CallError, type Host } from './host.js';
import { t } from './texts.js';

/** A question that waits, and how far its answer is. */
export interface OpenQuestion {
  readonly item: Exclude<InboxItem, { kind: 'failed' }>;
  readonly state: 'open' | 'answering';
  /** Why the answer was not taken. */
  readonly problem?: string;
}

/** What waits for a person in this session, by the entry that shows it. */
export class Questions {
  private readonly open = new Map<string, OpenQuestion>();
  private readonly failures = new Map<string, string>();
  /** Entries whose question was answered in another place while this page showed it. */
  private readonly elsewhere = new Set<string>();
  /** Entries whose question was answered here. */
  private readonly sent = new Set<string>();
  /** Answers of ours that are on their way or were taken, by item. */
  private readonly own = new Set<string>();
  /** What was typed into forms; never a secret. */
  private readonly values = new Map<string, Map<string, Value>>();
  private readonly problems = new Map<string, ReadonlyMap<string, string>>();

  constructor(
    private readonly host: Host,
    private readonly changed: () => void,
  ) {}

  /** All there is, for a page that begins. */
  reset(items: readonly InboxItem[]): void {
    this.open.clear();
    this.failures.clear();
    for (const item of items) this.add(item);
    this.changed();
  }

  change({ upserted, removed }: InboxChanged): void {
    for (const { id, reason } of removed) {
      this.failures.delete(id);
      const known = [...this.open.values()].find(({ item }) => item.id === id);
      if (!known) continue;
      this.close(known);
      if (reason === 'answered' && !this.own.has(id)) this.elsewhere.add(known.item.entryId);
    }
    for (const item of upserted) this.add(item);
    this.changed();
  }

  of(entryId: string): OpenQuestion | undefined {
    return this.open.get(entryId);
  }

  /** The oldest that waits. */
  get first(): OpenQuestion['item'] | undefined {
    return [...this.open.values()].map(({ item }) => item).sort((a, b) => (a.at < b.at ? -1 : 1))[0];
  }

  wasAnsweredElsewhere(entryId: string): boolean {
    return this.elsewhere.has(entryId);
  }

  /** It was answered here; its entry tells the answer soon. */
  wasSent(entryId: string): boolean {
    return this.sent.has(entryId);
  }

  /** Sends an answer; the first one, from wherever, wins. */
  async answer(item: OpenQuestion['item'], answer: InboxAnswerParams['answer']): Promise<void> {
    const { id, entryId } = item;
    if (this.open.get(entryId)?.state !== 'open') return;
    this.own.add(id);
    this.set({ item, state: 'answering' });
    try {
      await this.host.call('answer', { id, answer });
      this.sent.add(entryId);
      const known = this.open.get(entryId);
      if (known?.item.id === id) this.close(known);
    } catch (error) {
      this.own.delete(id);
      if (error instanceof CallError && error.code === 'already_resolved') {
        this.elsewhere.add(entryId);
        const known = this.open.get(entryId);
        if (known) this.close(known);
      } else if (this.open.get(entryId)?.item.id === id)
        this.set({ item, state: 'open', problem: error instanceof Error ? error.message : t('No answer.') });
    }
    this.changed();
  }

  /** What the failed run that was not looked at says; the person saw it now. */
  dismissFailures(): void {
    for (const id of this.failures.keys())
      this.host.call('answer', { id, answer: { dismiss: true } }).catch(() => {
        // It is gone already, or stays in the inbox, where it can be dismissed again.
        this.failures.delete(id);
      });
    this.failures.clear();
  }

  /** What is in a field of a form that waits. */
  value(itemId: string, field: Field): Value {
    return this.values.get(itemId)?.get(field.name) ?? field.initial;
  }

  setValue(itemId: string, field: Field, value: Value): void {
    if (field.kind === 'text' && field.secret) return;
    const values = this.values.get(itemId) ?? new Map<string, Value>();
    this.values.set(itemId, values.set(field.name, value));
  }

  problemsOf(itemId: string): ReadonlyMap<string, string> {
    return this.problems.get(itemId) ?? new Map<string, string>();
  }

  setProblems(itemId: string, problems: ReadonlyMap<string, string>): void {
    this.problems.set(itemId, problems);
    this.changed();
  }

  private add(item: InboxItem): void {
    if (item.kind === 'failed') this.failures.set(item.id, item.message);
    else if (this.open.get(item.entryId)?.item.id !== item.id) {
      this.sent.delete(item.entryId);
      this.elsewhere.delete(item.entryId);
      this.set({ item, state: 'open' });
    }
  }

  private set(question: OpenQuestion): void {
    this.open.set(question.item.entryId, question);
    this.changed();
  }

  private close({ item }: OpenQuestion): void {
    this.open.delete(item.entryId);
    this.values.delete(item.id);
    this.problems.delete(item.id);
  }
}
