import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import spawn from 'cross-spawn';

/** Between two looks at whether processes have gone, in ms. */
const LOOK_MS = 20;
/** SIGKILL cannot be refused; longer than this a process only stays when the system itself is stuck. */
const KILL_MS = 3000;

const isSystemError = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.some((code) => error.code === code);

/**
 * Sends a signal to all processes of the group that the process `pid` leads. On Windows, which has no groups, it ends
 * the process and its descendants. False when nobody is left to get it.
 */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  if (process.platform === 'win32') {
    if (!isThere(pid)) return false;
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on(
      'error',
      () => isThere(pid) && process.kill(pid),
    );
    return true;
  }
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    // ESRCH: nobody of the group is left. EPERM: only zombies of it are (macOS).
    if (isSystemError(error, 'ESRCH', 'EPERM')) return false;
    throw error;
  }
}

/** Whether the process, or with a negative number anybody of that group, is there. */
function isThere(pid: number): boolean {
  try {
    process.kill(process.platform === 'win32' ? Math.abs(pid) : pid, 0);
    return true;
  } catch (error) {
    if (isSystemError(error, 'ESRCH')) return false;
    // Somebody else's, so it is there; on macOS a group of zombies answers the same.
    if (isSystemError(error, 'EPERM')) return process.platform !== 'darwin';
    throw error;
  }
}

/** Processes that descend from one that was started here: its group, and those that left the group. */
export interface ProcessTree {
  /** The leader of the group. */
  readonly pid: number;
  /** `NAME=value` that was put into the environment; processes that left the group are found by it, on Linux. */
  readonly mark: string;
}

/** Ends a tree: SIGTERM, and SIGKILL after `termMs`. True when it was seen that nobody of it is left. */
export async function endTree(tree: ProcessTree, termMs: number): Promise<boolean> {
  await signalTree(tree, 'SIGTERM');
  if (await goneWithin(tree, termMs)) return true;
  const end = Date.now() + KILL_MS;
  // Again and again: what is being killed may still be starting others.
  do {
    await signalTree(tree, 'SIGKILL');
    if (await goneWithin(tree, 200)) return true;
  } while (Date.now() < end);
  return false;
}

/** Whether somebody of the tree is there. */
export async function isTreeThere(tree: ProcessTree): Promise<boolean> {
  return process.platform === 'linux' ? (await members(tree)).length > 0 : isThere(-tree.pid);
}

async function goneWithin(tree: ProcessTree, ms: number): Promise<boolean> {
  const end = Date.now() + ms;
  while (await isTreeThere(tree)) {
    if (Date.now() > end) return false;
    await sleep(LOOK_MS);
  }
  return true;
}

async function signalTree(tree: ProcessTree, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  signalGroup(tree.pid, signal);
  if (process.platform !== 'linux') return;
  for (const { pid, inGroup } of await members(tree))
    try {
      if (!inGroup) process.kill(pid, signal);
    } catch (error) {
      if (!isSystemError(error, 'ESRCH', 'EPERM')) throw error;
    }
}

/**
 * Who of the tree is alive, on Linux. Told by the group, and by the mark, which a child inherits whatever group or
 * session it enters. Zombies do not count: in a container nobody may ever collect them.
 */
async function members({ pid: leader, mark }: ProcessTree): Promise<{ pid: number; inGroup: boolean }[]> {
  const found: { pid: number; inGroup: boolean }[] = [];
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      // The name in parentheses may have spaces: "12 (my prog) S 1 12 …", the state, the parent, the group.
      const stat = await readFile(`/proc/${name}/stat`, 'latin1');
      const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z' || state === 'X') continue;
      const inGroup = Number(group) === leader;
      if (inGroup || (await readFile(`/proc/${name}/environ`, 'latin1')).split('\0').includes(mark))
        found.push({ pid, inGroup });
    } catch (error) {
      // Gone meanwhile, or somebody else's.
      if (!isSystemError(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) throw error;
    }
  }
  return found;
}
