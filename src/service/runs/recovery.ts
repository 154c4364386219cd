import { v7 as uuid } from 'uuid';
import type { Log } from '../log.js';
import type { RunSessions, RunStore } from './ports.js';

const SENTENCE = 'The session service ended while this turn was running. What came before is kept.';

/**
 * Ends what a service that died left open: runs become failed and say so, permissions expire, interjections that were
 * not sent are handed back. One damaged row does not keep the others from it.
 */
export function recoverRuns(store: RunStore, sessions: RunSessions, log: Log): void {
  const endedAt = Date.now();
  const attempt = (what: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      log.error(`could not recover ${what}`, error);
    }
  };
  for (const { id } of store.openPermissions())
    attempt('a permission', () => store.endPermission(id, { endedAt }));
  for (const { id } of store.interjections(['pending', 'queued']))
    attempt('an interjection', () => store.changeInterjection(id, { state: 'returned', updatedAt: endedAt }));
  for (const run of store.openRuns()) {
    attempt('a turn', () => {
      sessions.writer.write(run.sessionId, run.turnId, [
        {
          id: uuid(),
          kind: 'notice',
          at: new Date(endedAt).toISOString(),
          severity: 'error',
          content: [{ type: 'text', text: SENTENCE }],
        },
      ]);
      sessions.writer.endTurn(run.sessionId, run.turnId, { status: 'failed' });
    });
    attempt('a session', () => sessions.update(run.sessionId, { state: 'failed' }));
    attempt('a run', () => store.endRun(run.id, { status: 'failed', error: SENTENCE, endedAt }));
  }
}
