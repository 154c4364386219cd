import * as vscode from 'vscode';
import { pageStrings } from '../../protocol/page_strings.js';

/** The page's strings in the language of the editor. */
export function translatedStrings(): Record<string, string> {
  return Object.fromEntries(pageStrings.map((english) => [english, vscode.l10n.t(english)]));
}
