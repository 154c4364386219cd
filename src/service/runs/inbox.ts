import type { Params, Result } from '../../protocol/methods.js';
import { DomainError } from '../../protocol/errors.js';
import type { InboxChanged, InboxItem } from '../../protocol/inbox.js';
import type { InboxRules } from '../parts.js';
import type { Client, Clients } from '../sessions/client.js';
import { scopeOf } from '../sessions/scope.js';
import { requireTrust } from '../sessions/trust.js';
import type { FailureRow, RunSession, RunStore } from './ports.js';
import type { Ending, QuestionItem, QuestionListener, Questions } from './questions.js';

/** Older failures wait until these were looked at. */
const MAX_FAILED = 500;

export interface InboxParts {
  readonly desk: Questions;
  readonly store: RunStore;
  readonly clients: Clients;
  /** Whether the session is in the client's scope. */
  readonly sees: (client: Client, sessionId: string) => boolean;
}

type Removal = InboxChanged['removed'][number];

/** Everything that waits for a person, and its answers: open questions, and runs that failed unseen. */
export class Inbox implements InboxRules, QuestionListener {
  constructor(private readonly parts: InboxParts) {
    parts.desk.listen(this);
  }

  list(client: Client): Result<'deck/inbox'> {
    const { desk, store, sees } = this.parts;
    const all: InboxItem[] = [...desk.items(), ...store.failedRuns(MAX_FAILED).map(failedItem)];
    return { items: all.filter(({ sessionId }) => sees(client, sessionId)) };
  }

  /**
   * Answers an item, durably. Throws `task_unavailable` (unknown or out of scope), `already_resolved`, `forbidden` in
   * a restricted window, and `invalid_params` naming the field.
   */
  answer(client: Client, { id, answer }: Params<'deck/inbox/answer'>): Record<string, never> {
    const { desk, store, sees } = this.parts;
    const item = desk.item(id);
    const known = item ?? store.inboxRow(id);
    if (!known || !sees(client, known.sessionId))
      throw new DomainError('task_unavailable', 'This item is not known.');
    if (item) this.answerQuestion(client, item, answer);
    else if ('closed' in known && known.kind === 'failed' && !known.closed) {
      if (!('dismiss' in answer)) throw notAnAnswer();
      store.dismissRun(id, Date.now());
      this.removed(known.sessionId, [{ id, reason: 'dismissed' }]);
    } else throw new DomainError('already_resolved', 'This was answered already, or is not asked any more.');
    return {};
  }

  opened(item: QuestionItem): void {
    this.announce(item.sessionId, { upserted: [item], removed: [] });
  }

  closed({ id, sessionId }: QuestionItem, reason: Ending): void {
    this.removed(sessionId, [{ id, reason }]);
  }

  /** A run failed, and the store knows it: it waits for somebody to look at it. */
  runFailed(runId: string): void {
    const run = this.parts.store.failedRuns(MAX_FAILED).find(({ id }) => id === runId);
    if (run) this.announce(run.sessionId, { upserted: [failedItem(run)], removed: [] });
  }

  /** A run completed: that earlier ones of its session failed is old news. */
  runCompleted(sessionId: string): void {
    const { store } = this.parts;
    const old = this.failedOf(sessionId);
    const now = Date.now();
    for (const { id } of old) store.dismissRun(id, now);
    this.removed(
      sessionId,
      old.map(({ id }) => ({ id, reason: 'withdrawn' })),
    );
  }

  /** The session was deleted; who saw it hears that its failed runs wait no more. */
  sessionGone(session: RunSession): void {
    const removed = this.failedOf(session.id).map(({ id }): Removal => ({ id, reason: 'withdrawn' }));
    if (removed.length === 0) return;
    for (const client of this.parts.clients)
      if (scopeOf(client).has(session)) client.notify('deck/inbox/changed', { upserted: [], removed });
  }

  /** The session is there again, and so is what waited in it. */
  sessionBack(sessionId: string): void {
    const upserted = this.failedOf(sessionId).map(failedItem);
    if (upserted.length > 0) this.announce(sessionId, { upserted, removed: [] });
  }

  private failedOf(sessionId: string): FailureRow[] {
    return this.parts.store.failedRuns(MAX_FAILED).filter((run) => run.sessionId === sessionId);
  }

  private answerQuestion(
    client: Client,
    { id }: QuestionItem,
    answer: Params<'deck/inbox/answer'>['answer'],
  ): void {
    requireTrust(client);
    if ('dismiss' in answer) throw notAnAnswer();
    const given =
      'optionId' in answer ? { outcome: { outcome: 'selected', optionId: answer.optionId } } : answer;
    this.parts.desk.answer(id, given);
  }

  private removed(sessionId: string, removed: Removal[]): void {
    if (removed.length > 0) this.announce(sessionId, { upserted: [], removed });
  }

  private announce(sessionId: string, change: InboxChanged): void {
    const { clients, sees } = this.parts;
    for (const client of clients) if (sees(client, sessionId)) client.notify('deck/inbox/changed', change);
  }
}

function failedItem({ id, sessionId, error, endedAt }: FailureRow): InboxItem {
  return {
    id,
    sessionId,
    runId: id,
    at: new Date(endedAt).toISOString(),
    kind: 'failed',
    message: error ?? 'The run failed.',
  };
}

function notAnAnswer(): DomainError {
  return new DomainError('invalid_params', 'This is no answer to what was asked.', { field: 'answer' });
}
