import http from 'node:http';
import path from 'node:path';
import fs from 'node:fs/promises';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import type { Entry } from '../../src/protocol/entry.js';
import type { SessionDetails } from '../../src/protocol/session.js';
import type { ToPage } from '../../src/protocol/webview.js';
import { launchBrowser } from './chromium.js';
import { FakePanel } from './webview_panel.js';
import { themes, type ThemeName } from './webview_themes.js';

const root = path.resolve(import.meta.dirname, '../..');

interface File {
  readonly type: string;
  readonly body: Uint8Array;
}

/** The page's script, look and icons, bundled as the package does. */
async function bundle(): Promise<Map<string, File>> {
  const common = {
    absWorkingDir: root,
    bundle: true,
    write: false,
    logLevel: 'error',
    target: 'es2022',
  } as const;
  const [script, look] = await Promise.all([
    build({ ...common, entryPoints: ['src/webview/main.ts'], platform: 'browser', format: 'iife' }),
    build({ ...common, entryPoints: ['src/webview/main.css'] }),
  ]);
  const codicons = path.join(root, 'node_modules/@vscode/codicons/dist');
  const bytes = ({ outputFiles }: { outputFiles: { contents: Uint8Array }[] }) =>
    outputFiles[0]?.contents ?? new Uint8Array();
  const colours = Object.entries(themes).map(([name, { variables }]): [string, File] => {
    const lines = Object.entries(variables).map(([variable, value]) => `${variable}: ${value};`);
    return [`/theme/${name}.css`, { type: 'text/css', body: Buffer.from(`:root { ${lines.join(' ')} }`) }];
  });
  return new Map([
    ...colours,
    ['/webview.js', { type: 'text/javascript', body: bytes(script) }],
    ['/webview.css', { type: 'text/css', body: bytes(look) }],
    ['/codicon.css', { type: 'text/css', body: await fs.readFile(path.join(codicons, 'codicon.css')) }],
    ['/codicon.ttf', { type: 'font/ttf', body: await fs.readFile(path.join(codicons, 'codicon.ttf')) }],
  ]);
}

/** The shell that the panel makes, with the same policy. */
function shell(theme: ThemeName): string {
  const policy =
    "default-src 'none'; script-src 'nonce-page'; style-src 'self'; font-src 'self'; img-src blob:";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/theme/${theme}.css">
<link rel="stylesheet" href="/codicon.css">
<link rel="stylesheet" href="/webview.css">
</head>
<body class="${themes[theme].bodyClass}">
<script nonce="page" src="/webview.js"></script>
</body>
</html>`;
}

export interface OpenOptions {
  readonly entries: Entry[];
  readonly details?: Partial<SessionDetails>;
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly height?: number;
  readonly reducedMotion?: boolean;
  /** Called before the page is opened. */
  readonly prepare?: (panel: FakePanel) => void;
}

/** A page of the transcript in a browser, its panel, and what it did that it should not. */
export interface OpenPage {
  readonly page: Page;
  readonly panel: FakePanel;
  /** Errors of the page, and requests and navigations beyond its own files. */
  readonly wrong: string[];
  close(): Promise<void>;
}

/** Serves the page and drives a browser over it. */
export class Harness {
  private constructor(
    private readonly server: http.Server,
    private readonly browser: Browser,
    private readonly origin: string,
  ) {}

  static async start(): Promise<Harness> {
    const files = await bundle();
    const server = http.createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      const file = files.get(url.pathname);
      if (file) response.writeHead(200, { 'content-type': file.type }).end(file.body);
      else if (url.pathname in pages) {
        response.writeHead(200, { 'content-type': 'text/html' }).end(shell(pages[url.pathname] ?? 'dark'));
      } else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    return new Harness(server, await launchBrowser(), `http://127.0.0.1:${String(address.port)}`);
  }

  async stop(): Promise<void> {
    await this.browser.close();
    this.server.close();
  }

  /** Opens a page over some entries and waits until it has shown them. */
  async open(options: OpenOptions): Promise<OpenPage> {
    const { theme = 'dark', width = 1280, height = 900 } = options;
    const context = await this.browser.newContext({
      viewport: { width, height },
      reducedMotion: options.reducedMotion === true ? 'reduce' : 'no-preference',
    });
    const page = await context.newPage();
    const wrong: string[] = [];
    const panel = new FakePanel(options.entries, options.details).connected((message) => {
      // The page is gone when a test ends with an answer on its way.
      page.evaluate((data: ToPage) => window.postMessage(data, '*'), message).catch(() => undefined);
    });
    options.prepare?.(panel);
    page.on('pageerror', (error) => wrong.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') wrong.push(message.text());
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${this.origin}/`) && !url.startsWith('blob:')) wrong.push(`request: ${url}`);
    });
    page.on('framenavigated', (frame) => {
      if (!frame.url().startsWith(`${this.origin}/${theme}`)) wrong.push(`navigation: ${frame.url()}`);
    });
    page.on('popup', (popup) => wrong.push(`popup: ${popup.url()}`));
    page.on('dialog', (dialog) => {
      wrong.push(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => undefined);
    });
    await page.exposeFunction('toPanel', (message: unknown) => {
      panel.receive(message).catch((error: unknown) => wrong.push(String(error)));
    });
    // What the compiler of the tests wraps functions in, also those that run in the page.
    await page.addInitScript({ content: 'globalThis.__name = (value) => value;' });
    await page.addInitScript(fakeEditor);
    await page.goto(`${this.origin}/${theme}`);
    return { page, panel, wrong, close: () => context.close() };
  }
}

const pages: Readonly<Record<string, ThemeName>> = {
  '/dark': 'dark',
  '/light': 'light',
  '/highContrast': 'highContrast',
  '/highContrastLight': 'highContrastLight',
};

declare function toPanel(message: unknown): void;

/** Runs in the page before its script: what the editor gives a webview. */
function fakeEditor(): void {
  Object.assign(window, {
    acquireVsCodeApi: () => ({
      postMessage: (message: unknown) => {
        toPanel(message);
      },
      getState: (): unknown => JSON.parse(sessionStorage.getItem('state') ?? 'null') ?? undefined,
      setState: (state: unknown) => {
        sessionStorage.setItem('state', JSON.stringify(state));
      },
    }),
  });
}

/** The page has shown its first entries, or says what stands in their way. */
export async function settled(page: Page): Promise<void> {
  await page.locator('#feed[aria-busy="false"]').waitFor();
  await frames(page);
}

/** Some frames pass, so that everything is drawn and nothing moves any more. */
export const frames = (page: Page, count = 3): Promise<void> =>
  page.evaluate(async (wanted) => {
    for (let index = 0; index < wanted; index += 1)
      await new Promise((resolve) => requestAnimationFrame(resolve));
  }, count);
