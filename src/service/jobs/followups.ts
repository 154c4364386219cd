import { createHash } from 'node:crypto';
import type { FollowupParams } from '../../protocol/aster.js';
import type { Log } from '../log.js';
import { unlessAborted } from '../abort.js';
import type { Client } from '../sessions/client.js';
import type { Models } from './models.js';
import type { JobSession, JobSessions } from './ports.js';
import { followupPrompt, readSuggestions } from './wording.js';

const MAX_OUTPUT_TOKENS = 300;

export interface FollowupsParts {
  readonly sessions: Pick<JobSessions, 'resolve' | 'lastTurn'>;
  readonly models: Models;
  readonly log: Log;
  /** In ms; then there are no suggestions. */
  readonly timeoutMs: number;
}

/** One question to a model, and those who wait for it. */
interface Going {
  readonly sessionId: string;
  readonly result: Promise<string[]>;
  readonly controller: AbortController;
  waiting: number;
}

/** Suggestions for the next prompt. They open no turn and change nothing. */
export class Followups {
  private readonly going = new Map<string, Going>();

  constructor(private readonly parts: FollowupsParts) {}

  /**
   * Empty when small jobs are off, no model is at hand, one fails or takes too long, and when a turn begins meanwhile.
   * A second identical call joins the first. Throws `session_unavailable`, and `cancelled` when `signal` aborts.
   */
  async suggest(client: Client, params: FollowupParams, signal: AbortSignal): Promise<string[]> {
    const session = this.parts.sessions.resolve(client, params.sessionId);
    if (!this.parts.models.isOn(client)) return [];
    const key = keyOf(client, session.id, params);
    const going = this.going.get(key) ?? this.begin(key, client, session, params);
    going.waiting += 1;
    try {
      return await unlessAborted(going.result, signal, () => undefined);
    } finally {
      going.waiting -= 1;
      if (going.waiting === 0) this.end(key, going);
    }
  }

  /** What is being asked about a session is of no use any more; of all sessions when none is named. */
  abort(sessionId?: string): void {
    for (const [key, going] of this.going)
      if (sessionId === undefined || going.sessionId === sessionId) this.end(key, going);
  }

  private begin(key: string, client: Client, session: JobSession, params: FollowupParams): Going {
    const controller = new AbortController();
    const time = AbortSignal.any([controller.signal, AbortSignal.timeout(this.parts.timeoutMs)]);
    const result = this.ask(client, session, params, time).catch((error: unknown) => {
      this.parts.log.info('no suggestions', { sessionId: session.id, reason: String(error) });
      return [];
    });
    const going = { sessionId: session.id, result, controller, waiting: 0 };
    this.going.set(key, going);
    return going;
  }

  private end(key: string, going: Going): void {
    if (this.going.get(key) === going) this.going.delete(key);
    going.controller.abort();
  }

  private async ask(
    client: Client,
    session: JobSession,
    { prompt, response }: FollowupParams,
    signal: AbortSignal,
  ): Promise<string[]> {
    const last =
      prompt.trim() === '' || response.trim() === ''
        ? await this.parts.sessions.lastTurn(session.id)
        : undefined;
    const turn = {
      prompt: prompt.trim() === '' ? (last?.prompt ?? '') : prompt,
      response: response.trim() === '' ? (last?.response ?? '') : response,
    };
    if (turn.prompt === '' && turn.response === '') return [];
    const completion = { prompt: followupPrompt(turn), maxOutputTokens: MAX_OUTPUT_TOKENS };
    return readSuggestions(await this.parts.models.complete(client, session, completion, signal));
  }
}

/** Who is asked depends on the client's settings, so only those with the same ones share an answer. */
function keyOf({ options }: Client, sessionId: string, { prompt, response }: FollowupParams): string {
  const parts = [sessionId, options.config.smallJobs, prompt, response];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}
