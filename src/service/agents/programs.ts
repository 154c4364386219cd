import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { AgentSpec } from './agent_process.js';

/** How long an answer is believed, in ms: somebody may be installing it right now. */
const BELIEVED_MS = 5000;
const MAX_BELIEVED = 500;

const believed = new Map<string, { readonly found: Promise<boolean>; readonly until: number }>();

/** Whether a program is there: on the PATH, or at that place when it is named by one. Starts nothing. */
export function isInstalled(
  command: string,
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  const path = variable(env, 'PATH', platform) ?? '';
  const extensions =
    platform === 'win32' ? (variable(env, 'PATHEXT', platform) ?? '.EXE;.CMD;.BAT;.COM') : '';
  const key = JSON.stringify([command, path, extensions]);
  const known = believed.get(key);
  if (known && known.until > Date.now()) return known.found;
  if (believed.size >= MAX_BELIEVED) believed.clear();
  const found = look(command, path, extensions, platform);
  believed.set(key, { found, until: Date.now() + BELIEVED_MS });
  return found;
}

async function look(
  command: string,
  path: string,
  extensions: string,
  platform: NodeJS.Platform,
): Promise<boolean> {
  const windows = platform === 'win32';
  const endings = windows ? ['', ...extensions.split(';').filter((each) => each !== '')] : [''];
  const isPath = isAbsolute(command) || command.includes('/') || (windows && command.includes('\\'));
  const folders = isPath ? [''] : path.split(windows ? ';' : delimiter).filter((each) => each !== '');
  for (const folder of folders)
    for (const ending of endings)
      if (await isProgram(folder === '' ? command + ending : join(folder, command + ending))) return true;
  return false;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    // Not there, or not for us to run.
    return false;
  }
}

/** Names of variables do not tell case apart on Windows. */
function variable(env: NodeJS.ProcessEnv, name: string, platform: NodeJS.Platform): string | undefined {
  if (platform !== 'win32') return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

/** The definition with the line that it is really started with: the preferred one where that program is there. */
export async function withStartLine(spec: AgentSpec): Promise<AgentSpec> {
  const { preferred } = spec;
  if (!preferred || !(await isInstalled(preferred.command, { ...process.env, ...spec.env }))) return spec;
  return { ...spec, command: preferred.command, args: preferred.args };
}

/** A start line as one would type it. */
export function commandLine({ command, args }: Pick<AgentSpec, 'command' | 'args'>): string {
  return [command, ...args]
    .map((word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(' ');
}
