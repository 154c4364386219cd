import * as vscode from 'vscode';
import type { DeckModel } from './tree/model.js';
import { viewIds } from './ids.js';

const { l10n } = vscode;

/** One item in the status bar that tells what runs and what waits; nothing when all is quiet. */
export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(
    'sessionDeck.status',
    vscode.StatusBarAlignment.Left,
    10,
  );
  private readonly subscription: vscode.Disposable;

  constructor(private readonly model: DeckModel) {
    this.item.name = 'Session Deck';
    this.item.command = `${viewIds.sessions}.focus`;
    this.subscription = model.onDidChange(() => this.update());
  }

  dispose(): void {
    this.subscription.dispose();
    this.item.dispose();
  }

  private update(): void {
    const counts = this.model.status?.counts;
    const words: string[] = [];
    if (counts && counts.running > 0) words.push(l10n.t('{0} running', counts.running));
    if (counts && counts.needsInput > 0) words.push(l10n.t('{0} waiting', counts.needsInput));
    if (words.length === 0) {
      this.item.hide();
      return;
    }
    this.item.text = `$(comment-discussion) ${words.join(', ')}`;
    this.item.tooltip = l10n.t('Agent sessions: {0}', words.join(', '));
    this.item.show();
  }
}
