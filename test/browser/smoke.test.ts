import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startHost, type Host } from '../support/vscode_host.js';
import { openContainer, runCommand, tabNames } from '../support/workbench.js';

describe('the extension in a window', function () {
  this.timeout(120_000);
  let host: Host;
  let home: string;

  before(async () => {
    home = await fs.mkdtemp(path.join(os.tmpdir(), 'session-deck-home-'));
    const env = {
      HOME: home,
      CLAUDE_CONFIG_DIR: path.join(home, '.claude'),
      CODEX_HOME: path.join(home, '.codex'),
      SESSION_DECK_STORE: path.join(home, 'store'),
    };
    host = await startHost({ env });
  });

  after(async () => {
    await host.stop();
    await fs.rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
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
