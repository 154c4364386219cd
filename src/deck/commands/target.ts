import * as vscode from 'vscode';
import type { SessionRow } from '../../protocol/session.js';
import type { Deck } from '../deck.js';
import type { DeckNode } from '../tree/items.js';
import { agentName, stateWord, titleOf } from '../tree/items.js';

const { l10n } = vscode;
const PICK = 200;

const isNode = (value: unknown): value is DeckNode =>
  typeof value === 'object' && value !== null && 'kind' in value;

/** What the keybindings of the tree pass: the command is meant for the selected rows, not for the open transcript. */
const isSelection = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Reflect.get(value, 'kind') === 'selection';

const rowsOf = (nodes: readonly unknown[]): SessionRow[] =>
  nodes.flatMap((node) => (isNode(node) && node.kind === 'session' ? [node.row] : []));

/** The sessions that a command of the tree is meant for: those selected, if the clicked one is among them. */
export function targets(deck: Deck, node: unknown, selected: unknown): SessionRow[] {
  if (isSelection(node)) return rowsOf(deck.view.selection);
  return rowsOf(Array.isArray(selected) && selected.length > 0 ? selected : [node]);
}

/** The session a command is meant for: the clicked one, the active panel's, the selected one, else one that is picked. */
export async function target(
  deck: Deck,
  node: unknown,
  placeHolder: string,
): Promise<SessionRow | undefined> {
  const [clicked] = targets(deck, node, undefined);
  if (clicked) return clicked;
  const details = deck.panels.active?.details;
  if (details) return details;
  const [selected] = rowsOf(deck.view.selection);
  return selected ?? pickSession(deck, placeHolder);
}

async function pickSession(deck: Deck, placeHolder: string): Promise<SessionRow | undefined> {
  const { sessions } = await deck.client.request('aster/session/list', { limit: PICK });
  const items = sessions.map((row) => ({
    label: titleOf(row),
    description: [stateWord(row), agentName(row, deck.model.agentTitle)]
      .filter((part) => part !== undefined)
      .join(' · '),
    detail: row.cwd,
    row,
  }));
  if (items.length === 0) {
    await vscode.window.showInformationMessage(l10n.t('There is no session in this window’s folders.'));
    return undefined;
  }
  return (
    await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true, matchOnDetail: true })
  )?.row;
}
