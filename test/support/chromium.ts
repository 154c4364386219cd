// A Chromium to drive: the machine's own, else Debian's package, else Playwright's download.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter(Boolean);
  return folders.map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file));
}

function installed(): string | undefined {
  const named = process.env['CHROMIUM'];
  if (named) return named;
  const own = chromium.executablePath();
  return NAMES.map(onPath).find((file) => file !== undefined) ?? (fs.existsSync(own) ? own : undefined);
}

function quietly(command: string, args: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

function install(): void {
  if (process.getuid?.() === 0 && onPath('apt-get')) {
    console.log('host: installing Chromium with apt-get (once)');
    const packages = ['chromium', 'fonts-dejavu-core', 'fonts-wqy-microhei'];
    const apt = [
      'install',
      '-y',
      '-qq',
      '--no-install-recommends',
      '-o',
      'DPkg::Lock::Timeout=120',
      ...packages,
    ];
    if (quietly('apt-get', ['update', '-qq']) && quietly('apt-get', apt)) return;
  }
  console.log('host: downloading Chromium with playwright-core (once)');
  const cli = path.join(path.dirname(require.resolve('playwright-core/package.json')), 'cli.js');
  quietly(process.execPath, [cli, 'install', 'chromium-headless-shell', 'chromium']);
}

/** Path of a Chromium, installed when there is none. Throws a sentence that says what to do. */
export function findChromium(): string {
  if (!installed()) install();
  const found = installed();
  if (!found) {
    throw new Error(
      'No Chromium was found and none could be installed; install it (Debian: apt-get install chromium) or set CHROMIUM to its path.',
    );
  }
  return found;
}

/** A headless browser that calls nobody but the pages it is sent to. */
export async function launchBrowser(): Promise<Browser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  return chromium.launch({
    executablePath: findChromium(),
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet],
  });
}
