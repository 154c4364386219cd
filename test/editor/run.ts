// Runs the editor tests: in VSCODE_EXECUTABLE, else in a desktop VS Code that @vscode/test-electron downloads,
// else in the browser build. Reports counts to SESSION_DECK_TEST_RESULTS for scripts/test.mjs.
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import util from 'node:util';
import { downloadAndUnzipVSCode, runTests, SilentReporter, TestRunFailedError } from '@vscode/test-electron';
import { build } from 'esbuild';
import * as z from 'zod';
import { startCodeServer, workbenchUrl } from '../../scripts/code_server.mjs';
import { testAgent } from '../support/agent_command.js';
import { launchBrowser } from '../support/chromium.js';
import { makeEditorHome } from '../support/editor_home.js';
import { checkout } from '../support/vscode_host.js';

const LIMIT_MS = 5 * 60_000;
const Results = z.object({ passes: z.number(), failures: z.number() });

interface Run {
  tests: string;
  workspace: string;
  userDataDir: string;
  env: Record<string, string>;
}

/** Bundles the runner and every test file beside it; answers the path of the runner. */
async function bundle(): Promise<string> {
  const names = await fs.readdir(__dirname);
  const tests = names.filter((name) => name.endsWith('.test.ts')).map((name) => path.join(__dirname, name));
  // Inside the checkout, so that mocha resolves.
  const outdir = path.join(checkout, '.cache', 'editor-tests');
  await fs.rm(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: checkout,
    entryPoints: [path.join(__dirname, 'index.ts'), ...tests],
    outdir,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    sourcemap: 'inline',
    external: ['vscode', 'mocha'],
    logLevel: 'warning',
  });
  return path.join(outdir, 'index.js');
}

/** A desktop VS Code that can show itself here, or undefined. */
async function desktop(): Promise<string | undefined> {
  const named = process.env['VSCODE_EXECUTABLE'];
  if (named) return named;
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (process.platform === 'linux' && !DISPLAY && !WAYLAND_DISPLAY) return undefined;
  try {
    const cachePath = path.join(checkout, '.vscode-test');
    return await downloadAndUnzipVSCode({ cachePath, timeout: 10_000, reporter: new SilentReporter() });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    console.log(`editor: VS Code could not be downloaded (${reason}), using the browser build`);
    return undefined;
  }
}

async function runOnDesktop(executable: string, { tests, workspace, userDataDir, env }: Run): Promise<void> {
  console.log(`editor: testing in ${executable}`);
  try {
    await runTests({
      vscodeExecutablePath: executable,
      extensionDevelopmentPath: checkout,
      extensionTestsPath: tests,
      extensionTestsEnv: env,
      launchArgs: [workspace, '--disable-extensions', `--user-data-dir=${userDataDir}`],
    });
  } catch (error) {
    // Failing tests end here too; the counts tell the two apart.
    if (!(error instanceof TestRunFailedError)) throw error;
  }
}

async function runInBrowserBuild({ tests, workspace, userDataDir, env }: Run): Promise<void> {
  console.log('editor: testing in the browser build of VS Code');
  const browser = await launchBrowser();
  const server = await startCodeServer({ userDataDir, env });
  try {
    const page = await browser.newPage();
    const log: string[] = [];
    let end: (how: string) => void = () => undefined;
    const ended = new Promise<string>((resolve) => (end = resolve));
    await page.exposeFunction('codeAutomationExit', (code: unknown) => end(`code ${String(code)}`));
    await page.exposeFunction('codeAutomationLog', (_type: string, args: unknown[]) => {
      log.push(util.format(...args));
    });
    const url = workbenchUrl(server, { workspace, developmentPath: checkout, testsPath: tests });
    await page.goto(url, { waitUntil: 'domcontentloaded' });
    const late = setTimeout(() => end(`no result after ${LIMIT_MS / 60_000} minutes`), LIMIT_MS);
    const how = await ended;
    clearTimeout(late);
    // Leaving says goodbye to the extension host, which otherwise lives on for its grace time.
    await page.goto('about:blank');
    const results = path.join(env['SESSION_DECK_TEST_OUT'] ?? '', 'results.json');
    if (!existsSync(results)) {
      console.log(`editor: the extension host ended with ${how}\n${log.slice(-40).join('\n')}`);
    }
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** Prints what the tests append to a file while they run; answers a function that prints the rest and stops. */
function follow(file: string): () => Promise<void> {
  let printed = 0;
  const print = async () => {
    const bytes = await fs.readFile(file);
    const news = bytes.subarray(printed);
    printed = bytes.length;
    process.stdout.write(news);
  };
  let last = Promise.resolve();
  const timer = setInterval(() => {
    last = last.then(print);
  }, 250);
  return async () => {
    clearInterval(timer);
    await last;
    await print();
  };
}

async function main(): Promise<void> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'session-deck-editor-'));
  const inside = async (name: string) => {
    const full = path.join(folder, name);
    await fs.mkdir(full);
    return full;
  };
  const out = await inside('out');
  const home = await makeEditorHome();
  const agent = testAgent();
  const env = {
    ...home.env,
    SESSION_DECK_TEST_OUT: out,
    SESSION_DECK_TEST_AGENT: JSON.stringify(agent),
  };
  await fs.writeFile(path.join(out, 'output.txt'), '');
  const stopFollowing = follow(path.join(out, 'output.txt'));
  try {
    const executable = await desktop();
    const tests = await bundle();
    const run = { tests, workspace: await inside('workspace'), userDataDir: await inside('user'), env };
    await (executable ? runOnDesktop(executable, run) : runInBrowserBuild(run));
    await stopFollowing();
    if (!existsSync(path.join(out, 'results.json'))) {
      throw new Error('The tests in the editor did not run to their end.');
    }
    const results = Results.parse(JSON.parse(await fs.readFile(path.join(out, 'results.json'), 'utf8')));
    const report = process.env['SESSION_DECK_TEST_RESULTS'];
    if (report) await fs.writeFile(report, JSON.stringify(results));
    if (results.failures > 0) process.exitCode = 1;
  } finally {
    await stopFollowing();
    await home.remove();
    await fs.rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
