// npm run package: builds session-deck-VERSION.vsix and checks that it stays small.
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { bin, Explained, main, root, run, setup } from './setup.mjs';

const LIMIT_BYTES = 2_000_000;

/** Files that go into the package, as vsce lists them. */
function contents(vsce) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [vsce, 'ls', '--no-dependencies'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Explained(`vsce ls failed: ${stderr}`);
  // The prepublish build prints into the same output.
  return stdout.split('\n').filter((line) => line && fs.existsSync(path.join(root, line)));
}

await main(async () => {
  setup();
  const { name, version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const vsix = `${name}-${version}.vsix`;
  const vsce = bin('@vscode/vsce', 'vsce');
  console.log(`package: vsce package --out ${vsix}`);
  // Everything needed is bundled in dist.
  if (run(process.execPath, [vsce, 'package', '--no-dependencies', '--out', vsix]) !== 0) {
    throw new Explained('vsce could not make the package; the messages above say why.');
  }
  const files = contents(vsce);
  for (const needed of ['dist/extension.js', 'dist/service.js', 'dist/webview.js', 'dist/sql-wasm.wasm']) {
    if (!files.includes(needed)) throw new Explained(`${needed} is missing from the package.`);
  }
  const { size } = fs.statSync(path.join(root, vsix));
  const sizes = `${(size / 1e6).toFixed(2)} MB of at most ${LIMIT_BYTES / 1e6} MB`;
  if (size > LIMIT_BYTES) throw new Explained(`${vsix} is too big: ${sizes}.`);
  console.log(`${vsix}: ${files.length} files, ${sizes}`);
});
