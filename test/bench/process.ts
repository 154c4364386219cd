import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/** Bytes in memory of a process now, and at most so far (NaN where the system does not tell). */
export function memoryOf(pid: number): { now: number; peak: number } {
  const file = `/proc/${String(pid)}/status`;
  if (fs.existsSync(file)) {
    const text = fs.readFileSync(file, 'utf8');
    const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) * 1024;
    return { now: kib('VmRSS'), peak: kib('VmHWM') };
  }
  if (process.platform === 'win32') return { now: NaN, peak: NaN };
  const rss = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return { now: Number(rss) * 1024, peak: NaN };
}
