import * as vscode from 'vscode';
import { InboxItem } from '../../protocol/inbox.js';
import type { Deck } from '../deck.js';
import { plainLine, relativeTime } from '../format.js';
import { askedOf, kindWord } from '../inbox/items.js';
import { particulars } from '../inbox/wording.js';
import { notify } from '../notify.js';

const { l10n } = vscode;

/** The item that a menu or a row gave, if it still waits; else one that is picked. */
async function itemFor(deck: Deck, given: unknown): Promise<InboxItem | undefined> {
  const parsed = InboxItem.safeParse(given);
  if (!parsed.success) return pickItem(deck);
  const item = deck.inbox.get(parsed.data.id);
  if (!item) notify.brief(l10n.t('This was already answered elsewhere.'));
  return item;
}

async function pickItem(deck: Deck): Promise<InboxItem | undefined> {
  await deck.client.start();
  const items = deck.inbox.items.map((item) => ({
    label: askedOf(item),
    description: [kindWord(item), relativeTime(item.at, Date.now(), vscode.env.language)].join(' · '),
    detail: [deck.names.title(item.sessionId), ...particulars(item).map(plainLine)].join(' — '),
    item,
  }));
  if (items.length === 0) {
    notify.brief(l10n.t('Nothing waits for you.'));
    return undefined;
  }
  const placeHolder = l10n.t('What to answer');
  const chosen = await vscode.window.showQuickPick(items, {
    placeHolder,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.item;
}

/** Runs something on an item of the inbox; a restricted window says why it does not. */
export const onItem =
  (run: (deck: Deck, item: InboxItem) => Promise<void>) =>
  async (deck: Deck, given: unknown): Promise<void> => {
    if (!vscode.workspace.isTrusted) {
      await notify.warn(l10n.t('Agents are not answered in a restricted window.'));
      return;
    }
    const item = await itemFor(deck, given);
    if (item) await run(deck, item);
  };

/** Opens what an item belongs to; works in every window. */
export async function openWaiting(deck: Deck, given: unknown): Promise<void> {
  const item = await itemFor(deck, given);
  if (item) await deck.answers.open(item);
}

/** Opens the next session that waits, going round. */
export async function nextWaiting(deck: Deck): Promise<void> {
  await deck.client.start();
  const sessionId = deck.inbox.sessionAfter(deck.panels.active?.sessionId);
  if (sessionId === undefined) notify.brief(l10n.t('Nothing waits for you.'));
  else deck.panels.show(sessionId, deck.names.title(sessionId));
}
