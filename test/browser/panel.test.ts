import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { testAgent } from '../support/agent_command.js';
import { makeEditorHome, type EditorHome } from '../support/editor_home.js';
import { until } from '../support/service.js';
import { startHost, type Host } from '../support/vscode_host.js';
import { openContainer, pick, runCommand, tabNames, webview } from '../support/workbench.js';

describe('the transcript panel in a window', function () {
  this.timeout(180_000);
  let home: EditorHome;
  let host: Host;
  let page: Page;

  before(async () => {
    home = await makeEditorHome();
    const workspace = path.join(home.folder, 'shop');
    await fs.mkdir(path.join(workspace, 'src'), { recursive: true });
    await fs.writeFile(path.join(workspace, 'src', 'batch.ts'), 'export {};\n');
    const scripted = testAgent({
      title: 'Scripted agent',
      dir: path.join(home.folder, 'agent'),
      features: ['close', 'compact', 'load', 'resume', 'list', 'modes', 'options'],
    });
    host = await startHost({
      env: home.env,
      workspace,
      machineSettings: { 'sessionDeck.agents': { scripted } },
    });
    page = await host.openWindow();
    await openContainer(page, 'Session Deck');
    await runCommand(page, 'Session Deck: New Session');
    await until(async () => (await tabNames(page)).length === 1, 'the tab of the session');
    await box().waitFor({ timeout: 60_000 });
  });

  after(async () => {
    await host.stop();
    await home.remove();
  });

  const inside = () => webview(page);
  const box = () => inside().locator('#prompt textarea');
  const prompt = async (text: string) => {
    await box().fill(text);
    await box().press('Control+Enter');
  };
  const said = (text: string) => inside().locator('#feed').getByText(text, { exact: true }).last();
  const idle = () => inside().locator('.p-status').waitFor({ state: 'detached', timeout: 30_000 });

  it('chooses a mode in the list of the editor and shows what the agent confirmed', async () => {
    await prompt('hello');
    await said('You said: hello').waitFor({ timeout: 60_000 });
    await idle();
    const mode = inside().getByRole('button', { name: /^Mode: / });
    const before = await mode.innerText();
    await mode.click();
    await pick(page, before.includes('code') ? 'ask' : 'code');
    await until(async () => (await mode.innerText()) !== before, 'another mode');
    await mode.click();
    await pick(page, 'locked');
    await inside().locator('.p-said.bad').waitFor();
    assert.doesNotMatch(await mode.innerText(), /locked/);
  });

  it('answers a permission where it is asked', async () => {
    await prompt('ask Run the migration');
    const allow = inside().locator('.ask .askb button').first();
    await allow.waitFor({ timeout: 30_000 });
    await allow.click();
    await said('permission: allow').waitFor({ timeout: 30_000 });
    await inside().locator('.asked', { hasText: 'Answered: ' }).last().waitFor();
    await idle();
  });

  it('fills in a form where it is asked', async () => {
    await prompt('form {"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}');
    const form = inside().getByRole('form');
    await form.waitFor({ timeout: 30_000 });
    await form.getByRole('button', { name: 'Submit' }).click();
    await form.getByText('Please fill this in.').waitFor();
    await form.getByRole('textbox').fill('Ada');
    await form.getByRole('textbox').press('Enter');
    await inside().locator('.given', { hasText: 'Ada' }).waitFor({ timeout: 30_000 });
    await idle();
  });

  it('shows a compaction that was typed as the command of the agent as what it is', async () => {
    await prompt('usage 50000');
    await idle();
    await prompt('/compact keep the heron');
    await inside().locator('#feed').getByText('Compacted: 50k → 1k tokens').waitFor({ timeout: 30_000 });
    await idle();
  });

  it('stops a command that the agent runs', async () => {
    await prompt('terminal sleep 600');
    const stop = inside().getByRole('button', { name: 'Stop this command' });
    await stop.waitFor({ timeout: 30_000 });
    await stop.click();
    await stop.waitFor({ state: 'detached', timeout: 30_000 });
    await idle();
  });

  it('sends a file that is mentioned as a link', async () => {
    await box().fill('blocks');
    await box().press('End');
    await box().pressSequentially(' @batch');
    await inside()
      .getByRole('option', { name: /batch\.ts/ })
      .waitFor({ timeout: 30_000 });
    await box().press('Enter');
    await box().press('Control+Enter');
    await inside().locator('.prompt .chip', { hasText: 'src/batch.ts' }).waitFor({ timeout: 30_000 });
    await idle();
  });

  it('takes another session along as a file that the agent can read', async () => {
    const title = (await tabNames(page))[0]!;
    await runCommand(page, 'Session Deck: New Session');
    await until(async () => (await tabNames(page)).length === 2, 'a second tab');
    await box().pressSequentially(`blocks @${title.slice(0, 5)}`);
    await inside().locator('#complete .codicon-comment-discussion').first().waitFor({ timeout: 30_000 });
    await box().press('Enter');
    const chip = inside().locator('.p-files .chip');
    await chip.waitFor({ timeout: 30_000 });
    const uri = (await chip.getAttribute('title')) ?? '';
    assert.match(await fs.readFile(new URL(uri), 'utf8'), /You said: hello/);
    await box().press('Control+Enter');
    await inside().locator('.prompt .chip').waitFor({ timeout: 30_000 });
    await idle();
  });
});
