import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import * as z from 'zod';
import manifest from '../../package.json';
import { makeEditorHome } from '../support/editor_home.js';
import { until } from '../support/service.js';
import { checkout, startHost } from '../support/vscode_host.js';
import { openContainer } from '../support/workbench.js';

const { name, version } = z.object({ name: z.string(), version: z.string() }).parse(manifest);

describe('the package', function () {
  this.timeout(180_000);

  it('is small, installs, and starts its service', async () => {
    const made = spawnSync(process.execPath, ['scripts/package.mjs'], { cwd: checkout, encoding: 'utf8' });
    assert.equal(made.status, 0, `${made.stdout}${made.stderr}`);
    const vsix = path.join(checkout, `${name}-${version}.vsix`);
    const home = await makeEditorHome();
    const host = await startHost({ env: home.env, installVsix: [vsix], extensionDevelopmentPath: null });
    try {
      const page = await host.openWindow();
      await openContainer(page, 'Session Deck');
      await until(() => home.servicePid(), 'the service of the installed extension', 30_000);
    } finally {
      await host.stop();
      await home.remove();
    }
  });
});
