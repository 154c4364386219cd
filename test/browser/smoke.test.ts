import assert from 'node:assert/strict';
import { makeEditorHome, type EditorHome } from '../support/editor_home.js';
import { startHost, type Host } from '../support/vscode_host.js';
import { openContainer, runCommand, tabNames } from '../support/workbench.js';

describe('the extension in a window', function () {
  this.timeout(120_000);
  let host: Host;
  let home: EditorHome;

  before(async () => {
    home = await makeEditorHome();
    host = await startHost({ env: home.env });
  });

  after(async () => {
    await host.stop();
    await home.remove();
  });

  it('shows its container in the activity bar', async () => {
    const page = await host.openWindow();
    await openContainer(page, 'Session Deck');
    const title = page.locator('.sidebar .composite.title');
    assert.match(await title.innerText(), /session deck/i);
  });

  it('runs a command from the palette', async () => {
    const page = await host.openWindow();
    await runCommand(page, 'File: New Untitled Text File');
    await page.locator('.tabs-container .tab').waitFor();
    assert.deepEqual(await tabNames(page), ['Untitled-1']);
  });
});
