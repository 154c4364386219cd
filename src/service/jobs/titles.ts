import type { Log } from '../log.js';
import type { RunEnd, RunKind } from '../runs/ports.js';
import type { Client } from '../sessions/client.js';
import type { Models } from './models.js';
import type { JobSession, JobSessions, JobTasks } from './ports.js';
import { readTitle, titlePrompt } from './wording.js';

const MAX_OUTPUT_TOKENS = 100;
/** Later than this nobody needs a new name for a session that is known by its first prompt. */
const MAX_TURNS = 3;

export interface TitlesParts {
  readonly sessions: Pick<JobSessions, 'resolve' | 'lastTurn' | 'update'>;
  readonly models: Models;
  readonly tasks: JobTasks;
  readonly log: Log;
  /** In ms; then the title stays what it is. */
  readonly timeoutMs: number;
}

/** Gives sessions of ours a title after their first completed turn, unless they have one from somebody. */
export class Titles {
  private readonly stopping = new AbortController();

  constructor(private readonly parts: TitlesParts) {}

  /** A turn ended. Never rejects. */
  async turnEnded(
    sessionId: string,
    end: { readonly status: RunEnd['status']; readonly kind: RunKind; readonly owner: Client },
  ): Promise<void> {
    if (end.status !== 'completed' || end.kind === 'compaction') return;
    try {
      const { owner } = end;
      const session = this.parts.sessions.resolve(owner, sessionId);
      if (!this.parts.models.isOn(owner) || !isNameless(session)) return;
      const turn = await this.parts.sessions.lastTurn(sessionId);
      if (!turn) return;
      await this.parts.tasks.run('Title for the session', sessionId, async (signal) => {
        const time = AbortSignal.any([
          signal,
          this.stopping.signal,
          AbortSignal.timeout(this.parts.timeoutMs),
        ]);
        const completion = { prompt: titlePrompt(turn), maxOutputTokens: MAX_OUTPUT_TOKENS };
        const title = readTitle(await this.parts.models.complete(owner, session, completion, time));
        if (title === undefined) throw new Error('The model gave no title that fits.');
        this.parts.sessions.update(sessionId, { agentTitle: title });
      });
    } catch (error) {
      // The session keeps the title that its first prompt gave it; a later turn may try again.
      this.parts.log.info('a session got no title', { sessionId, reason: String(error) });
    }
  }

  stop(): void {
    this.stopping.abort();
  }
}

const isNameless = ({ source, title, turnCount }: JobSession) =>
  source === 'deck' && (title === undefined || title.by === 'prompt') && turnCount <= MAX_TURNS;
