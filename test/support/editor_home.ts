// A user's home for an editor under test: its own sessions, store and socket, and no service left behind.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { endpointFiles } from '../../src/attach/paths.js';
import { Endpoint } from '../../src/protocol/hello.js';
import { isAlive, until } from './service.js';

export interface EditorHome {
  /** The home folder; `.claude` and `.codex` below it are where the tools' sessions are looked for. */
  readonly folder: string;
  readonly store: string;
  /** For the editor: points everything into the folder. */
  readonly env: Record<string, string>;
  /** Process id of the session service, or undefined when none runs. */
  servicePid(): Promise<number | undefined>;
  /** Ends the service and removes the folder. Stop the editor first. */
  remove(): Promise<void>;
}

/** Makes an empty home in the temporary folder. */
export async function makeEditorHome(): Promise<EditorHome> {
  const folder = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'session-deck-home-')));
  const store = path.join(folder, 'store');
  const runtime = path.join(folder, 'run');
  await fs.mkdir(runtime, { mode: 0o700 });
  await fs.mkdir(store, { mode: 0o700 });

  const servicePid = async (): Promise<number | undefined> => {
    const file = endpointFiles(store).inStore;
    if (!(await fs.readdir(store)).includes(path.basename(file))) return undefined;
    const { pid } = Endpoint.parse(JSON.parse(await fs.readFile(file, 'utf8')));
    return isAlive(pid) ? pid : undefined;
  };

  return {
    folder,
    store,
    env: {
      HOME: folder,
      CLAUDE_CONFIG_DIR: path.join(folder, '.claude'),
      CODEX_HOME: path.join(folder, '.codex'),
      SESSION_DECK_STORE: store,
      XDG_RUNTIME_DIR: runtime,
    },
    servicePid,
    async remove() {
      const pid = await servicePid();
      if (pid !== undefined) {
        process.kill(pid, 'SIGTERM');
        await until(() => !isAlive(pid), 'the session service ends');
      }
      await fs.rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
    },
  };
}
