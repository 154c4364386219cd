import * as vscode from 'vscode';
import { messageOf } from '../errors.js';
import type { Panels } from '../panel/panels.js';
import type { InboxAnswers } from './answers.js';
import type { InboxModel } from './model.js';

/** A failed run waits until somebody looked at it: its transcript on screen, in a window that has the focus, is that. */
export class SeenFailures implements vscode.Disposable {
  private readonly subscriptions: readonly vscode.Disposable[];
  private readonly told = new Set<string>();

  constructor(
    private readonly inbox: InboxModel,
    private readonly panels: Panels,
    private readonly answers: InboxAnswers,
    private readonly log: vscode.LogOutputChannel,
  ) {
    const look = () => this.look();
    this.subscriptions = [
      inbox.onDidChange(look),
      panels.onDidChangeView(look),
      vscode.window.onDidChangeWindowState(look),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private look(): void {
    // A restricted window answers nothing.
    if (!vscode.window.state.focused || !vscode.workspace.isTrusted) return;
    for (const item of this.inbox.items) {
      if (item.kind !== 'failed' || this.told.has(item.id) || !this.panels.isVisible(item.sessionId))
        continue;
      this.told.add(item.id);
      this.answers.dismiss(item).catch((error: unknown) => {
        this.log.debug(`A failed run was not marked as seen: ${messageOf(error)}`);
      });
    }
  }
}
