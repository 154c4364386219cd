import * as vscode from 'vscode';
import type { SessionRow } from '../../protocol/session.js';
import type { Deck } from '../deck.js';
import { messageOf } from '../errors.js';
import { notify } from '../notify.js';
import { titleOf } from '../tree/items.js';
import { archive } from './archive.js';

const { l10n } = vscode;

function question(rows: readonly SessionRow[]): string {
  const [first] = rows;
  if (rows.length === 1 && first) return l10n.t('Delete “{0}”?', titleOf(first));
  return l10n.t('Delete {0} sessions?', rows.length);
}

function detail(rows: readonly SessionRow[]): string {
  const lines: string[] = [];
  if (rows.length > 1)
    lines.push(
      rows
        .slice(0, 10)
        .map((row) => `“${titleOf(row)}”`)
        .join('\n'),
    );
  if (rows.some((row) => row.state === 'running' || row.state === 'needs_input'))
    lines.push(l10n.t('What runs is stopped.'));
  if (rows.some((row) => row.source !== 'deck'))
    lines.push(
      l10n.t(
        'The agent’s own files move to the deck’s trash, so the agent does not find the session any more.',
      ),
    );
  lines.push(l10n.t('You can undo this for 30 days.'));
  return lines.join('\n\n');
}

/** Deletes sessions after a question that names them, and offers Undo. A failure is told, never hidden. */
export async function remove(deck: Deck, rows: readonly SessionRow[]): Promise<void> {
  if (rows.length === 0) return;
  const yes = l10n.t('Delete');
  const instead = l10n.t('Archive Instead');
  const kept = rows.filter(({ archived, unreadable }) => !archived && unreadable === undefined);
  const choice = await notify.ask(question(rows), detail(rows), yes, ...(kept.length > 0 ? [instead] : []));
  if (choice === instead) return archive(deck, kept);
  if (choice !== yes) return;
  const deleted: SessionRow[] = [];
  const failures: string[] = [];
  for (const row of rows) {
    try {
      await deck.client.request('aster/session/delete', { sessionId: row.sessionId, cwd: row.cwd });
      deleted.push(row);
    } catch (error) {
      failures.push(`“${titleOf(row)}”: ${messageOf(error)}`);
    }
  }
  if (failures.length > 0) void notify.error(l10n.t('Not deleted: {0}', failures.join('; ')));
  const [first] = deleted;
  if (!first) return;
  const undo = l10n.t('Undo');
  const text =
    deleted.length === 1
      ? l10n.t('Deleted “{0}”.', titleOf(first))
      : l10n.t('Deleted {0} sessions.', deleted.length);
  if ((await vscode.window.showInformationMessage(text, undo)) !== undo) return;
  for (const row of deleted)
    await deck.client.request('deck/session/undo_delete', { sessionId: row.sessionId });
}

/** Brings a deleted session back, the one that was deleted last on top. */
export async function undoDelete(deck: Deck): Promise<void> {
  const { sessions } = await deck.client.request('deck/session/deleted', {});
  if (sessions.length === 0) {
    await vscode.window.showInformationMessage(l10n.t('No deleted session can be brought back.'));
    return;
  }
  const date = (iso: string) => new Date(iso).toLocaleString(vscode.env.language);
  const items = [...sessions]
    .sort((a, b) => Date.parse(b.deletedAt) - Date.parse(a.deletedAt))
    .map(({ session, deletedAt, undoUntil }) => ({
      label: titleOf(session),
      description: l10n.t('deleted {0}', date(deletedAt)),
      detail: l10n.t('{0} · can come back until {1}', session.cwd, date(undoUntil)),
      session,
    }));
  const chosen = await vscode.window.showQuickPick(items, {
    placeHolder: l10n.t('Session to bring back'),
    matchOnDetail: true,
  });
  if (!chosen) return;
  const { sessionId } = await deck.client.request('deck/session/undo_delete', {
    sessionId: chosen.session.sessionId,
  });
  deck.panels.show(sessionId, chosen.label);
}
