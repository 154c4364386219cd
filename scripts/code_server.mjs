// The browser build of VS Code (code-server) from npm: the real workbench and the real Node extension host
// where the desktop build cannot be had. Installs it once into a cache folder and runs it on a free port.
// Plain Node; types in code_server.d.mts.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Explained, npm, root, run } from './setup.mjs';

const CODE_SERVER = '4.139.1';
// code-server runs on this major version only.
const NODE = '24.22.3';

const SETTINGS = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.enableExperiments': false,
  // Without this VS Code starts an agent host of its own.
  'chat.disableAIFeatures': true,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  // The sample sessions lie inside of this checkout.
  'git.openRepositoryInParentFolders': 'never',
  'update.mode': 'none',
};

/** The folder for everything that is downloaded once: VS Code builds, code-server. */
export const cacheFolder = () =>
  process.env.SESSION_DECK_HOST_CACHE ?? path.join(root, '.cache', 'vscode-host');

/** Runs npm quietly in a folder; the output is shown only when it fails. */
function install(cwd, packages) {
  const flags = [
    '--no-save',
    '--ignore-scripts',
    '--omit=dev',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  if (npm(['install', ...flags, ...packages], { cwd, stdio: ['ignore', 'ignore', 'inherit'] }) !== 0) {
    throw new Explained(
      'Could not install code-server from npm; is the registry reachable, and is there 1 GB of free disk?',
    );
  }
}

function nodePackage() {
  return `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
}

const runsOnThisNode = () => process.versions.node.split('.')[0] === NODE.split('.')[0];

function nodeProgram(folder) {
  if (runsOnThisNode()) return process.execPath;
  const program = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  return path.join(folder, 'node_modules', nodePackage(), program);
}

/** Half of the download is of no use here: programs of other platforms, a bundled assistant. */
function trim(vscode) {
  const keepPlatform = (names) =>
    names.filter((name) => !name.startsWith(`${process.platform}-${process.arch}`));
  const below = (folder, choose = (names) => names) => {
    const full = path.join(vscode, folder);
    return fs.existsSync(full) ? choose(fs.readdirSync(full)).map((name) => path.join(full, name)) : [];
  };
  const useless = [
    ...below('node_modules/@github', (names) => names.filter((name) => name.startsWith('copilot-sdk-'))),
    ...below('node_modules/@vscode/ripgrep-universal/bin', keepPlatform),
    ...below('node_modules/node-pty/prebuilds', keepPlatform),
    ...['node_modules/@microsoft/mxc-sdk', 'extensions/copilot', 'extensions/microsoft-authentication'].map(
      (name) => path.join(vscode, name),
    ),
  ];
  for (const name of useless) fs.rmSync(name, { recursive: true, force: true });
}

const alive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

function removeAbandoned(cache) {
  for (const name of fs.readdirSync(cache)) {
    const pid = Number(/^installing-(\d+)$/.exec(name)?.[1]);
    if (pid && !alive(pid)) fs.rmSync(path.join(cache, name), { recursive: true, force: true });
  }
}

/** Installs code-server when it is not there yet; answers its folder. Safe to run twice at once. */
export function installCodeServer() {
  const cache = cacheFolder();
  const folder = path.join(cache, `code-server-${CODE_SERVER}`);
  if (fs.existsSync(folder) && fs.existsSync(nodeProgram(folder))) return folder;

  console.log(`host: installing code-server ${CODE_SERVER} from npm into ${cache} (about a minute, once)`);
  fs.mkdirSync(cache, { recursive: true });
  removeAbandoned(cache);
  const work = path.join(cache, `installing-${process.pid}`);
  fs.mkdirSync(work);
  try {
    fs.writeFileSync(path.join(work, 'package.json'), '{"private":true}');
    install(work, [`code-server@${CODE_SERVER}`, ...(runsOnThisNode() ? [] : [`${nodePackage()}@${NODE}`])]);
    const vscode = path.join(work, 'node_modules/code-server/lib/vscode');
    install(vscode, []);
    install(path.join(vscode, 'extensions'), []);
    const extensions = { cwd: path.join(vscode, 'extensions'), stdio: ['ignore', 'ignore', 'inherit'] };
    if (run(process.execPath, ['postinstall.mjs'], extensions) !== 0) {
      throw new Explained("code-server's own extensions could not be prepared; the messages above say why.");
    }
    trim(vscode);
    fs.rmSync(folder, { recursive: true, force: true });
    fs.renameSync(work, folder);
  } catch (error) {
    // Another process may have finished the same folder in the meantime: then theirs is as good.
    if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

function childEnvironment(folder, extra) {
  const env = { ...process.env };
  for (const name of Object.keys(env)) {
    // A server started in a VS Code terminal would take these for its own.
    if (/^(VSCODE_|CODE_SERVER_|ELECTRON_|PORT$|PASSWORD$|NODE_OPTIONS$|npm_)/.test(name)) delete env[name];
  }
  return {
    ...env,
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    XDG_DATA_HOME: path.join(folder, 'data'),
    ...extra,
  };
}

/**
 * Waits until the server answers.
 * @param child the server process
 * @param url its address
 * @param logFile what it printed
 */
async function ready(child, url, logFile) {
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    // Refused connections are what waiting looks like.
    const answers = await fetch(`${url}/healthz`).then(
      (response) => response.ok,
      () => false,
    );
    if (answers) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Explained(`code-server did not start:\n${fs.readFileSync(logFile, 'utf8').slice(-2000)}`);
}

/** Starts a server; see code_server.d.mts for the options. */
export async function startCodeServer(options = {}) {
  const installed = installCodeServer();
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'session-deck-host-'));
  const userDataDir = options.userDataDir ?? path.join(temporary, 'user');
  const extensionsDir = path.join(userDataDir, 'extensions');
  const settingsFile = path.join(userDataDir, 'User', 'settings.json');
  fs.mkdirSync(path.dirname(settingsFile), { recursive: true });
  fs.mkdirSync(extensionsDir, { recursive: true });
  if (options.settings || !fs.existsSync(settingsFile)) {
    fs.writeFileSync(settingsFile, JSON.stringify({ ...SETTINGS, ...options.settings }, null, 2));
  }
  if (options.machineSettings) {
    const machineFile = path.join(userDataDir, 'Machine', 'settings.json');
    fs.mkdirSync(path.dirname(machineFile), { recursive: true });
    fs.writeFileSync(machineFile, JSON.stringify(options.machineSettings, null, 2));
  }
  const program = nodeProgram(installed);
  const entry = path.join(installed, 'node_modules/code-server/out/node/entry.js');
  const env = childEnvironment(temporary, options.env);
  const folders = ['--user-data-dir', userDataDir, '--extensions-dir', extensionsDir];
  const config = ['--config', path.join(temporary, 'code-server.yaml')];
  for (const vsix of options.installVsix ?? []) {
    const args = [entry, ...config, ...folders, '--install-extension', vsix];
    const result = spawnSync(program, args, { env, encoding: 'utf8' });
    if (result.status !== 0) {
      throw new Explained(`code-server could not install ${vsix}:\n${result.stderr}`);
    }
  }

  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = path.join(temporary, 'code-server.log');
  const log = fs.openSync(logFile, 'a');
  const flags = [
    ...['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, ...config, ...folders],
    ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
    ...(options.workspaceTrust ? [] : ['--disable-workspace-trust']),
    // Extension hosts outlive their browser by this many seconds; the default is three hours.
    ...['--reconnection-grace-time', String(options.graceSeconds ?? 5)],
    '--ignore-last-opened',
    // Without it the development and tests paths in the workbench's address are ignored; with it no toast is shown.
    ...(options.testDriver === false ? [] : ['--vscode-option', 'enable-smoke-test-driver']),
  ];
  const child = spawn(program, [entry, ...flags], { env, stdio: ['ignore', log, log] });
  fs.closeSync(log);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      const hard = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await exited;
      clearTimeout(hard);
    }
    fs.rmSync(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    await ready(child, url, logFile);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, pid: child.pid, logFile, userDataDir, exited, stop };
}

/** The address that opens a folder with extensions loaded in place. */
export function workbenchUrl(server, { workspace, developmentPath, testsPath } = {}) {
  const remote = (name) => `vscode-remote://${new URL(server.url).host}${encodeURI(path.resolve(name))}`;
  const payload = [
    ['skipWelcome', 'true'],
    ['skipReleaseNotes', 'true'],
    ...(developmentPath ? [['extensionDevelopmentPath', remote(developmentPath)]] : []),
    ...(testsPath ? [['extensionTestsPath', remote(testsPath)]] : []),
  ];
  const query = new URLSearchParams();
  if (workspace) {
    query.set(workspace.endsWith('.code-workspace') ? 'workspace' : 'folder', path.resolve(workspace));
  } else query.set('ew', 'true');
  query.set('payload', JSON.stringify(payload));
  return `${server.url}/?${query}`;
}
