// npm test [-- group…]: sets itself up and runs the groups in order; the last line counts the whole run.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bin, buildBundles, Explained, main, root, setup } from './setup.mjs';

// A group that takes longer hangs.
const LIMIT_MS = 20 * 60_000;
const node = (file, ...args) => [process.execPath, file, ...args];
const mocha = (folder, ...args) => [node(bin('mocha'), ...args, `test/${folder}/**/*.test.ts`)];
// Files beside each other: most of their time they wait for processes that they start.
const beside = ['--parallel', '--jobs', '2'];

const groups = {
  types: {
    counts: 'once',
    commands: () => [node(bin('typescript', 'tsc'), '-p', 'tsconfig.json', '--noEmit')],
  },
  lint: {
    counts: 'once',
    commands: () => [
      node(bin('eslint'), '.', '--max-warnings', '0'),
      node(bin('prettier'), '--check', '--log-level', 'warn', '.'),
    ],
  },
  unit: { commands: () => mocha('unit', ...beside) },
  service: { built: true, commands: () => mocha('service', ...beside) },
  conformance: { built: true, commands: () => mocha('conformance') },
  editor: { built: true, commands: () => [node('--import', 'tsx', 'test/editor/run.ts')] },
  browser: { built: true, commands: () => mocha('browser') },
};

/** Runs one command to its end; answers its exit code. */
function execute([command, ...args], env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
    const hanging = setTimeout(() => {
      console.error(`stopped after ${LIMIT_MS / 60_000} minutes`);
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), 5000).unref();
    }, LIMIT_MS);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(hanging);
      resolve(code ?? 1);
    });
  });
}

/** Runs a group; answers how many of its tests passed and failed. */
async function runGroup({ counts, commands }, resultsFile) {
  let bad = false;
  for (const command of commands()) {
    const code = await execute(command, { SESSION_DECK_TEST_RESULTS: resultsFile });
    bad ||= code !== 0;
  }
  if (counts === 'once') return { passes: bad ? 0 : 1, failures: bad ? 1 : 0 };
  const found = fs.existsSync(resultsFile);
  const { passes, failures } = found
    ? JSON.parse(fs.readFileSync(resultsFile, 'utf8'))
    : { passes: 0, failures: 0 };
  if (passes + failures === 0) console.error('no test was executed, which counts as a failure');
  // A run that dies around its tests is a failure that no test reports.
  return { passes, failures: failures === 0 && (bad || passes === 0) ? 1 : failures };
}

await main(async () => {
  const asked = process.argv.slice(2);
  const unknown = asked.find((name) => !Object.hasOwn(groups, name));
  if (unknown)
    throw new Explained(`Unknown group ${unknown}; the groups are ${Object.keys(groups).join(', ')}.`);
  const names = Object.keys(groups).filter((name) => asked.length === 0 || asked.includes(name));
  setup();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'session-deck-test-'));
  const total = { passes: 0, failures: 0 };
  try {
    if (names.some((name) => groups[name].built)) buildBundles();
    for (const name of names) {
      console.log(`\n== ${name}`);
      const { passes, failures } = await runGroup(groups[name], path.join(folder, `${name}.json`));
      console.log(`== ${name}: ${passes} passed, ${failures} failed`);
      total.passes += passes;
      total.failures += failures;
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  if (total.failures > 0) process.exitCode = 1;
  console.log(`${total.passes} passed, ${total.failures} failed`);
});
