// What a person does in the workbench, as functions.
import fs from 'node:fs/promises';
import path from 'node:path';
import type { FrameLocator, Locator, Page } from 'playwright-core';

/** Opens a view container by the title in the activity bar. */
export async function openContainer(page: Page, title: string): Promise<void> {
  const button = page.locator(`.activitybar .action-item:has(a[aria-label^="${title}"])`);
  await button.waitFor({ timeout: 60_000 });
  // A click on the open container would close it.
  if (!((await button.getAttribute('class')) ?? '').includes('checked')) await button.click();
  await page.locator('.sidebar .composite.title', { hasText: new RegExp(title, 'i') }).waitFor();
}

/** Rows of the trees in the side bar that contain the text. */
export function treeRows(page: Page, text: string | RegExp): Locator {
  return page.locator('.sidebar .pane-body .monaco-list-row', { hasText: text });
}

/** Rows of one view of the side bar that contain the text. */
export function viewRows(page: Page, view: string, text: string | RegExp): Locator {
  const pane = page.locator('.sidebar .pane', { has: page.locator('.pane-header', { hasText: view }) });
  return pane.locator('.monaco-list-row', { hasText: text });
}

/** Picks a row of the open quick pick. */
export async function pick(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first().click();
}

/** Runs a command by the name that the palette shows. */
export async function runCommand(page: Page, name: string): Promise<void> {
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget input[type="text"]').first().fill(`>${name}`);
  await pick(page, name);
}

/** The content of the webview that is on screen. */
export function webview(page: Page): FrameLocator {
  return page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
}

/** Names on the editor tabs, in order. */
export async function tabNames(page: Page): Promise<string[]> {
  const names = await page.locator('.tabs-container .tab .label-name').allInnerTexts();
  return names.map((name) => name.trim());
}

/** Saves what the window shows; the folder is made. */
export async function screenshot(page: Page, file: string): Promise<void> {
  await fs.mkdir(path.dirname(file), { recursive: true });
  await page.screenshot({ path: file });
}
