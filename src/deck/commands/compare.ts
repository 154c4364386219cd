import * as vscode from 'vscode';
import type { SessionRow } from '../../protocol/session.js';
import type { Deck } from '../deck.js';
import { notify } from '../notify.js';
import { textUri } from '../transcript_texts.js';
import { titleOf } from '../tree/items.js';

const { l10n } = vscode;

/** Opens the transcript as a read-only text document, to search, copy or save. */
export async function openAsText(_deck: Deck, row: SessionRow): Promise<void> {
  const document = await vscode.workspace.openTextDocument(textUri(row.sessionId, titleOf(row)));
  await vscode.window.showTextDocument(document, { preview: true });
}

/** Opens the diff editor on what the parent and its fork each did since the fork. */
export async function compareWithParent(deck: Deck, row: SessionRow): Promise<void> {
  const { parent } = row;
  if (parent?.relation !== 'fork' || parent.boundaryEntryId === undefined) {
    await notify.info(l10n.t('“{0}” is no fork.', titleOf(row)));
    return;
  }
  const before = await deck.names.find(parent.sessionId);
  if (!before) {
    await notify.info(l10n.t('The session that this was forked from is not available.'));
    return;
  }
  await vscode.commands.executeCommand(
    'vscode.diff',
    textUri(parent.sessionId, titleOf(before), parent.boundaryEntryId),
    textUri(row.sessionId, titleOf(row), parent.boundaryEntryId),
    l10n.t('{0} ↔ {1} (since the fork)', titleOf(before), titleOf(row)),
    { preview: true },
  );
}
