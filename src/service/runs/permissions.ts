import { PermissionResult, type PermissionParams } from '../../protocol/acp.js';
import type { Log } from '../log.js';
import type { Client, Clients } from '../sessions/client.js';

/** A permission that somebody has to give or refuse. */
export interface Question {
  readonly sessionId: string;
  /** Who started the turn. */
  readonly owner: Client | undefined;
  readonly params: PermissionParams;
  /** Aborts when the run is cancelled or the agent has gone. */
  readonly signal: AbortSignal;
}

const CANCELLED: PermissionResult = { outcome: { outcome: 'cancelled' } };

/**
 * Puts the agents' questions to people: first to the owner of the turn, and when that one has gone or cannot answer,
 * to everybody who may, also to those who attach later. The first answer wins; a question is never answered twice.
 */
export class PermissionDesk {
  private readonly open = new Set<OpenQuestion>();

  constructor(
    private readonly clients: Clients,
    /** Whether the client may answer for the session when it did not start the turn. */
    private readonly mayAnswer: (client: Client, sessionId: string) => boolean,
    private readonly log: Log,
  ) {
    clients.onAttach((client) => {
      for (const question of this.open) question.attached(client);
    });
  }

  /** Resolves with the answer; with `cancelled` once the signal aborts. Waits as long as nobody answers. */
  async ask(question: Question): Promise<PermissionResult> {
    if (question.signal.aborted) return CANCELLED;
    return new Promise((resolve) => {
      const finish = (result: PermissionResult) => {
        question.signal.removeEventListener('abort', cancel);
        this.open.delete(opened);
        resolve(result);
      };
      const opened = new OpenQuestion(question, this.clients, this.mayAnswer, this.log, finish);
      const cancel = () => opened.settle(CANCELLED);
      question.signal.addEventListener('abort', cancel, { once: true });
      this.open.add(opened);
      opened.start();
    });
  }
}

class OpenQuestion {
  private readonly asked = new Map<Client, AbortController>();
  /** Could not answer; they are not asked the same again. */
  private readonly unable = new Set<Client>();
  private settled = false;

  constructor(
    private readonly question: Question,
    private readonly clients: Clients,
    private readonly mayAnswer: (client: Client, sessionId: string) => boolean,
    private readonly log: Log,
    private readonly finish: (result: PermissionResult) => void,
  ) {}

  start(): void {
    const { owner } = this.question;
    if (owner?.connected) void this.askClient(owner);
    else this.askEverybody();
  }

  attached(client: Client): void {
    if (this.asked.size === 0) this.askIfAllowed(client);
  }

  settle(result: PermissionResult): void {
    if (this.settled) return;
    this.settled = true;
    for (const controller of this.asked.values()) controller.abort();
    this.asked.clear();
    this.finish(result);
  }

  private askEverybody(): void {
    for (const client of this.clients) this.askIfAllowed(client);
  }

  private askIfAllowed(client: Client): void {
    if (this.asked.has(client) || this.unable.has(client) || !client.connected) return;
    if (this.mayAnswer(client, this.question.sessionId)) void this.askClient(client);
  }

  private async askClient(client: Client): Promise<void> {
    const controller = new AbortController();
    this.asked.set(client, controller);
    try {
      const result = PermissionResult.parse(
        await client.ask('session/request_permission', this.question.params, controller.signal),
      );
      if (this.isAnswer(result)) {
        this.settle(result);
        return;
      }
      this.log.warn('a permission was answered with an option that was not offered', { client: client.id });
    } catch (error) {
      if (this.settled) return;
      this.log.info('a client did not answer a permission', { client: client.id, reason: String(error) });
    }
    if (this.settled) return;
    this.asked.delete(client);
    this.unable.add(client);
    if (this.asked.size === 0) this.askEverybody();
  }

  private isAnswer({ outcome }: PermissionResult): boolean {
    return (
      outcome.outcome === 'cancelled' ||
      this.question.params.options.some(({ optionId }) => optionId === outcome.optionId)
    );
  }
}
