import { RequestError } from '@agentclientprotocol/sdk';
import { v7 as uuid } from 'uuid';
import { ElicitationParams, type ElicitationAnswer } from '../../protocol/elicitation.js';
import { describeIssue } from '../issues.js';
import type { Audience } from './audience.js';
import type { LiveSession } from './live_session.js';
import type { Questions } from './questions.js';

/** Questions that agents put to the person: forms and addresses to visit. */
export class Elicitations {
  /** Ids of our own by the agent's, of addresses that were not told to be done. */
  private readonly addresses = new WeakMap<LiveSession, Map<string, string>>();

  constructor(
    private readonly desk: Questions,
    private readonly audience: Audience,
  ) {}

  /** `elicitation/create`. Outside of a turn nobody is asked. */
  async create(session: LiveSession, params: unknown, signal: AbortSignal): Promise<ElicitationAnswer> {
    const parsed = ElicitationParams.safeParse(params);
    if (!parsed.success) {
      const { field, text } = describeIssue(parsed.error);
      throw RequestError.invalidParams({ field }, text);
    }
    if (!session.sink) return { action: 'cancel' };
    const id = uuid();
    if (parsed.data.mode === 'url') this.known(session).set(parsed.data.elicitationId, id);
    return session.sink.elicitation(id, { ...parsed.data, sessionId: session.sessionId }, signal);
  }

  /** `elicitation/complete`: who visited the address has accepted, wherever that was. */
  complete(session: LiveSession, elicitationId: string): void {
    const id = this.known(session).get(elicitationId);
    if (id === undefined) return;
    this.known(session).delete(elicitationId);
    this.desk.withdraw(id, { action: 'accept' });
    for (const client of this.audience.of(session.sessionId))
      if (client.abilities.url) client.notify('elicitation/complete', { elicitationId: id });
  }

  private known(session: LiveSession): Map<string, string> {
    const known = this.addresses.get(session) ?? new Map<string, string>();
    this.addresses.set(session, known);
    return known;
  }
}
