// npm start [-- --sample] [folder]: opens VS Code with the extension, on the user's own sessions or on sample ones.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startCodeServer, workbenchUrl } from './code_server.mjs';
import { bin, buildBundles, Explained, main, root, run, setup } from './setup.mjs';

const cache = path.join(root, '.cache');

function onPath(name) {
  const names = process.platform === 'win32' ? [`${name}.cmd`, `${name}.exe`] : [name];
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean);
  return folders
    .flatMap((folder) => names.map((file) => path.join(folder, file)))
    .find((file) => fs.existsSync(file));
}

/** True when a folder has a session file anywhere below it. */
function holdsSessions(folder) {
  if (!fs.existsSync(folder)) return false;
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .some((item) =>
      item.isDirectory() ? holdsSessions(path.join(folder, item.name)) : item.name.endsWith('.jsonl'),
    );
}

function hasOwnSessions() {
  const claude = process.env.CLAUDE_CONFIG_DIR ?? path.join(os.homedir(), '.claude');
  const codex = process.env.CODEX_HOME ?? path.join(os.homedir(), '.codex');
  return [
    path.join(claude, 'projects'),
    path.join(codex, 'sessions'),
    path.join(codex, 'archived_sessions'),
  ].some(holdsSessions);
}

/** A home full of sample sessions, made once; answers the workspace to open and the environment for the editor. */
function sampleHome() {
  const home = path.join(cache, 'sample-home');
  const projects = path.join(home, 'projects');
  if (!fs.existsSync(projects)) {
    console.log(`start: making sample sessions in ${home}`);
    if (run(process.execPath, [bin('tsx'), 'test/support/sample_home.ts', home]) !== 0) {
      throw new Explained('The sample sessions could not be made; the messages above say why.');
    }
  }
  const workspace = path.join(home, 'sample.code-workspace');
  const folders = fs.readdirSync(projects).map((name) => ({ path: `projects/${name}` }));
  fs.writeFileSync(workspace, JSON.stringify({ folders }, null, 2));
  const env = {
    HOME: home,
    CLAUDE_CONFIG_DIR: path.join(home, '.claude'),
    CODEX_HOME: path.join(home, '.codex'),
    SESSION_DECK_STORE: path.join(home, 'store'),
  };
  return { workspace, env };
}

/** A desktop VS Code: named, on PATH, or downloaded. Undefined when there is none to show. */
async function desktop() {
  if (process.env.VSCODE_EXECUTABLE) return process.env.VSCODE_EXECUTABLE;
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  // Electron needs a screen.
  if (process.platform === 'linux' && !DISPLAY && !WAYLAND_DISPLAY) return undefined;
  const own = onPath('code');
  if (own) return own;
  const { downloadAndUnzipVSCode, SilentReporter } = await import('@vscode/test-electron');
  console.log('start: no `code` on PATH, downloading VS Code into .vscode-test (once)');
  try {
    const cachePath = path.join(root, '.vscode-test');
    return await downloadAndUnzipVSCode({ cachePath, timeout: 15_000, reporter: new SilentReporter() });
  } catch (error) {
    console.log(`start: VS Code could not be downloaded (${error.message}), using the browser build`);
    return undefined;
  }
}

function openDesktop(executable, workspace, { env, ownProfile }) {
  // A running VS Code would open the window itself, without this environment; another profile is another VS Code.
  const profile = ownProfile ? ['--user-data-dir', path.join(cache, 'start', 'desktop')] : [];
  const args = [`--extensionDevelopmentPath=${root}`, '--new-window', ...profile, workspace];
  console.log(`start: opening ${workspace} in ${executable}`);
  const shell = process.platform === 'win32';
  const child = spawn(shell ? `"${executable}"` : executable, args, {
    env: { ...process.env, ...env },
    stdio: 'inherit',
    shell,
  });
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Explained(`Could not start ${executable}: ${error.message}.`)));
    child.once('exit', (code) =>
      code ? reject(new Explained(`${executable} ended with code ${code}.`)) : resolve(),
    );
  });
}

/** Installs the extension, as a person would: under the test driver, which a development path needs, no toast shows. */
async function serve(workspace, { env, allFolders }) {
  const userDataDir = path.join(cache, 'start', 'browser');
  const machineFile = path.join(userDataDir, 'Machine', 'settings.json');
  // What was set in an earlier run stays.
  if (allFolders && !fs.existsSync(machineFile)) {
    fs.mkdirSync(path.dirname(machineFile), { recursive: true });
    fs.writeFileSync(machineFile, JSON.stringify({ 'sessionDeck.allFolders': true }, null, 2));
  }
  const vsix = path.join(cache, 'start', 'session-deck.vsix');
  const args = ['package', '--no-dependencies', '--out', vsix];
  console.log(`build: vsce ${args.join(' ')}`);
  if (
    run(process.execPath, [bin('@vscode/vsce', 'vsce'), ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  ) {
    throw new Explained('The extension could not be built; `npm run package` says why.');
  }
  const server = await startCodeServer({
    userDataDir,
    env,
    installVsix: [vsix],
    testDriver: false,
    graceSeconds: 60,
  });
  console.log(`start: Session Deck on ${workspace}, in VS Code in the browser until Ctrl-C:`);
  console.log(workbenchUrl(server, { workspace }));
  const signal = new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => resolve(name));
  });
  const ended = await Promise.race([signal, server.exited.then(() => undefined)]);
  await server.stop();
  if (!ended) throw new Explained('The editor server ended by itself.');
}

await main(async () => {
  const args = process.argv.slice(2);
  const unknown = args.find((arg) => arg.startsWith('-') && arg !== '--sample');
  const folders = args.filter((arg) => !arg.startsWith('-'));
  if (unknown || folders.length > 1) throw new Explained('usage: npm start [-- --sample] [folder]');
  // npm runs scripts in the checkout; INIT_CWD is where the user is.
  const from = process.env.INIT_CWD ?? process.cwd();
  const asked = folders[0] && path.resolve(from, folders[0]);
  if (asked && !fs.existsSync(asked)) throw new Explained(`There is no ${asked}.`);

  setup();
  let env = {};
  let workspace = asked ?? from;
  // npm keeps the option for itself when the `--` before it is forgotten.
  let sampled = args.includes('--sample') || process.env.npm_config_sample === 'true';
  if (!sampled && !hasOwnSessions()) {
    console.log('start: no sessions of Claude Code or Codex on this machine, showing sample ones');
    sampled = true;
  }
  if (sampled) {
    const sample = sampleHome();
    env = sample.env;
    workspace = asked ?? sample.workspace;
  }
  const executable = await desktop();
  if (executable) {
    buildBundles();
    const ownProfile = sampled || executable.startsWith(path.join(root, '.vscode-test'));
    await openDesktop(executable, workspace, { env, ownProfile });
  } else await serve(workspace, { env, allFolders: !asked });
});
