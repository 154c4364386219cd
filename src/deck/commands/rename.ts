import * as vscode from 'vscode';
import { MAX_TITLE_LENGTH, type SessionRow } from '../../protocol/session.js';
import type { Deck } from '../deck.js';
import { titleOf } from '../tree/items.js';

const { l10n } = vscode;

/** Sets the title; it is never overwritten by an agent or a prompt. */
export async function rename(deck: Deck, row: SessionRow): Promise<void> {
  const title = await vscode.window.showInputBox({
    title: l10n.t('Rename session'),
    value: titleOf(row),
    validateInput: (text) => {
      if (text.trim() === '') return l10n.t('A name is needed.');
      return text.length > MAX_TITLE_LENGTH ? l10n.t('At most {0} characters.', MAX_TITLE_LENGTH) : undefined;
    },
  });
  if (title !== undefined)
    await deck.client.request('deck/session/rename', { sessionId: row.sessionId, title });
}
