import { attachOrStart } from '../attach/attach.js';
import type { ServiceConfig } from '../protocol/deck.js';

export interface RelayOptions {
  readonly storeDir: string;
  readonly serviceScript: string;
  readonly version: string;
  /** Absolute; none: all folders of the user. */
  readonly workspaces: readonly string[];
  readonly config: ServiceConfig;
}

/**
 * Speaks ACP on stdio for the service: passes bytes on, both ways, and nothing else. Resolves with the exit code when
 * the client has gone or the service has; rejects with `AttachError` when there is no service to be had.
 */
export async function relay(options: RelayOptions): Promise<number> {
  const { socket } = await attachOrStart({
    storeDir: options.storeDir,
    serviceScript: options.serviceScript,
    runtime: process.execPath,
    env: process.env,
    hello: {
      surface: 'acp',
      version: options.version,
      client: {
        workspaces: [...options.workspaces],
        allFolders: options.workspaces.length === 0,
        trusted: true,
        config: options.config,
      },
    },
  });
  return new Promise((resolve) => {
    let clientGone = false;
    const leave = () => {
      clientGone = true;
      socket.end();
    };
    process.stdin.once('end', leave).once('error', leave);
    process.stdout.once('error', () => {
      clientGone = true;
      socket.destroy();
    });
    let reason = '';
    socket.on('error', (error) => {
      reason = ` (${error.message})`;
    });
    socket.once('close', () => {
      if (!clientGone) process.stderr.write(`session-deck: the session service ended${reason}.\n`);
      resolve(clientGone ? 0 : 1);
    });
    process.stdin.pipe(socket, { end: false });
    socket.pipe(process.stdout, { end: false });
  });
}
