import * as z from 'zod';
import type { SessionData } from './data.js';

const KEY = 'hidden-agent-sessions';
/** More than this many are not remembered; the oldest are forgotten first. */
const MAX = 20_000;
const Stored = z.array(z.string());

/** Sessions of agents that were never a person's: small jobs are done in them. What they leave on disk is not listed. */
export class HiddenSessions {
  private readonly ids: Set<string>;

  constructor(private readonly data: Pick<SessionData, 'getMeta' | 'setMeta'>) {
    this.ids = new Set(parse(data.getMeta(KEY)));
  }

  /** By the agent's own id. */
  has(agentSession: string): boolean {
    return this.ids.has(agentSession);
  }

  /** Durable when it returns. */
  add(agentSession: string): void {
    this.ids.add(agentSession);
    for (const oldest of this.ids) {
      if (this.ids.size <= MAX) break;
      this.ids.delete(oldest);
    }
    this.data.setMeta(KEY, JSON.stringify([...this.ids]));
  }
}

/** What cannot be read is as good as nothing: a session too many is listed, none is lost. */
function parse(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  try {
    return Stored.safeParse(JSON.parse(text)).data ?? [];
  } catch {
    return [];
  }
}
