import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { testAgent } from '../support/agent_command.js';
import { makeEditorHome, type EditorHome } from '../support/editor_home.js';
import { until } from '../support/service.js';
import { startHost, type Host } from '../support/vscode_host.js';
import { openContainer, pick, runCommand, viewRows, webview } from '../support/workbench.js';

describe('what waits and what works, in a window', function () {
  this.timeout(120_000);
  let home: EditorHome;
  let host: Host;
  let page: Page;

  before(async () => {
    home = await makeEditorHome();
    const workspace = path.join(home.folder, 'shop');
    await fs.mkdir(workspace);
    const scripted = testAgent({ title: 'Scripted agent', dir: path.join(home.folder, 'agent') });
    host = await startHost({
      env: home.env,
      workspace,
      machineSettings: { 'sessionDeck.agents': { scripted } },
    });
    page = await host.openWindow();
    await openContainer(page, 'Session Deck');
    await runCommand(page, 'Session Deck: New Session');
    await box().waitFor({ timeout: 60_000 });
  });

  after(async () => {
    await host.stop();
    await home.remove();
  });

  const box = () => webview(page).locator('#prompt textarea');
  const prompt = async (text: string) => {
    await box().fill(text);
    await box().press('Control+Enter');
  };
  const said = (text: string) => webview(page).locator('#feed').getByText(text, { exact: true }).last();
  const waiting = (text: string) => viewRows(page, 'Needs You', text);
  const input = () => page.locator('.quick-input-widget input[type="text"]').first();
  const step = (text: string) => page.locator('.quick-input-title', { hasText: text });
  const message = (text: string) => page.locator('.quick-input-message', { hasText: text });

  it('says that nothing waits', async () => {
    const view = page.locator('.sidebar .pane', { hasText: 'Needs You' });
    await view.getByText('Nothing waits for you.', { exact: false }).waitFor();
  });

  it('asks the questions of a form one after the other, and keeps what was given', async () => {
    await prompt('form');
    await waiting('Who are you?').waitFor({ timeout: 30_000 });
    await waiting('Who are you?').click();
    await message('Your name').waitFor();
    await input().press('Enter');
    await message('An answer is needed here.').waitFor();
    await input().fill('Ada');
    await input().press('Enter');
    await message('age').waitFor();
    await input().fill('1.5');
    await input().press('Enter');
    await message('A whole number is needed.').waitFor();
    await page.keyboard.press('Escape');
    await waiting('Who are you?').waitFor();

    await runCommand(page, 'Session Deck: Answer');
    await pick(page, 'Who are you?');
    await message('Your name').waitFor();
    assert.equal(await input().inputValue(), 'Ada');
    await input().press('Enter');
    await message('age').waitFor();
    await input().fill('36');
    await input().press('Enter');
    await step('(3/6)').waitFor();
    await page.locator('.quick-input-titlebar .action-label[aria-label^="Back"]').click();
    await message('age').waitFor();
    assert.equal(await input().inputValue(), '36');
    await input().press('Enter');
    await pick(page, 'green');
    await step('(4/6)').waitFor();
    await page.keyboard.press('Enter');
    await step('(5/6)').waitFor();
    await pick(page, /^Yes/);
    await step('(6/6)').waitFor();
    const secret = page.locator('.quick-input-widget input[type="password"]');
    await secret.fill('s3cret');
    await secret.press('Enter');
    const feed = webview(page).locator('#feed');
    await until(async () => /form: accept/.test(await feed.innerText()), 'the answer');
    const answer = /form: accept (\{.*\})/.exec((await feed.innerText()).replaceAll(/[“”]/g, '"'))?.[1];
    assert.deepEqual(JSON.parse(answer ?? ''), {
      name: 'Ada',
      age: 36,
      colour: 'green',
      sure: true,
      token: '6 characters',
    });
    await waiting('Who are you?').waitFor({ state: 'detached' });
  });

  it('tells of a question in a session that is not on screen, with its choices', async () => {
    await prompt('slow 8000\nask Drop the table');
    await runCommand(page, 'Preferences: Open Settings (UI)');
    await waiting('Drop the table').waitFor({ timeout: 30_000 });
    await runCommand(page, 'Notifications: Show Notifications');
    const notice = page.locator('.notifications-center .notification-list-item', {
      hasText: 'Drop the table',
    });
    await notice.waitFor();
    const buttons = await notice.locator('.monaco-button').allInnerTexts();
    assert.deepEqual(
      buttons.map((text) => text.trim()).filter((text) => text !== ''),
      ['Allow', 'Always allow', 'Reject', 'Open'],
    );
    await notice.locator('.monaco-button', { hasText: 'Reject' }).click();
    await waiting('Drop the table').waitFor({ state: 'detached' });
    await runCommand(page, 'View: Close Editor');
    await said('permission: reject').waitFor();
  });

  it('keeps a run that failed until its transcript is on screen', async () => {
    await prompt('slow 8000\nerror out of order');
    await runCommand(page, 'Preferences: Open Settings (UI)');
    await waiting('answered with an error').waitFor({ timeout: 30_000 });
    await runCommand(page, 'Session Deck: Next Waiting Session');
    await waiting('answered with an error').waitFor({ state: 'detached' });
    await said('Scripted agent answered with an error: out of order').waitFor();
  });

  it('stops a command only after a question', async () => {
    await prompt('background sleep 300');
    await page.locator('.sidebar .pane-header', { hasText: 'Background Tasks' }).click();
    const task = viewRows(page, 'Background Tasks', 'sleep 300');
    await task.waitFor({ timeout: 30_000 });
    const stop = async (answer: string) => {
      await task.hover();
      await task.locator('.action-label[aria-label^="Stop Background Task"]').click();
      const dialog = page.locator('.monaco-dialog-box');
      await dialog.waitFor();
      assert.match(await dialog.innerText(), /The process ends/);
      await dialog.locator('.monaco-button', { hasText: answer }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    const label = async () => (await task.getAttribute('aria-label')) ?? '';
    await stop('Cancel');
    assert.match(await label(), /Running/);
    await stop('Stop');
    await until(async () => (await label()).includes('Stopped'), 'the end of the task');
  });
});
