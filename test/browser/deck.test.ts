import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { testAgent } from '../support/agent_command.js';
import { generateCorpus, type SessionTruth } from '../support/corpus.js';
import { makeEditorHome, type EditorHome } from '../support/editor_home.js';
import { until } from '../support/service.js';
import { startHost, type Host } from '../support/vscode_host.js';
import { openContainer, runCommand, tabNames, treeRows, viewRows, webview } from '../support/workbench.js';

const AGENT = 'Scripted agent';

/** Clicks an entry of a row's context menu. */
async function choose(page: Page, row: string | RegExp, entry: string): Promise<void> {
  await treeRows(page, row).first().click({ button: 'right' });
  const item = page.locator('.monaco-menu .action-item', { hasText: entry }).first();
  await item.waitFor();
  // The menu ignores what follows its opening at once.
  await page.waitForTimeout(500);
  await item.click();
}

/** The notification with a text; toasts do not show themselves under a test driver. */
async function notification(page: Page, text: string) {
  await runCommand(page, 'Notifications: Show Notifications');
  const item = page.locator('.notifications-center .notification-list-item', { hasText: text }).first();
  await item.waitFor();
  return item;
}

const input = (page: Page) => page.locator('.quick-input-widget input[type="text"]').first();

describe('the deck in a window', function () {
  this.timeout(120_000);
  let home: EditorHome;
  let host: Host;
  let page: Page;
  let sessions: SessionTruth[];
  const label = ({ firstPrompt }: SessionTruth) => firstPrompt.slice(0, 30);
  /** A session whose title no other one shares. */
  const unique = (index: number): SessionTruth => {
    const own = sessions.filter(
      (one) => one.turns > 1 && sessions.filter((other) => label(other) === label(one)).length === 1,
    );
    return own[index]!;
  };

  before(async () => {
    home = await makeEditorHome();
    const workspace = path.join(home.folder, 'shop');
    const elsewhere = path.join(home.folder, 'site');
    await fs.mkdir(workspace);
    await fs.mkdir(elsewhere);
    const corpus = generateCorpus({ dir: home.folder, seed: 7, sessions: 16, cwds: [workspace, elsewhere] });
    sessions = corpus.sessions.filter(
      ({ cwd, parentSessionId }) => cwd === workspace && parentSessionId === undefined,
    );
    const agents = { scripted: testAgent({ title: AGENT, dir: path.join(home.folder, 'agent') }) };
    host = await startHost({ env: home.env, workspace, machineSettings: { 'sessionDeck.agents': agents } });
    page = await host.openWindow();
    await openContainer(page, 'Session Deck');
    await treeRows(page, 'shop').first().waitFor({ timeout: 60_000 });
  });

  after(async () => {
    await host.stop();
    await home.remove();
  });

  const count = async () => {
    const text = await treeRows(page, /^shop/).first().innerText();
    return Number(/\d+$/.exec(text.trim())?.[0]);
  };

  it('shows the sessions of its folder and no other', async () => {
    await until(async () => (await count()) === sessions.length, `${sessions.length} sessions`);
    for (const index of [0, 1]) await treeRows(page, label(unique(index))).waitFor();
    assert.equal(await treeRows(page, 'site').count(), 0);
  });

  it('filters while the person types, and shows all again', async () => {
    const one = unique(0);
    await runCommand(page, 'Session Deck: Filter');
    await input(page).fill(one.firstPrompt.slice(0, 60));
    await until(async () => (await count()) === 1, 'one row');
    await page.keyboard.press('Enter');
    await runCommand(page, 'Session Deck: Clear Filter');
    await until(async () => (await count()) === sessions.length, 'all rows');
  });

  it('renames a session', async () => {
    await choose(page, label(unique(0)), 'Rename');
    await input(page).fill('Named by a person');
    await page.keyboard.press('Enter');
    await treeRows(page, 'Named by a person').waitFor();
    await choose(page, 'Named by a person', 'Rename');
    await input(page).fill('   ');
    await page.locator('.quick-input-message', { hasText: 'A name is needed.' }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('deletes a session after a question that names it, and brings it back', async () => {
    await choose(page, 'Named by a person', 'Delete');
    const dialog = page.locator('.monaco-dialog-box');
    await dialog.waitFor();
    assert.match(await dialog.innerText(), /Delete “Named by a person”\?/);
    await dialog.locator('.monaco-button', { hasText: 'Cancel' }).click();
    assert.equal(await treeRows(page, 'Named by a person').count(), 1);

    await choose(page, 'Named by a person', 'Delete');
    await dialog.locator('.monaco-button', { hasText: 'Delete' }).click();
    await treeRows(page, 'Named by a person').waitFor({ state: 'detached' });
    const deleted = await notification(page, 'Deleted “Named by a person”.');
    await deleted.locator('.monaco-button', { hasText: 'Undo' }).click();
    await treeRows(page, 'Named by a person').waitFor();
  });

  it('forks after a turn that is chosen and opens the fork', async () => {
    const before = await count();
    await choose(page, label(unique(1)), 'Fork From Here');
    const turns = page.locator('.quick-input-list .monaco-list-row');
    await turns.first().waitFor();
    assert.equal(await turns.count(), unique(1).turns);
    await turns.last().click();
    await page.locator('.quick-input-title', { hasText: 'entries are kept' }).waitFor();
    await input(page).fill('Another way');
    await page.keyboard.press('Enter');
    await treeRows(page, 'Another way').first().waitFor();
    await until(async () => (await tabNames(page)).includes('Another way'), 'the tab of the fork');
    assert.equal(await count(), before + 1);
  });

  it('means the selected row by the keys of the tree, not the open transcript', async () => {
    assert.deepEqual(await tabNames(page), ['Another way']);
    await treeRows(page, 'Named by a person').click({ modifiers: ['ControlOrMeta'] });
    await page.keyboard.press('Delete');
    const dialog = page.locator('.monaco-dialog-box');
    await dialog.waitFor();
    assert.match(await dialog.innerText(), /Delete “Named by a person”\?/);
    await dialog.locator('.monaco-button', { hasText: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  const prompt = async (text: string) => {
    const box = webview(page).locator('textarea').last();
    await box.fill(text);
    await box.press('Control+Enter');
  };
  const state = async (row: string) =>
    (await viewRows(page, 'Sessions', row).first().getAttribute('aria-label')) ?? '';

  it('starts a session, prompts it, and answers it in the view of what waits', async () => {
    await runCommand(page, 'Session Deck: New Session');
    await until(async () => (await tabNames(page)).length === 2, 'the tab of the new session');
    await prompt('ask Run the migration');
    const waiting = viewRows(page, 'Needs You', 'Run the migration');
    await waiting.waitFor({ timeout: 30_000 });
    assert.match(await state('ask Run the migration'), /Needs you/);
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
    await waiting.hover();
    await waiting.locator('.action-label[aria-label="Reject"]').click();
    await webview(page).locator('text=permission: reject').waitFor();
    await waiting.waitFor({ state: 'detached' });
    await until(
      async () => !/Needs you|Running/.test(await state('ask Run the migration')),
      'the end of the run',
    );
  });

  it('shows a run on top while it lasts, and cancels it', async () => {
    await prompt('wait');
    await until(async () => / Running,/.test(await state('ask Run the migration')), 'the run');
    assert.equal(await treeRows(page, 'Running and waiting').count(), 1);
    await choose(page, 'ask Run the migration', 'Cancel Run');
    await treeRows(page, 'Running and waiting').waitFor({ state: 'detached' });
  });

  it('brings an open transcript back after a reload of the window', async () => {
    const before = await tabNames(page);
    // The browser build writes its state down every five seconds.
    await page.waitForTimeout(6_000);
    await page.reload();
    await webview(page).locator('text=permission: reject').first().waitFor({ timeout: 60_000 });
    assert.deepEqual(await tabNames(page), before);
  });
});
