// Walks the deck as README shows it, in a real editor. `npm run pictures` keeps what it sees in docs/images.
import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { makeEditorHome, type EditorHome } from '../support/editor_home.js';
import { writeSampleHome } from '../support/sample_home.js';
import { checkout, startHost, type Host } from '../support/vscode_host.js';
import { openContainer, runCommand, screenshot, tabNames, treeRows, webview } from '../support/workbench.js';

const TITLE = 'Fog signals: the big refactoring';

for (const theme of ['dark', 'light'] as const)
  describe(`the deck as README shows it, ${theme}`, function () {
    this.timeout(120_000);
    let home: EditorHome;
    let host: Host;
    let page: Page;
    let pictures: string;

    before(async () => {
      home = await makeEditorHome();
      writeSampleHome(home.folder);
      pictures =
        process.env['SESSION_DECK_PICTURES'] === '1'
          ? path.join(checkout, 'docs', 'images')
          : path.join(home.folder, 'pictures');
      const workspace = path.join(home.folder, 'projects', 'lighthouse');
      host = await startHost({ theme, workspace, env: home.env });
      page = await host.openWindow({ width: 1440, height: 900 });
      await openContainer(page, 'Session Deck');
      await treeRows(page, TITLE).first().waitFor({ timeout: 60_000 });
    });

    after(async () => {
      await host.stop();
      await home.remove();
    });

    const keep = async (name: string) => {
      // What opens fades in.
      await page.waitForTimeout(500);
      await screenshot(page, path.join(pictures, `${name}.png`));
      assert.ok((await fs.stat(path.join(pictures, `${name}.png`))).size > 10_000, 'a picture of something');
    };

    it('opens a session at its end, with its turns beside it', async () => {
      await treeRows(page, TITLE).first().click();
      const body = webview(page);
      await body.locator('.end').last().waitFor({ timeout: 30_000 });
      assert.ok((await tabNames(page)).some((name) => name.startsWith('Fog signals')));
      const below = await body
        .locator('#scroller')
        .evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
      assert.ok(below < 4, `${below} px below the end`);
      assert.ok((await body.locator('#outline [role="option"]').count()) >= 2, 'the turns');
      await keep(`transcript-${theme}`);
    });

    it('shows what an edit changed', async () => {
      const body = webview(page);
      const edited = body.locator('.line', { hasText: 'src/fog.ts' }).first();
      await edited.click();
      await body.locator('.diff .dl.add').first().waitFor();
      await keep(`deck-${theme}`);
    });

    if (theme === 'dark') {
      it('asks where to fork', async () => {
        await runCommand(page, 'Session Deck: Fork From Here');
        const turn = page.locator('.quick-input-list .monaco-list-row', {
          hasText: 'Now do the same for the wind',
        });
        await turn.waitFor();
        assert.match(await turn.innerText(), /^2 /);
        await keep('fork-picker');
        await page.keyboard.press('Escape');
      });

      it('asks before it deletes, by name', async () => {
        await runCommand(page, 'Session Deck: Delete');
        const dialog = page.locator('.monaco-dialog-box');
        await dialog.waitFor();
        assert.match(await dialog.innerText(), new RegExp(TITLE));
        await keep('delete-confirmation');
        await dialog.locator('.monaco-button', { hasText: 'Cancel' }).click();
        assert.equal(await treeRows(page, TITLE).count(), 1);
      });

      it('lists sessions in a narrow window too', async () => {
        await page.setViewportSize({ width: 700, height: 700 });
        await treeRows(page, TITLE).first().waitFor();
        await keep('tree');
        const wide = await webview(page)
          .locator('body')
          .evaluate((element) => element.scrollWidth - element.clientWidth);
        assert.equal(wide, 0, 'the page does not scroll sideways');
      });
    }
  });
