import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { systemCode } from './errors.js';
import { makePrivate, startLogFiles } from './paths.js';

/** Exit code of a service that found its store owned by another one: whoever started it attaches to that one. */
export const EXIT_STORE_OWNED = 75;

/** Exit code of a service that could not start: the last line on its stderr says why. */
export const EXIT_NOT_STARTED = 1;

const MAX_START_LOG_BYTES = 256 * 1024;
const MAX_REASON_LENGTH = 600;

export interface StartedService {
  readonly pid: number | undefined;
  /** Undefined while it runs. */
  ended(): { code: number | null; signal: string | null; reason: string } | undefined;
}

/** What was written to the file from `offset` on: its last line where that is the reason, else its end. */
function tail(file: string, offset: number, code: number | null): string {
  let text: string;
  try {
    text = fs.readFileSync(file).subarray(offset).toString('utf8').trim();
  } catch (error) {
    // The folder went with what was said: nobody waits for this but the end of the process.
    if (systemCode(error) === undefined) throw error;
    return '';
  }
  if (code === EXIT_NOT_STARTED) return text.slice(text.lastIndexOf('\n') + 1);
  return text.length > MAX_REASON_LENGTH ? `…${text.slice(-MAX_REASON_LENGTH)}` : text;
}

/** Opens the file that the service writes to. Where no disk takes it its words are lost, the service is not. */
function openOutput(storeDir: string): { file: string; output: number; offset: number } | undefined {
  for (const file of startLogFiles(storeDir)) {
    try {
      if (!makePrivate(path.dirname(file))) continue;
      const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      const output = fs.openSync(file, size > MAX_START_LOG_BYTES ? 'w' : 'a', 0o600);
      try {
        fs.writeSync(output, `${new Date().toISOString()} starts\n`);
      } catch (error) {
        fs.closeSync(output);
        throw error;
      }
      return { file, output, offset: fs.fstatSync(output).size };
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
    }
  }
  return undefined;
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
      ended ??= { code, signal, reason: log ? tail(log.file, log.offset, code) : '' };
    });
    child.unref();
    return { pid: child.pid, ended: () => ended };
  } finally {
    if (log) fs.closeSync(log.output);
  }
}
