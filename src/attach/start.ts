import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { systemCode } from './errors.js';
import { logDir, startLogFile } from './paths.js';

/** Exit code of a service that found its store owned by another one: whoever started it attaches to that one. */
export const EXIT_STORE_OWNED = 75;

const MAX_START_LOG_BYTES = 256 * 1024;
const MAX_REASON_LENGTH = 600;

export interface StartedService {
  readonly pid: number | undefined;
  /** Undefined while it runs. */
  ended(): { code: number | null; signal: string | null; reason: string } | undefined;
}

/** The last lines that were written to the file from `offset` on. */
function tail(file: string, offset: number): string {
  const text = fs.readFileSync(file).subarray(offset).toString('utf8').trim();
  return text.length > MAX_REASON_LENGTH ? `…${text.slice(-MAX_REASON_LENGTH)}` : text;
}

/** Opens the file that the service writes to; on the disk's refusal its words are lost, the service is not. */
function openOutput(storeDir: string): { file: string; output: number; offset: number } | undefined {
  const file = startLogFile(storeDir);
  try {
    fs.mkdirSync(logDir(storeDir), { recursive: true, mode: 0o700 });
    const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const output = fs.openSync(file, size > MAX_START_LOG_BYTES ? 'w' : 'a', 0o600);
    return { file, output, offset: fs.fstatSync(output).size };
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Starts a service that outlives the caller, its terminal and its window. */
export function startService(options: {
  readonly storeDir: string;
  readonly serviceScript: string;
  readonly runtime: string;
  readonly env: NodeJS.ProcessEnv;
}): StartedService {
  const log = openOutput(options.storeDir);
  const output = log?.output ?? 'ignore';
  let ended: { code: number | null; signal: string | null; reason: string } | undefined;
  try {
    const child = spawn(options.runtime, [options.serviceScript, 'serve', '--store', options.storeDir], {
      detached: true,
      windowsHide: true,
      stdio: ['ignore', output, output],
      cwd: options.storeDir,
      // The runtime may be the editor's own, which is Node only when it is told so.
      env: { ...options.env, ELECTRON_RUN_AS_NODE: '1' },
    });
    child.once('error', (error) => {
      ended ??= { code: null, signal: null, reason: error.message };
    });
    child.once('exit', (code, signal) => {
      ended ??= { code, signal, reason: log ? tail(log.file, log.offset) : '' };
    });
    child.unref();
    return { pid: child.pid, ended: () => ended };
  } finally {
    if (log) fs.closeSync(log.output);
  }
}
