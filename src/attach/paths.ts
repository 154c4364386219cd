import envPaths from 'env-paths';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Unix limits the path of a socket to 104 bytes (macOS) or 108 (Linux), with its end. */
const MAX_RUNTIME_PATH = 80;

/** The folder of the store when none is named: `SESSION_DECK_STORE`, else the platform's data folder. */
export function defaultStoreDir(env: NodeJS.ProcessEnv): string {
  const named = env['SESSION_DECK_STORE'];
  return named ? path.resolve(named) : envPaths('session-deck', { suffix: '' }).data;
}

/** A short name of a store, the same for every path that leads to it. The folder must exist. */
export function storeHash(storeDir: string): string {
  return createHash('sha256').update(fs.realpathSync(storeDir)).digest('hex').slice(0, 16);
}

/** The folder for the socket of a store, which must exist, and for what a read-only disk does not take. */
export function runtimeDir(storeDir: string): string {
  const name = `session-deck-${storeHash(storeDir)}`;
  const bases = [process.env['XDG_RUNTIME_DIR'] ?? '', os.tmpdir()];
  const base = bases.find(
    (one) => path.isAbsolute(one) && fs.existsSync(one) && path.join(one, name).length <= MAX_RUNTIME_PATH,
  );
  return path.join(base ?? '/tmp', name);
}

/**
 * Where the owner of a store says how it is reached (schema `Endpoint`): in the store, or beside its socket when the
 * store's disk takes nothing more.
 */
export function endpointFiles(storeDir: string): { inStore: string; besideSocket: string } {
  const name = 'service.json';
  return { inStore: path.join(storeDir, name), besideSocket: path.join(runtimeDir(storeDir), name) };
}

/** The folder of the service's logs. */
export function logDir(storeDir: string): string {
  return path.join(storeDir, 'logs');
}

/**
 * What a service writes to stdout and stderr: its reason when it cannot start, and crashes. The second place is for
 * a store whose disk takes nothing more.
 */
export function startLogFiles(storeDir: string): string[] {
  return [logDir(storeDir), runtimeDir(storeDir)].map((folder) => path.join(folder, 'start.log'));
}

/** Makes sure that a folder is a real one, the user's own, that nobody else can enter. False when it is not. */
export function makePrivate(folder: string): boolean {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform === 'win32') return true;
  const stat = fs.lstatSync(folder);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) return false;
  fs.chmodSync(folder, 0o700);
  return true;
}
