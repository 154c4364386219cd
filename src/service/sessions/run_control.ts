import type { ControlsResult } from '../../protocol/acp.js';
import type { ActiveRun } from '../../protocol/session.js';
import type { Client } from './client.js';
import type { SessionRecord } from './record.js';

/** What the rules of sessions need of the runs. */
export interface RunControl {
  /** The run of the session that is going on now. */
  activeRun(sessionId: string): ActiveRun | undefined;
  /** Cancels the run and waits until it ended; nothing to do when there is none. Rejects when it cannot be stopped. */
  stop(sessionId: string): Promise<void>;
  /**
   * Fetches the history of a session that its agent listed. Throws `forbidden` (restricted window), `agent_unavailable`,
   * `agent_failed`.
   */
  fetchHistory(client: Client, session: SessionRecord): Promise<void>;
  /** A fork was made: it begins with what was chosen in its parent, in the same agent. Returns what can be chosen. */
  forked(
    parent: SessionRecord,
    fork: SessionRecord,
    mcpServers?: readonly Readonly<Record<string, unknown>>[],
  ): ControlsResult;
  /** The session was deleted, as it was then: what waits in it is not told any more. Must not throw. */
  gone(session: SessionRecord): void;
  /** The session is there again after it was deleted. Must not throw. */
  back(sessionId: string): void;
  /** What can be done with the session now, and what stands in the way. */
  can(client: Client, session: SessionRecord): { prompt: boolean; compact: boolean; reason?: string };
}
