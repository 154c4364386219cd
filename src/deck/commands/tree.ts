import * as vscode from 'vscode';
import type { Deck } from '../deck.js';
import { plainLine } from '../format.js';
import { SETTINGS_SECTION, settingIds } from '../ids.js';
import { readSettings, type GroupBy } from '../settings.js';
import type { TranscriptPanel } from '../panel/transcript_panel.js';

const { l10n } = vscode;
const TYPING_MS = 150;
const TURNS = 200;

/** A box whose text filters the tree while it is typed; Escape brings the filter before back. */
export function filterTree({ model }: Deck): void {
  const before = model.filter;
  const box = vscode.window.createInputBox();
  box.title = l10n.t('Filter sessions');
  box.placeholder = l10n.t('Words in the title, the first prompt or the folder');
  box.value = before;
  let timer: NodeJS.Timeout | undefined;
  let accepted = false;
  box.onDidChangeValue((text) => {
    clearTimeout(timer);
    timer = setTimeout(() => model.setFilter(text), TYPING_MS);
  });
  box.onDidAccept(() => {
    accepted = true;
    clearTimeout(timer);
    model.setFilter(box.value);
    box.hide();
  });
  box.onDidHide(() => {
    clearTimeout(timer);
    if (!accepted) model.setFilter(before);
    box.dispose();
  });
  box.show();
}

export async function chooseGrouping(): Promise<void> {
  const current = readSettings().groupBy;
  const names: Record<GroupBy, string> = {
    folder: l10n.t('Folder'),
    date: l10n.t('Date'),
    agent: l10n.t('Agent'),
  };
  const ids: GroupBy[] = ['folder', 'date', 'agent'];
  const items = ids.map((id) => ({
    label: names[id],
    description: id === current ? l10n.t('current') : '',
    id,
  }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Group sessions by') });
  if (chosen) await setting(settingIds.groupBy, chosen.id);
}

export async function toggleAllFolders(): Promise<void> {
  await setting(settingIds.allFolders, !readSettings().allFolders);
}

const setting = (id: string, value: unknown) =>
  vscode.workspace.getConfiguration(SETTINGS_SECTION).update(id, value, vscode.ConfigurationTarget.Global);

/** Picks a turn of an open transcript and jumps to its prompt. */
export async function goToTurn(deck: Deck, panel: TranscriptPanel): Promise<void> {
  const { sessionId } = panel;
  let before: number | undefined;
  for (;;) {
    const from = before === undefined ? -TURNS : Math.max(1, before - TURNS);
    const limit = before === undefined ? TURNS : Math.min(TURNS, before - from);
    const { turns } = await deck.client.request('deck/turns', { sessionId, from, limit });
    const first = turns[0]?.number ?? 1;
    const items = [...turns].reverse().map((turn) => ({
      label: `${String(turn.number)}  ${plainLine(turn.prompt)}`,

      turn,
    }));
    const older = { label: l10n.t('Older turns…'), turn: undefined };
    const chosen = await vscode.window.showQuickPick([...items, ...(first > 1 ? [older] : [])], {
      placeHolder: l10n.t('Turn to go to'),
    });
    if (!chosen) return;
    if (chosen.turn) {
      panel.jump(chosen.turn.firstOrdinal);
      return;
    }
    before = first;
  }
}
