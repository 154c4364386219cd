import * as vscode from 'vscode';
import type { SessionRow } from '../../protocol/session.js';
import type { Deck } from '../deck.js';
import { send } from '../panel/send.js';
import { titleOf } from '../tree/items.js';

const { l10n } = vscode;

const ask = (title: string, placeHolder: string, value = '') =>
  vscode.window.showInputBox({ title, placeHolder, value, ignoreFocusOut: true });

/** Asks for a prompt and sends it; what was typed comes back into the box when it was refused. */
export async function prompt(deck: Deck, row: SessionRow): Promise<void> {
  let text = await ask(titleOf(row), l10n.t('Prompt for the agent'));
  while (text !== undefined && text.trim() !== '') {
    try {
      await send(deck.client, row.sessionId, text);
      deck.panels.show(row.sessionId, titleOf(row));
      return;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      void vscode.window.showErrorMessage(message);
      text = await ask(titleOf(row), l10n.t('Prompt for the agent'), text);
    }
  }
}

/** Adds text to the active run. Without a run nothing is sent, and that is said. */
export async function interject(deck: Deck, row: SessionRow): Promise<void> {
  const text = await ask(titleOf(row), l10n.t('Text that is added to the run'));
  if (text === undefined || text.trim() === '') return;
  const { status } = await deck.client.request('aster/interject', { sessionId: row.sessionId, text });
  if (status === 'injected') {
    vscode.window.setStatusBarMessage(l10n.t('Delivered to the run.'), 5_000);
    return;
  }
  if (status === 'queued') {
    vscode.window.setStatusBarMessage(l10n.t('Queued: it is sent when the turn ends.'), 5_000);
    return;
  }
  const asPrompt = l10n.t('Send as Prompt');
  const choice = await vscode.window.showInformationMessage(
    l10n.t('Nothing runs in “{0}”, so nothing was sent.', titleOf(row)),
    asPrompt,
  );
  if (choice === asPrompt) await send(deck.client, row.sessionId, text);
}

/** Compacts what the model sees; the transcript keeps everything. */
export async function compact(deck: Deck, row: SessionRow): Promise<void> {
  const focus = await vscode.window.showInputBox({
    title: l10n.t('Compact “{0}”', titleOf(row)),
    prompt: l10n.t('The agent’s memory is replaced by a summary. The transcript keeps everything.'),
    placeHolder: l10n.t('What the summary should keep in mind (optional)'),
  });
  if (focus === undefined) return;
  const { tokensBefore, tokensAfter } = await vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: l10n.t('Compacting “{0}”…', titleOf(row)),
      cancellable: true,
    },
    (_progress, token) =>
      deck.client.request(
        'aster/compact_conversation',
        { sessionId: row.sessionId, ...(focus.trim() === '' ? {} : { userContext: focus }) },
        token,
      ),
  );
  const number = new Intl.NumberFormat(vscode.env.language);
  const text =
    tokensBefore === undefined || tokensAfter === undefined
      ? l10n.t('Compacted.')
      : l10n.t('Compacted: {0} → {1} tokens.', number.format(tokensBefore), number.format(tokensAfter));
  vscode.window.setStatusBarMessage(text, 8_000);
}
