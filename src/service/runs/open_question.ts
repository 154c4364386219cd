import type { Client } from '../sessions/client.js';
import type { Ending, Question, QuestionItem, QuestionParts } from './questions.js';

/** An open question, whatever its answer is. */
export interface Answerable {
  readonly item: QuestionItem;
  /** A client attached, or opened the session. */
  came(client: Client): void;
  /** A client has gone. */
  left(client: Client): void;
  /** See `Questions.answer`. */
  answer(given: unknown): boolean;
  /** See `Questions.withdraw`. */
  withdraw(given: unknown): void;
}

/** One question, from when it is asked until somebody has answered it or nobody can. */
export class OpenQuestion<A> implements Answerable {
  private readonly asked = new Map<Client, AbortController>();
  /** They could not answer, and are not asked the same again. */
  private readonly unable = new Set<Client>();
  private settled = false;

  constructor(
    private readonly question: Question<A>,
    private readonly parts: QuestionParts,
    private readonly finish: (answer: A, ending: Ending) => void,
  ) {}

  get item(): QuestionItem {
    return this.question.item;
  }

  start(): void {
    const { owner } = this.question;
    if (owner.surface === 'acp' && this.may(owner)) void this.askClient(owner);
    this.goOn();
  }

  came(client: Client): void {
    if (!this.may(this.question.owner)) this.askIfAble(client);
  }

  left(client: Client): void {
    this.asked.get(client)?.abort();
    this.asked.delete(client);
    this.goOn();
  }

  answer(given: unknown): boolean {
    if (this.settled) return false;
    this.settle(this.question.read(given), 'answered', true);
    return true;
  }

  withdraw(given: unknown): void {
    this.settle(this.question.read(given), 'withdrawn', false);
  }

  refuse(): void {
    this.settle(this.question.refusal, 'withdrawn', false);
  }

  private settle(answer: A, ending: Ending, durably: boolean): void {
    if (this.settled) return;
    // Keeping it can end the run, which would come back here.
    this.settled = true;
    try {
      this.question.record(answer);
    } catch (error) {
      if (durably) {
        this.settled = false;
        throw error;
      }
      this.parts.log.error('the answer of a question could not be kept', error);
    }
    for (const controller of this.asked.values()) controller.abort();
    this.asked.clear();
    this.finish(answer, ending);
  }

  /** Asks others when the owner cannot answer; refuses when it is there and nobody can. */
  private goOn(): void {
    const { owner } = this.question;
    if (this.settled || this.asked.size > 0 || this.may(owner)) return;
    for (const client of this.parts.clients) this.askIfAble(client);
    // A run outlives its owner: who comes later may answer then.
    if (!owner.connected) return;
    if (![...this.parts.clients].some((client) => this.may(client))) this.refuse();
  }

  private askIfAble(client: Client): void {
    if (client.surface === 'acp' && !this.asked.has(client) && this.may(client)) void this.askClient(client);
  }

  /** Whether the client could answer: a window by its inbox, an ACP client that opened the session when asked. */
  private may(client: Client): boolean {
    const { question } = this;
    const { item } = question;
    if (!client.connected || !client.options.trusted || !this.parts.sees(client, item.sessionId))
      return false;
    if (client.surface === 'editor') return true;
    return (
      this.parts.audience.has(client, item.sessionId) &&
      !this.unable.has(client) &&
      question.isAble(client.abilities)
    );
  }

  private async askClient(client: Client): Promise<void> {
    const { request } = this.question;
    const controller = new AbortController();
    this.asked.set(client, controller);
    try {
      const given = await client.ask(request.method, request.params, controller.signal);
      if (this.settled) return;
      this.settle(this.question.read(given), 'answered', false);
    } catch (error) {
      if (this.settled) return;
      this.parts.log.info('a client did not answer a question', {
        client: client.id,
        method: request.method,
        reason: error instanceof Error ? error.message : String(error),
      });
      this.asked.delete(client);
      this.unable.add(client);
      this.goOn();
    }
  }
}
