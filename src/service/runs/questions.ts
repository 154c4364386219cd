import type { InboxItem } from '../../protocol/inbox.js';
import type { Log } from '../log.js';
import type { Client, ClientAbilities, Clients } from '../sessions/client.js';
import type { Audience } from './audience.js';
import { OpenQuestion, type Answerable } from './open_question.js';

/** What is asked: an item of the inbox as long as it is open. */
export type QuestionItem = Exclude<InboxItem, { kind: 'failed' }>;

/** Something that an agent wants to know from a person. `A` is the answer as the agent gets it. */
export interface Question<A> {
  readonly item: QuestionItem;
  /** Who started the turn. */
  readonly owner: Client;
  /** How an ACP client is asked. */
  readonly request: { readonly method: string; readonly params: unknown };
  /** Whether a client with these abilities can be asked. */
  isAble(abilities: ClientAbilities): boolean;
  /** The answer in what somebody gave. Throws `invalid_params` when it is none. */
  read(given: unknown): A;
  /** Keeps the answer. Throws when that cannot be done durably. */
  record(answer: A): void;
  /** What the agent hears when nobody can answer, or the question was taken back. */
  readonly refusal: A;
  /** Aborts when the run was cancelled or ended, or the agent took the question back. */
  readonly signal: AbortSignal;
}

/** Why a question is not open any more. */
export type Ending = 'answered' | 'withdrawn';

export interface QuestionListener {
  opened(item: QuestionItem): void;
  closed(item: QuestionItem, ending: Ending): void;
}

export interface QuestionParts {
  readonly clients: Clients;
  readonly audience: Audience;
  /** Whether the session is in the client's scope. */
  readonly sees: (client: Client, sessionId: string) => boolean;
  readonly log: Log;
}

/**
 * Puts the agents' questions to people. An ACP client that owns the turn is asked; when it has gone or cannot answer,
 * the others that opened the session are. Windows see all of them in their inbox. The first answer wins; a question is
 * never answered twice.
 */
export class Questions {
  private readonly open = new Map<string, Answerable>();
  private listener: QuestionListener | undefined;

  constructor(private readonly parts: QuestionParts) {
    const { clients, audience } = parts;
    clients.onAttach((client) => this.each((question) => question.came(client)));
    clients.onDetach((client) => this.each((question) => question.left(client)));
    audience.onJoin((client, sessionId) =>
      this.each((question) => {
        if (question.item.sessionId === sessionId) question.came(client);
      }),
    );
  }

  /** From now on `listener` hears of every question that is opened or closed. */
  listen(listener: QuestionListener): void {
    this.listener = listener;
  }

  /** In the order in which they were asked. */
  items(): QuestionItem[] {
    return [...this.open.values()].map(({ item }) => item);
  }

  item(id: string): QuestionItem | undefined {
    return this.open.get(id)?.item;
  }

  /** Resolves with the answer, or the refusal. Waits as long as somebody could still answer. */
  ask<A>(question: Question<A>): Promise<A> {
    return new Promise((resolve) => {
      const { item, signal } = question;
      const opened = new OpenQuestion(question, this.parts, (answer, ending) => {
        signal.removeEventListener('abort', cancel);
        resolve(answer);
        if (this.open.delete(item.id)) this.tell((listener) => listener.closed(item, ending));
      });
      const cancel = () => opened.refuse();
      if (signal.aborted) {
        cancel();
        return;
      }
      signal.addEventListener('abort', cancel, { once: true });
      this.open.set(item.id, opened);
      this.tell((listener) => listener.opened(item));
      opened.start();
    });
  }

  /**
   * Takes an answer in, durably. Throws `invalid_params` when it is none, and what keeping it throws; then the question
   * stays open. False when there is no such open question.
   */
  answer(id: string, given: unknown): boolean {
    return this.open.get(id)?.answer(given) ?? false;
  }

  /** The agent needs no answer any more: it gets `given`, nobody else is asked. */
  withdraw(id: string, given: unknown): void {
    this.open.get(id)?.withdraw(given);
  }

  /** What hears of questions must not keep them from being asked and answered. */
  private tell(work: (listener: QuestionListener) => void): void {
    try {
      if (this.listener) work(this.listener);
    } catch (error) {
      this.parts.log.error('a question could not be announced', error);
    }
  }

  private each(work: (question: Answerable) => void): void {
    for (const question of [...this.open.values()]) work(question);
  }
}
