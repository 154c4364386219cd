import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { endpointFile } from '../attach/paths.js';
import { Endpoint } from '../protocol/hello.js';

/** Unix limits the path of a socket to 104 bytes (macOS) or 108 (Linux), with its end. */
const MAX_SOCKET_PATH = 100;
const SOCKET_NAME = 'service.sock';

/** Whether the folder is a real one, the user's own, that nobody else can enter. Makes it so where it can. */
function makePrivate(folder: string): boolean {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = fs.lstatSync(folder);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) return false;
  fs.chmodSync(folder, 0o700);
  return true;
}

/**
 * The address that the owner of a store listens on: a socket in a folder that only the user can enter, or a named
 * pipe on Windows. What an owner that died has left there is removed, so only an owner may call this.
 */
export function claimAddress(storeDir: string): string {
  const hash = createHash('sha256').update(fs.realpathSync(storeDir)).digest('hex').slice(0, 16);
  const name = `session-deck-${hash}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}-${process.pid}`;
  const bases = [process.env['XDG_RUNTIME_DIR'], os.tmpdir(), '/tmp'].filter(
    (base) => base !== undefined && path.isAbsolute(base) && fs.existsSync(base),
  );
  const fits = bases.find((base) => path.join(base ?? '', name, SOCKET_NAME).length <= MAX_SOCKET_PATH);
  const base = fits ?? '/tmp';
  const folder = path.join(base, name);
  // Somebody else may have made a folder of that name in a place that all can write to.
  const home = makePrivate(folder) ? folder : fs.mkdtempSync(path.join(base, 'session-deck-'));
  const address = path.join(home, SOCKET_NAME);
  fs.rmSync(address, { force: true });
  return address;
}

/** Removes the socket and its folder. */
export function releaseAddress(address: string): void {
  if (process.platform === 'win32') return;
  fs.rmSync(address, { force: true });
  fs.rmdirSync(path.dirname(address));
}

/** Writes how the service is reached, for the user's eyes only, at once or not at all. */
export function publishEndpoint(storeDir: string, endpoint: Endpoint): void {
  const file = endpointFile(storeDir);
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, `${JSON.stringify(endpoint)}\n`, { mode: 0o600 });
  fs.renameSync(draft, file);
}

/** Removes the endpoint file if it is ours. */
export function withdrawEndpoint(storeDir: string, token: string): void {
  const file = endpointFile(storeDir);
  if (!fs.existsSync(file)) return;
  const published = Endpoint.safeParse(JSON.parse(fs.readFileSync(file, 'utf8')));
  if (published.data?.token === token) fs.rmSync(file);
}
