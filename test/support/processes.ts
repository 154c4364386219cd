import { readFileSync } from 'node:fs';
import { isAlive } from './service.js';

/** Whether a process is there and has not ended; one that nobody has collected yet (a zombie) has. */
export function isRunning(pid: number): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // It went while it was looked at.
    return false;
  }
}
