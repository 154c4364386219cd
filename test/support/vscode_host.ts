// A VS Code to test in: the browser build with a Chromium, for looking and clicking.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import {
  startCodeServer,
  workbenchUrl,
  type CodeServer,
  type CodeServerOptions,
} from '../../scripts/code_server.mjs';
import { launchBrowser } from './chromium.js';

/** The checkout: the extension that the tests load in place. */
export const checkout = path.resolve(__dirname, '..', '..');

export interface HostOptions extends CodeServerOptions {
  /** Folder or .code-workspace file to open; default: a fresh empty folder. */
  workspace?: string;
  /** Extension loaded in place; default: the checkout. `null`: none (with installVsix). */
  extensionDevelopmentPath?: string | null;
  /** `dark` (default) or `light`. */
  theme?: 'dark' | 'light';
}

export interface Host {
  readonly server: CodeServer;
  readonly browser: Browser;
  readonly workspace: string;
  /** Opens one more editor window and waits until its workbench stands. */
  openWindow(options?: { width?: number; height?: number }): Promise<Page>;
  /** Closes windows, browser and server, and removes every temporary folder. */
  stop(): Promise<void>;
}

const THEMES = { dark: 'Default Dark Modern', light: 'Default Light Modern' } as const;

/** Starts a server and a browser. The caller stops them. */
export async function startHost(options: HostOptions = {}): Promise<Host> {
  const temporary = await fs.mkdtemp(path.join(os.tmpdir(), 'session-deck-workspace-'));
  const workspace = options.workspace ?? temporary;
  const settings = { 'workbench.colorTheme': THEMES[options.theme ?? 'dark'], ...options.settings };
  const browser = await launchBrowser();
  const removed = () => fs.rm(temporary, { recursive: true, force: true });
  let server: CodeServer;
  try {
    server = await startCodeServer({ ...options, settings });
  } catch (error) {
    await browser.close();
    await removed();
    throw error;
  }
  const development = options.extensionDevelopmentPath;
  const developmentPath = development === undefined ? checkout : development;
  const url = workbenchUrl(server, { workspace, ...(developmentPath === null ? {} : { developmentPath }) });
  return {
    server,
    browser,
    workspace,
    async openWindow({ width = 1280, height = 800 } = {}) {
      const context = await browser.newContext({ viewport: { width, height } });
      const page = await context.newPage();
      await page.goto(url, { waitUntil: 'domcontentloaded' });
      await page.locator('.monaco-workbench .activitybar').waitFor({ timeout: 60_000 });
      return page;
    },
    async stop() {
      // Leaving the page says goodbye: the extension host ends at once, not after its grace time.
      const pages = browser.contexts().flatMap((context) => context.pages());
      await Promise.all(pages.map((page) => page.goto('about:blank')));
      await browser.close();
      await server.stop();
      await removed();
    },
  };
}
