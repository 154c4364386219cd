import * as vscode from 'vscode';
import type { Deck } from '../deck.js';
import { notify } from '../notify.js';

const { l10n } = vscode;

function sentence(title: string, listed: number, added: number): string {
  if (listed === 0) return l10n.t('{0} lists no session.', title);
  if (listed === 1)
    return added === 0
      ? l10n.t('{0} lists 1 session; it was known.', title)
      : l10n.t('{0} lists 1 session; it is new here.', title);
  if (added === 0) return l10n.t('{0} lists {1} sessions; all were known.', title, listed);
  return l10n.t('{0} lists {1} sessions; {2} of them are new here.', title, listed, added);
}

/** Asks an agent for its sessions and says what came of it. */
export async function discover(deck: Deck, agent: string, title: string): Promise<void> {
  const { listed, added, warning } = await vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: l10n.t('Asking {0} for its sessions…', title),
      cancellable: true,
    },
    (_progress, token) => deck.client.request('deck/agent/discover', { agent }, token),
  );
  const text = sentence(title, listed, added);
  if (warning === undefined) await notify.info(text);
  else await notify.warn(`${text} ${warning}`);
}
