import * as vscode from 'vscode';
import type { InboxModel } from './inbox/model.js';
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
  private readonly subscriptions: readonly vscode.Disposable[];

  constructor(
    private readonly model: DeckModel,
    private readonly inbox: InboxModel,
  ) {
    this.item.name = 'Session Deck';
    this.subscriptions = [model.onDidChange(() => this.update()), inbox.onDidChange(() => this.update())];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    this.item.dispose();
  }

  private update(): void {
    const running = this.model.status?.counts.running ?? 0;
    const waiting = this.inbox.items.length;
    const words: string[] = [];
    if (running > 0) words.push(l10n.t('{0} running', running));
    if (waiting > 0) words.push(l10n.t('{0} waiting', waiting));
    if (words.length === 0) {
      this.item.hide();
      return;
    }
    this.item.command = `${waiting > 0 ? viewIds.inbox : viewIds.sessions}.focus`;
    this.item.text = `$(comment-discussion) ${words.join(', ')}`;
    this.item.tooltip = l10n.t('Agent sessions: {0}', words.join(', '));
    this.item.show();
  }
}
