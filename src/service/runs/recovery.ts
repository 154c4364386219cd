import { v7 as uuid } from 'uuid';
import type { Entry } from '../../protocol/entry.js';
import type { Log } from '../log.js';
import type { EntryDraft } from '../sessions/transcript.js';
import type { RunRow, RunSessions, RunStore } from './ports.js';

const SENTENCE = 'The session service ended while this turn was running. What came before is kept.';

/**
 * Ends what a service that died left open: runs become failed and say so, questions expire, interjections that were
 * not sent are handed back. One damaged row does not keep the others from it. Returns the runs that it ended.
 */
export function recoverRuns(store: RunStore, sessions: RunSessions, log: Log): RunRow[] {
  const endedAt = Date.now();
  const attempt = (what: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      log.error(`could not recover ${what}`, error);
    }
  };
  for (const { id } of store.openPermissions())
    attempt('a question', () => store.endPermission(id, { endedAt }));
  for (const { id } of store.interjections(['pending', 'queued']))
    attempt('an interjection', () => store.changeInterjection(id, { state: 'returned', updatedAt: endedAt }));
  const runs = store.openRuns();
  for (const run of runs) endOpenRun(store, sessions, run, SENTENCE, attempt);
  return runs;
}

/** Writes the end of a run that the store has as open: it failed, and says why. Each step is an attempt of its own. */
export function endOpenRun(
  store: RunStore,
  sessions: RunSessions,
  run: RunRow,
  reason: string,
  attempt: (what: string, work: () => void) => void,
): void {
  const endedAt = Date.now();
  attempt('a turn', () => {
    sessions.writer.write(run.sessionId, run.turnId, [
      {
        id: uuid(),
        kind: 'notice',
        at: new Date(endedAt).toISOString(),
        severity: 'error',
        content: [{ type: 'text', text: reason }],
      },
    ]);
    sessions.writer.endTurn(run.sessionId, run.turnId, { status: 'failed' });
  });
  attempt('a session', () => sessions.update(run.sessionId, { state: 'failed' }));
  attempt('a run', () => store.endRun(run.id, { status: 'failed', error: reason, endedAt }));
}

/**
 * Marks the entries that a dead service left in progress as ended. Reads the whole transcript, so it is not for the
 * start of the service to wait for.
 */
export async function closeEntries(sessions: RunSessions, run: RunRow): Promise<void> {
  const open: EntryDraft[] = [];
  for await (const entries of sessions.replay(run.sessionId))
    for (const entry of entries)
      if (entry.turnId === run.turnId && entry.status === 'in_progress') open.push(closed(entry));
  if (open.length > 0) sessions.writer.write(run.sessionId, run.turnId, open);
}

/** The entry as it is after the end: a message stays as far as it came, the rest did not succeed. */
function closed(entry: Entry): EntryDraft {
  const { id, kind, at, content, tool, plan, ask, compaction, severity, model } = entry;
  const isAsked = kind === 'permission' || kind === 'question';
  const status = kind === 'assistant' || kind === 'thought' ? 'completed' : isAsked ? 'cancelled' : 'failed';
  return {
    id,
    kind,
    at,
    content,
    status,
    ...(tool ? { tool: { ...tool, status: 'failed' } } : {}),
    ...(plan ? { plan } : {}),
    ...(ask ? { ask } : {}),
    ...(compaction ? { compaction } : {}),
    ...(severity ? { severity } : {}),
    ...(model ? { model } : {}),
  };
}
