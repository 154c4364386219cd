import * as vscode from 'vscode';
import type { ServiceClient } from './client.js';
import { messageOf } from './errors.js';
import { TRANSCRIPT_SCHEME } from './ids.js';

/** Transcripts as read-only text, which the service writes; they come back after a reload of the window. */
export class TranscriptTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly registration: vscode.Disposable;

  constructor(private readonly client: ServiceClient) {
    this.registration = vscode.workspace.registerTextDocumentContentProvider(TRANSCRIPT_SCHEME, this);
  }

  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    try {
      const params = { uri: uri.toString() };
      return (await this.client.request('workspace/textDocumentContent', params, token)).text;
    } catch (error) {
      if (error instanceof vscode.CancellationError) throw error;
      // A document that cannot be had shows nothing at all: the reason is better.
      return messageOf(error);
    }
  }

  dispose(): void {
    this.registration.dispose();
  }
}

/** The document of a session, all of it or what comes after an entry. */
export function textUri(sessionId: string, title: string, from?: string): vscode.Uri {
  const name = title.replaceAll(/[\\/?#]+/g, ' ').slice(0, 60);
  return vscode.Uri.from({
    scheme: TRANSCRIPT_SCHEME,
    path: `/${sessionId}/${name}.md`,
    query: from === undefined ? '' : `from=${encodeURIComponent(from)}`,
  });
}
