// Serves the transcript page with a made-up panel behind it, under the policy that the editor's panel sets.
import fs from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { build } from 'esbuild';
import themes from './themes.json' with { type: 'json' };

const root = path.join(import.meta.dirname, '..', '..', '..');
const codicons = path.join(root, 'node_modules', '@vscode', 'codicons', 'dist');

const CLASSES: Record<string, string> = {
  dark: 'vscode-dark',
  light: 'vscode-light',
  hc: 'vscode-high-contrast',
  'hc-light': 'vscode-high-contrast vscode-high-contrast-light',
};

/** The variables that the editor gives to the page in a theme. */
function themeCss(name: string): string {
  const values = Object.entries(themes).find(([theme]) => theme === name)?.[1] ?? themes.dark;
  const lines = Object.entries(values).map(([key, value]) => `${key}: ${value};`);
  return `:root { color-scheme: ${name.includes('light') ? 'light' : 'dark'}; ${lines.join(' ')} }`;
}

async function bundle(entry: string): Promise<Map<string, Uint8Array>> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outdir: 'out',
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    loader: { '.ttf': 'dataurl', '.svg': 'dataurl' },
  });
  return new Map(result.outputFiles.map((file) => [path.extname(file.path), file.contents]));
}

function page(theme: string): string {
  const policy = "default-src 'none'; script-src 'nonce-n'; style-src 'self'; font-src 'self'; img-src blob:";
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="blob:none">
<link rel="stylesheet" href="/theme/${theme}.css">
<link rel="stylesheet" href="/codicon.css">
<link rel="stylesheet" href="/webview.css"></head>
<body class="${CLASSES[theme] ?? 'vscode-dark'}"><script nonce="n" src="/host.js"></script><script nonce="n" src="/webview.js"></script></body></html>`;
}

export interface PageServer {
  /** Address of the page; the query chooses story, state and theme. */
  url(query: Record<string, string>): string;
  stop(): Promise<void>;
}

/** Builds the page and serves it on a free port. */
export async function startPageServer(): Promise<PageServer> {
  const [script, style, host] = await Promise.all([
    bundle('src/webview/main.ts'),
    bundle('src/webview/main.css'),
    bundle('test/support/webview_harness/host.ts'),
  ]);
  const files = new Map<string, [string, Uint8Array | undefined]>([
    ['/webview.js', ['text/javascript', script.get('.js')]],
    ['/webview.css', ['text/css', style.get('.css')]],
    ['/host.js', ['text/javascript', host.get('.js')]],
    ['/codicon.css', ['text/css', await fs.readFile(path.join(codicons, 'codicon.css'))]],
    ['/codicon.ttf', ['font/ttf', await fs.readFile(path.join(codicons, 'codicon.ttf'))]],
  ]);
  const server = http.createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://page');
    const file = files.get(url.pathname);
    const theme = /^\/theme\/([\w-]+)\.css$/.exec(url.pathname)?.[1];
    if (url.pathname === '/')
      response.setHeader('content-type', 'text/html; charset=utf-8').end(page(url.searchParams.get('theme') ?? 'dark'));
    else if (theme) response.setHeader('content-type', 'text/css').end(themeCss(theme));
    else if (file) response.setHeader('content-type', `${file[0]}; charset=utf-8`).end(file[1]);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: (query) => `http://127.0.0.1:${String(port)}/?${new URLSearchParams(query).toString()}`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
