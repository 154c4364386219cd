import type { StopReason } from '../../protocol/acp.js';
import type { Entry, Usage } from '../../protocol/entry.js';

/** An entry of our own before it has a place. */
export type EntryDraft = Omit<
  Entry,
  'ordinal' | 'turn' | 'turnId' | 'boundary' | 'replay' | 'truncated' | 'turnUsage' | 'turnDurationMs'
>;

/**
 * Appends to transcripts of which we write the entries. Everything is durable (committed and synced) before a method
 * returns, and only then announced to the watchers of the session.
 */
export interface TranscriptWriter {
  /** Opens a turn with the person's prompt as its first entry. Fails with `turn_in_progress` when one is open. */
  beginTurn(sessionId: string, prompt: EntryDraft): { turnId: string };
  /** Appends new entries and replaces known ones (same id) in one transaction. */
  write(sessionId: string, turnId: string, entries: readonly EntryDraft[]): void;
  /** Closes the turn: its last entry becomes the boundary. */
  endTurn(
    sessionId: string,
    turnId: string,
    end: { status: 'completed' | 'failed' | 'cancelled'; stopReason?: StopReason; usage?: Usage },
  ): void;
}
