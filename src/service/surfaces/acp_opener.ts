import { DomainError } from '../../protocol/errors.js';
import type { Log } from '../log.js';
import type { RunRules, SessionRules } from '../parts.js';
import type { AcpClient } from './acp_client.js';
import { entryUpdates } from './acp_replay.js';

/** Larger images are named in a replay, not sent. */
const MAX_IMAGE_BYTES = 4 * 1024 * 1024;

export interface OpenerParts {
  readonly sessions: Pick<SessionRules, 'replay' | 'entryContent'>;
  readonly runs: Pick<RunRules, 'attend'>;
  readonly log: Log;
}

/** What opening a session means to an ACP client beyond the answer: the replay before it, and the news after it. */
export class AcpOpener {
  constructor(
    private readonly client: AcpClient,
    private readonly parts: OpenerParts,
  ) {}

  /**
   * Opens with `work`, then replays the whole session, and gives the answer of `work`. What a running turn tells
   * meanwhile is neither lost nor repeated. Throws `cancelled` when `signal` aborts.
   */
  async load<T>(sessionId: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.client.hold(sessionId);
    try {
      const answer = await work();
      await this.replay(sessionId, signal);
      return answer;
    } finally {
      this.client.release(sessionId);
    }
  }

  private async replay(sessionId: string, signal: AbortSignal): Promise<void> {
    const { client } = this;
    const readImage = (ref: string) => this.image(sessionId, ref, signal);
    const batches = this.parts.sessions.replay(sessionId, () => client.forgetHeld(sessionId));
    for await (const batch of batches)
      for (const entry of batch)
        for (const update of await entryUpdates(entry, client.features, readImage)) {
          if (signal.aborted) throw new DomainError('cancelled', 'The replay was cancelled.');
          if (!client.connected) return;
          await client.replay(sessionId, update);
        }
  }

  private async image(sessionId: string, ref: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const { encoding, data, nextOffset } = await this.parts.sessions.entryContent(
        this.client,
        { sessionId, ref, limit: MAX_IMAGE_BYTES },
        signal,
      );
      return encoding === 'base64' && nextOffset === undefined ? data : undefined;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.parts.log.warn('an image is left out of a replay', error);
      return undefined;
    }
  }

  /** Tells what holds of the session now and is in no answer. Call it when the answer is on its way. */
  greet(sessionId: string): void {
    const { client } = this;
    try {
      for (const update of this.parts.runs.attend(client, { sessionId }))
        client.sessionUpdate(sessionId, update);
    } catch (error) {
      // The session may be gone by now; the answer has gone out, so there is nobody to tell.
      this.parts.log.warn('what holds of a session could not be told', error);
    }
  }
}
