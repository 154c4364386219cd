import * as vscode from 'vscode';
import type { SessionRow } from '../../protocol/session.js';
import type { Deck } from '../deck.js';
import { relativeTime } from '../format.js';
import { inFamilyOrder } from '../family_order.js';
import { notify } from '../notify.js';
import { agentName, stateWord, titleOf } from '../tree/items.js';

const { l10n } = vscode;
/** One step of indentation; quick picks cut plain spaces off. */
const STEP = '\u2003';

/** Shows the fork family of a session as a tree of rows; choosing one opens it. */
export async function showFamily(deck: Deck, row: SessionRow): Promise<void> {
  const { members } = await deck.client.request('deck/session/family', { sessionId: row.sessionId });
  if (members.length <= 1) {
    await notify.info(l10n.t('“{0}” has no forks and is none.', titleOf(row)));
    return;
  }
  const items = inFamilyOrder(members).map(({ member, depth }) => ({
    label: `${STEP.repeat(depth)}$(${depth === 0 ? 'comment-discussion' : 'repo-forked'}) ${titleOf(member)}`,
    description: [
      member.sessionId === row.sessionId ? l10n.t('current') : undefined,
      stateWord(member),
      agentName(member, deck.model.agentTitle),
      relativeTime(member.updatedAt, Date.now(), vscode.env.language),
    ]
      .filter((part) => part !== undefined)
      .join(' · '),
    member,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: l10n.t('Fork family of “{0}”', titleOf(row)),
    placeHolder: l10n.t('Session to open'),
    matchOnDescription: true,
  });
  if (chosen) deck.panels.show(chosen.member.sessionId, titleOf(chosen.member));
}
