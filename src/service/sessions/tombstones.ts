import * as z from 'zod';
import type { SessionData } from './data.js';
import type { SessionRecord } from './record.js';

const KEY = 'gone-agent-sessions';
/** More than this many are not remembered; the oldest are forgotten first. */
const MAX = 20_000;
/** Agent (empty: whichever), its id of the session, whether the agent is still to be told. */
const Stored = z.array(z.tuple([z.string(), z.string(), z.boolean()]));

/** A session of an agent that is not to be listed any more. */
export interface GoneSession {
  /** Undefined: whichever agent lists it. */
  readonly agent: string | undefined;
  readonly agentSession: string;
  /** The agent is to delete it too, once it runs. */
  readonly toDelete: boolean;
}

/** Remembers which sessions agents may go on to list, but a person has deleted for good or was never to see. */
export class Tombstones {
  private readonly gone = new Map<string, GoneSession>();

  constructor(private readonly data: Pick<SessionData, 'getMeta' | 'setMeta'>) {
    const stored = data.getMeta(KEY);
    for (const [agent, agentSession, toDelete] of stored === undefined ? [] : parse(stored))
      this.put({ agent: agent === '' ? undefined : agent, agentSession, toDelete });
  }

  has(agent: string, agentSession: string): boolean {
    return this.gone.has(keyOf(agent, agentSession)) || this.gone.has(keyOf(undefined, agentSession));
  }

  /** Durable when it returns. */
  add(session: GoneSession): void {
    this.put(session);
    this.save();
  }

  /** A session that a person deleted, for good now: no list may bring it back, and its agent is to delete it too. */
  bury({ id, source, agent, agentSession }: SessionRecord): void {
    if (source === 'claude-code' || source === 'codex')
      this.add({ agent: undefined, agentSession: agentSession ?? id, toDelete: false });
    else if (agent !== undefined && agentSession !== undefined)
      this.add({ agent, agentSession, toDelete: true });
  }

  /** What an agent is still to delete. */
  toDelete(agent: string): string[] {
    return [...this.gone.values()].flatMap((one) =>
      one.toDelete && one.agent === agent ? [one.agentSession] : [],
    );
  }

  /** The agent was told, whatever it answered. */
  told(agent: string, agentSession: string): void {
    this.add({ agent, agentSession, toDelete: false });
  }

  private put(session: GoneSession): void {
    const key = keyOf(session.agent, session.agentSession);
    this.gone.delete(key);
    this.gone.set(key, session);
    for (const oldest of this.gone.keys()) {
      if (this.gone.size <= MAX) break;
      this.gone.delete(oldest);
    }
  }

  private save(): void {
    const rows = [...this.gone.values()].map(({ agent = '', agentSession, toDelete }) => [
      agent,
      agentSession,
      toDelete,
    ]);
    this.data.setMeta(KEY, JSON.stringify(rows));
  }
}

const keyOf = (agent: string | undefined, agentSession: string) => `${agent ?? ''}\n${agentSession}`;

/** What cannot be read is as good as nothing: a session is listed again, none is lost. */
function parse(text: string): z.infer<typeof Stored> {
  try {
    return Stored.safeParse(JSON.parse(text)).data ?? [];
  } catch {
    return [];
  }
}
