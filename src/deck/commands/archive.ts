import * as vscode from 'vscode';
import type { SessionRow } from '../../protocol/session.js';
import type { Deck } from '../deck.js';
import { messageOf } from '../errors.js';
import { notify } from '../notify.js';
import { titleOf } from '../tree/items.js';

const { l10n } = vscode;

const isActive = ({ state }: SessionRow) => state === 'running' || state === 'needs_input';

/** Sends one request a session; gives those that were done, and says which were not. */
async function each(
  deck: Deck,
  method: 'session/archive' | 'session/unarchive',
  rows: readonly SessionRow[],
): Promise<SessionRow[]> {
  const done: SessionRow[] = [];
  const failures: string[] = [];
  for (const row of rows) {
    try {
      await deck.client.request(method, { sessionId: row.sessionId });
      done.push(row);
    } catch (error) {
      failures.push(`“${titleOf(row)}”: ${messageOf(error)}`);
    }
  }
  if (failures.length > 0) void notify.error(l10n.t('Not done: {0}', failures.join('; ')));
  return done;
}

/** Hides sessions from the list; they stay, and their files too. Asks only when a run would be stopped. */
export async function archive(deck: Deck, rows: readonly SessionRow[]): Promise<void> {
  const listed = rows.filter(({ archived }) => !archived);
  const yes = l10n.t('Archive');
  const active = listed.filter(isActive);
  if (active.length > 0) {
    const names = active.map((row) => `“${titleOf(row)}”`).join('\n');
    const text = l10n.t('Archive sessions that still run? What runs is stopped.');
    if ((await notify.ask(text, names, yes)) !== yes) return;
  }
  const done = await each(deck, 'session/archive', listed);
  const [first] = done;
  if (first)
    notify.brief(
      done.length === 1
        ? l10n.t('Archived “{0}”.', titleOf(first))
        : l10n.t('Archived {0} sessions.', done.length),
    );
}

/** Lists archived sessions again. */
export async function unarchive(deck: Deck, rows: readonly SessionRow[]): Promise<void> {
  await each(
    deck,
    'session/unarchive',
    rows.filter(({ archived }) => archived),
  );
}
