import * as vscode from 'vscode';
import { activateDeck } from './deck/activate_deck.js';
import type { Deck } from './deck/deck.js';

let deck: Deck | undefined;

/** Called by the editor with the first view, command or restored panel. */
export function activate(context: vscode.ExtensionContext): void {
  const start = performance.now();
  try {
    deck = activateDeck(context);
    deck.log.debug(`activated in ${(performance.now() - start).toFixed(1)} ms`);
  } catch (error) {
    // The editor does not show why an extension could not be activated.
    const reason = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(vscode.l10n.t('Session Deck could not start: {0}', reason));
    throw error;
  }
}

export async function deactivate(): Promise<void> {
  await deck?.client.stop();
}
