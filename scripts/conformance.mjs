// npm run conformance [-- AGENT…]: installs agents and a client that others wrote into .cache/conformance (1.5 GB),
// runs them against the service without a model, and writes docs/conformance.md. Not part of npm test.
import fs from 'node:fs';
import path from 'node:path';
import { main, npm, root, run, setup } from './setup.mjs';

const PACKAGES = [
  '@agentclientprotocol/claude-agent-acp@0.101.0',
  '@agentclientprotocol/codex-acp@2.6.0',
  '@zed-industries/codex-acp@0.16.0',
  'opencode-ai@1.18.33',
  'acpx@0.19.1',
];

function install(folder) {
  const wanted = PACKAGES.filter((name) => {
    const at = name.lastIndexOf('@');
    const file = path.join(folder, 'node_modules', name.slice(0, at), 'package.json');
    return !fs.existsSync(file) || JSON.parse(fs.readFileSync(file, 'utf8')).version !== name.slice(at + 1);
  });
  if (wanted.length === 0) return;
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ private: true }));
  console.log(`conformance: installs ${wanted.join(', ')} into ${path.relative(root, folder)}`);
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--engine-strict=false'];
  if (npm([...args, ...PACKAGES], { cwd: folder }) !== 0)
    console.log('conformance: not all could be installed; those that are missing are left out');
}

await main(() => {
  setup();
  const folder = path.join(root, '.cache', 'conformance');
  install(folder);
  const file = path.join('test', 'conformance', 'real', 'run.ts');
  process.exitCode = run(process.execPath, ['--import', 'tsx', file, folder, ...process.argv.slice(2)]);
});
