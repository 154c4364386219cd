// Makes a fresh clone ready: installs the npm packages when they are missing or not those of package-lock.json.
// Plain Node, so that it runs before anything is installed. usage: node scripts/setup.mjs
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** An error whose message is all that the person at the terminal needs; printed without a stack. */
export class Explained extends Error {}

/** Runs a script's main function; an Explained error becomes one line and exit code 1. */
export async function main(run) {
  try {
    await run();
  } catch (error) {
    console.error(error instanceof Explained ? error.message : error);
    process.exitCode = 1;
  }
}

/** Runs a program to its end with our terminal; answers its exit code (1 when a signal ended it). */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (result.error) throw new Explained(`Could not run ${command}: ${result.error.message}.`);
  return result.status ?? 1;
}

/** Runs npm, on Windows too. `cwd` defaults to the checkout. */
export function npm(args, options = {}) {
  return run('npm', args, { shell: process.platform === 'win32', ...options });
}

/** Path of the file behind an installed package's command, for `node FILE`. */
export function bin(name, command = name) {
  const folder = path.join(root, 'node_modules', name);
  const { bin: entry } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  return path.join(folder, typeof entry === 'string' ? entry : entry[command]);
}

function packagesOf(lockFile) {
  if (!fs.existsSync(lockFile)) return {};
  return JSON.parse(fs.readFileSync(lockFile, 'utf8')).packages ?? {};
}

/** True when every package of package-lock.json is installed in its version. */
function installed() {
  const have = packagesOf(path.join(root, 'node_modules', '.package-lock.json'));
  const want = Object.entries(packagesOf(path.join(root, 'package-lock.json')));
  // Optional packages are those of other platforms.
  return want.every(([name, { version, optional }]) => !name || optional || have[name]?.version === version);
}

/** Installs the packages when needed. Install scripts are not run: nothing that ships or tests needs one. */
export function setup() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) {
    throw new Explained(`Session Deck needs Node 20 or newer, this is ${process.versions.node}.`);
  }
  if (installed()) return;
  console.log('setup: npm ci (packages are missing or out of date)');
  if (npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']) !== 0) {
    throw new Explained('Could not install the npm packages; is the npm registry reachable? (npm ci failed)');
  }
}

/** Builds dist/. */
export function buildBundles(...flags) {
  console.log(`build: node esbuild.mjs ${flags.join(' ')}`.trimEnd());
  if (run(process.execPath, ['esbuild.mjs', ...flags]) !== 0) {
    throw new Explained('The build failed; the messages above say where.');
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) void main(setup);
