import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Finder, FinderLimits, Hits } from './finder.js';
import { isSearchable, LEFT_OUT, MAX_FILE_BYTES, type Place } from './place.js';

/** Lines of one file that are counted. */
const MAX_LINES = 200;
/** How long a program that was ended may take to go, in ms. */
const KILL_MS = 500;
const MAX_STDERR = 2000;

/** Common to all calls: nobody's configuration, no symlinks, rules of ignore files also outside of repositories. */
const base = [
  '--no-config',
  '--no-messages',
  '--no-require-git',
  '--no-follow',
  '--color=never',
  '--null',
  '--path-separator=/',
  `--max-filesize=${String(MAX_FILE_BYTES)}`,
  ...LEFT_OUT.map((name) => `--glob=!**/${name}/**`),
];

/** Finds files with a ripgrep program. */
export class Ripgrep implements Finder {
  constructor(
    private readonly program: string,
    private readonly place: Place,
    private readonly limits: FinderLimits,
  ) {}

  /** Whether the program is there and works. */
  static async works(program: string, signal: AbortSignal): Promise<boolean> {
    let text = '';
    try {
      await run(program, ['--version'], undefined, signal, (bytes) => {
        text += bytes.toString();
        return text.length < 1000;
      });
    } catch {
      return false;
    }
    return text.startsWith('ripgrep');
  }

  async list(signal: AbortSignal): Promise<readonly string[]> {
    const files: string[] = [];
    const take = splitter(0, (line) => {
      const path = relativePath(line.toString());
      if (isSearchable(path)) files.push(path);
    });
    await this.run(['--files', '.'], signal, (bytes) => {
      take(bytes);
      return files.length < this.limits.files;
    });
    return files.sort(byDepth).slice(0, this.limits.files);
  }

  async hits(needles: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Hits>> {
    const found = new Map<string, Map<string, number>>();
    if (needles.length === 0) return found;
    let read = 0;
    // Each match is `path NUL match newline`.
    const take = splitter(10, (line) => {
      const end = line.indexOf(0);
      const path = relativePath(line.toString('utf8', 0, end));
      if (end < 0 || !isSearchable(path)) return;
      const needle = line.toString('utf8', end + 1).toLowerCase();
      const hits = found.get(path) ?? new Map<string, number>();
      hits.set(needle, (hits.get(needle) ?? 0) + 1);
      found.set(path, hits);
    });
    const patterns = needles.flatMap((needle) => ['-e', needle]);
    const options = ['--only-matching', '--no-line-number', '--no-heading', '--with-filename'];
    await this.run(
      [
        ...options,
        '--fixed-strings',
        '--ignore-case',
        `--max-count=${String(MAX_LINES)}`,
        ...patterns,
        '--',
        '.',
      ],
      signal,
      (bytes) => {
        take(bytes);
        read += bytes.length;
        return read < this.limits.bytes;
      },
    );
    return found;
  }

  private run(args: readonly string[], signal: AbortSignal, take: (bytes: Buffer) => boolean): Promise<void> {
    return run(this.program, [...base, ...args], this.place.root, signal, take);
  }
}

const relativePath = (path: string) => (path.startsWith('./') ? path.slice(2) : path);
const depth = (path: string) => path.split('/').length;
const byDepth = (a: string, b: string) => depth(a) - depth(b) || (a < b ? -1 : 1);

/** Cuts what comes in at a byte and hands the pieces on. */
function splitter(separator: number, take: (piece: Buffer) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    let from = 0;
    const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    for (let end = all.indexOf(separator); end >= 0; end = all.indexOf(separator, from)) {
      take(all.subarray(from, end));
      from = end + 1;
    }
    rest = Buffer.from(all.subarray(from));
  };
}

/**
 * Runs a program and hands on what it writes, until it ends, `take` says false, or the signal aborts; in the last two
 * cases it is killed. Throws when it cannot be started or fails by itself.
 */
async function run(
  program: string,
  args: readonly string[],
  cwd: string | undefined,
  signal: AbortSignal,
  take: (bytes: Buffer) => boolean,
): Promise<void> {
  if (signal.aborted) return;
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  const state = { stopped: false };
  let stderr = '';
  const stop = () => {
    if (state.stopped) return;
    state.stopped = true;
    child.kill('SIGKILL');
    // A grandchild may hold the pipe open.
    setTimeout(() => child.stdout.destroy(), KILL_MS).unref();
  };
  signal.addEventListener('abort', stop, { once: true });
  child.stdout.on('data', (bytes: Buffer) => {
    if (!state.stopped && !take(bytes)) stop();
  });
  child.stderr.on('data', (bytes: Buffer) => {
    if (stderr.length < MAX_STDERR) stderr += bytes.toString();
  });
  try {
    // Rejects with the error of a program that cannot be started.
    await once(child, 'close');
  } finally {
    signal.removeEventListener('abort', stop);
  }
  // 1: nothing found. 2 with some output: a part could not be read, e.g. a folder that is not ours.
  if (state.stopped || child.exitCode === 0 || child.exitCode === 1) return;
  if (child.exitCode === 2 && stderr === '') return;
  throw new Error(`ripgrep failed: ${stderr.trim() || `exit code ${String(child.exitCode)}`}`);
}
