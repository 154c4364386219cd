import * as vscode from 'vscode';
import { withoutLinks } from './format.js';

/**
 * Notifications. VS Code makes links of `[text](command:…)` in them, and they often hold what an agent or a transcript
 * says, so links are taken out of every one.
 */
export const notify = {
  info: (text: string, ...buttons: string[]): Thenable<string | undefined> =>
    vscode.window.showInformationMessage(withoutLinks(text), ...buttons),
  warn: (text: string, ...buttons: string[]): Thenable<string | undefined> =>
    vscode.window.showWarningMessage(withoutLinks(text), ...buttons),
  error: (text: string, ...buttons: string[]): Thenable<string | undefined> =>
    vscode.window.showErrorMessage(withoutLinks(text), ...buttons),
  /** With buttons that may have the same words. */
  choose: <T extends vscode.MessageItem>(
    severity: 'warn' | 'error',
    text: string,
    buttons: readonly T[],
  ): Thenable<T | undefined> =>
    severity === 'warn'
      ? vscode.window.showWarningMessage(withoutLinks(text), ...buttons)
      : vscode.window.showErrorMessage(withoutLinks(text), ...buttons),
  /** A question that waits for its answer; asked only of a person who just did something. */
  ask: (text: string, detail: string, ...buttons: string[]): Thenable<string | undefined> =>
    vscode.window.showWarningMessage(withoutLinks(text), { modal: true, detail }, ...buttons),
  /** A word in the status bar that goes away by itself. */
  brief: (text: string): vscode.Disposable => vscode.window.setStatusBarMessage(text, 5_000),
};
