import fs from 'node:fs';
import path from 'node:path';
import { systemCode } from '../attach/errors.js';
import { endpointFiles, makePrivate, runtimeDir, storeHash } from '../attach/paths.js';
import { Endpoint } from '../protocol/hello.js';

const SOCKET_NAME = 'service.sock';
/** The disk does not take a file. */
const NOT_WRITABLE = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT']);

/**
 * The address that the owner of a store listens on: a socket in a folder that only the user can enter, or a named
 * pipe on Windows. What an owner that died has left there is removed, so only an owner may call this.
 */
export function claimAddress(storeDir: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\session-deck-${storeHash(storeDir)}-${process.pid}`;
  const folder = runtimeDir(storeDir);
  // Somebody else may have made a folder of that name in a place that all can write to.
  const home = makePrivate(folder) ? folder : fs.mkdtempSync(`${folder}-`);
  const address = path.join(home, SOCKET_NAME);
  fs.rmSync(address, { force: true });
  return address;
}

/** Removes the socket, and its folder when nothing else is in it. */
export function releaseAddress(address: string): void {
  if (process.platform === 'win32') return;
  fs.rmSync(address, { force: true });
  try {
    fs.rmdirSync(path.dirname(address));
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY'].includes(systemCode(error) ?? '')) throw error;
  }
}

function replace(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(draft, text, { mode: 0o600 });
    fs.renameSync(draft, file);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  }
}

/** Writes how the service is reached, for the user's eyes only, at once or not at all. */
export function publishEndpoint(storeDir: string, endpoint: Endpoint): void {
  const { inStore, besideSocket } = endpointFiles(storeDir);
  const text = `${JSON.stringify(endpoint)}\n`;
  try {
    replace(inStore, text);
  } catch (error) {
    if (!NOT_WRITABLE.has(systemCode(error) ?? '') || !makePrivate(path.dirname(besideSocket))) throw error;
    replace(besideSocket, text);
  }
}

/** Removes the endpoint files that are ours. */
export function withdrawEndpoint(storeDir: string, token: string): void {
  for (const file of Object.values(endpointFiles(storeDir))) {
    if (!fs.existsSync(file)) continue;
    const published = Endpoint.safeParse(JSON.parse(fs.readFileSync(file, 'utf8')));
    if (published.data?.token === token) fs.rmSync(file);
  }
}
