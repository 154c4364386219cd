import type { SessionData } from './data.js';
import type { Reader } from './reader.js';
import type { SessionRecord } from './record.js';
import type { Shelf } from './shelf.js';

/** Where a fork branched off, as its agent needs to know it. */
export interface ForkPoint {
  readonly parent: Pick<SessionRecord, 'source' | 'agent'>;
  /** The agent's own id of the parent. */
  readonly agentSession: string;
  /** The parent has not gone on since: what the agent knows of it is what the fork begins with. */
  readonly isHead: boolean;
}

/** Undefined for what is no fork, or a fork of a session that is gone or that no agent knows. */
export async function forkPoint(
  { shelf, data, reader }: { readonly shelf: Shelf; readonly data: SessionData; readonly reader: Reader },
  sessionId: string,
): Promise<ForkPoint | undefined> {
  const { parent } = shelf.current(sessionId);
  const boundary = parent?.relation === 'fork' ? parent.boundaryEntryId : undefined;
  const before = parent && shelf.book.get(parent.sessionId);
  if (boundary === undefined || before?.agentSession === undefined) return undefined;
  await reader.freshen(before);
  const now = shelf.book.get(before.id);
  if (now?.agentSession === undefined) return undefined;
  const row = data.entry(now.id, now.generation, boundary);
  return {
    parent: now,
    agentSession: now.agentSession,
    isHead: row?.boundary === true && row.ordinal === now.entryCount - 1,
  };
}
