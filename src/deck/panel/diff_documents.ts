import * as vscode from 'vscode';
import type { FileDiff } from '../../protocol/content.js';
import { DIFF_SCHEME } from '../ids.js';

/** Keeps this many; a diff editor that stays open longer shows what it has loaded. */
const KEEP = 100;

/** Both sides of the file changes that were opened, as read-only documents. */
export class DiffDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registration: vscode.Disposable;
  private count = 0;

  constructor() {
    this.registration = vscode.workspace.registerTextDocumentContentProvider(DIFF_SCHEME, this);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? '';
  }

  async open(diff: FileDiff, title: string): Promise<void> {
    this.count += 1;
    const before = this.add(diff.path, 'before', diff.oldText ?? '');
    const after = this.add(diff.path, 'after', diff.newText);
    await vscode.commands.executeCommand('vscode.diff', before, after, title);
  }

  dispose(): void {
    this.registration.dispose();
  }

  private add(path: string, side: string, text: string): vscode.Uri {
    // The path stays, so that the editor knows the language.
    const uri = vscode.Uri.from({
      scheme: DIFF_SCHEME,
      path: path.startsWith('/') ? path : `/${path.replaceAll('\\', '/')}`,
      query: `${String(this.count)}.${side}`,
    });
    this.texts.set(uri.toString(), text);
    const oldest = this.texts.keys().next().value;
    if (this.texts.size > KEEP && oldest !== undefined) this.texts.delete(oldest);
    return uri;
  }
}
