import { v7 as uuid } from 'uuid';
import type { AgentPool } from '../agents/agent_pool.js';
import type { AgentSpec } from '../agents/agent_process.js';
import type { AgentUpdate } from '../agents/updates.js';
import { isUnread, type Imported } from '../sessions/imported.js';
import type { LiveSessions } from './live_sessions.js';
import type { RunSession, RunSessions } from './ports.js';
import { ReplayTurns } from './replay_turns.js';

/** Takes in what an agent replays while a session is loaded for the first time. */
export class History {
  /** Updates that came. */
  count = 0;
  private problem: Error | undefined;
  private readonly turns: ReplayTurns;

  private constructor(
    private readonly imported: Imported,
    private readonly agentTitle: string,
  ) {
    this.turns = new ReplayTurns(imported.at, (turn) => this.imported.add(turn));
  }

  /** Undefined when the session is not unread. */
  static async begin(
    sessions: RunSessions,
    sessionId: string,
    agentTitle: string,
  ): Promise<History | undefined> {
    const imported = await sessions.importing(sessionId);
    return imported && new History(imported, agentTitle);
  }

  /** Never throws: what cannot be stored is told by `finish`. */
  update(update: AgentUpdate, raw: unknown): void {
    this.count += 1;
    if (this.problem !== undefined) return;
    try {
      this.turns.apply(update, raw);
    } catch (error) {
      this.problem = error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Makes the history visible. Throws what kept it from being stored; then the session is unread as before. */
  finish(): void {
    if (this.problem === undefined) this.turns.end();
    if (this.problem !== undefined) throw this.problem;
    if (!this.imported.isEmpty) this.imported.finish('deck');
    else this.say(`${this.agentTitle} keeps this session, but told nothing of its history.`, 'deck');
  }

  /** Instead of a history. */
  say(text: string, source: 'deck' | 'agent'): void {
    const { at } = this.imported;
    this.imported.add({
      entries: [{ id: uuid(), kind: 'notice', severity: 'info', at, content: [{ type: 'text', text }] }],
    });
    this.imported.finish(source);
  }
}

/** Fetches the history of sessions that agents listed, when somebody wants to read or continue them. */
export class Imports {
  private readonly going = new Map<string, Promise<void>>();

  constructor(
    private readonly parts: {
      readonly sessions: RunSessions;
      readonly agents: AgentPool;
      readonly live: LiveSessions;
    },
  ) {}

  /**
   * Resolves when the history is here. All who ask meanwhile share one import; one that fails can be tried again.
   * Throws `agent_unavailable`, `agent_failed`.
   */
  ensure(session: RunSession, spec: AgentSpec): Promise<void> {
    if (!isUnread(session)) return Promise.resolve();
    let going = this.going.get(session.id);
    if (!going) {
      going = this.fetch(session, spec).finally(() => this.going.delete(session.id));
      this.going.set(session.id, going);
    }
    return going;
  }

  private async fetch(session: RunSession, spec: AgentSpec): Promise<void> {
    const { agents, live, sessions } = this.parts;
    const lease = await agents.lease(spec);
    try {
      if (lease.connection.capabilities.loadSession) {
        const opened = await live.open(session, spec);
        opened.release();
        return;
      }
      const history = await History.begin(sessions, session.id, spec.title);
      history?.say(
        `${spec.title} lists this session, but cannot give its history: it does not offer session/load.`,
        'agent',
      );
    } finally {
      lease.release();
    }
  }
}
