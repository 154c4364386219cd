import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

const attribute = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => `&#${String(sign.charCodeAt(0))};`);

/** The page's shell: a strict policy, one script, the look, and the session's id. All content comes by messages. */
export function pageHtml(webview: vscode.Webview, extensionUri: vscode.Uri, sessionId: string): string {
  const nonce = randomBytes(16).toString('base64');
  const uri = (name: string) =>
    webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', name)).toString();
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    'img-src blob:',
  ].join('; ');
  return `<!doctype html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${uri('codicon.css')}">
<link rel="stylesheet" href="${uri('webview.css')}">
</head>
<body data-session="${attribute(sessionId)}">
<script nonce="${nonce}" src="${uri('webview.js')}"></script>
</body>
</html>`;
}
