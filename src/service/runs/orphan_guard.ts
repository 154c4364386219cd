import { spawn, type ChildProcess } from 'node:child_process';
import type { Log } from '../log.js';

/** Reads `+ PID` and `- PID`; when its input ends, the groups that are left are killed. */
const SCRIPT = `
trap '' INT TERM HUP
groups=
while read -r sign pid; do
  if [ "$sign" = + ]; then groups="$groups $pid"
  else
    kept=
    for one in $groups; do [ "$one" = "$pid" ] || kept="$kept $one"; done
    groups=$kept
  fi
done
for one in $groups; do kill -KILL "-$one" 2>/dev/null; done
`;

/**
 * Kills process groups when the service itself is killed and cannot do so: a small shell that notices because its input
 * ends. There is none on Windows.
 */
export class OrphanGuard {
  private child: ChildProcess | undefined;
  private readonly groups = new Set<number>();

  constructor(private readonly log: Log) {}

  add(pid: number): void {
    this.groups.add(pid);
    if (this.child) this.tell(`+ ${String(pid)}`);
    else this.start();
  }

  remove(pid: number): void {
    if (!this.groups.delete(pid)) return;
    this.tell(`- ${String(pid)}`);
    // It would otherwise be one more process for as long as the service runs.
    if (this.groups.size === 0) this.child?.stdin?.end();
    if (this.groups.size === 0) this.child = undefined;
  }

  private start(): void {
    if (process.platform === 'win32') return;
    const child = spawn('/bin/sh', ['-c', SCRIPT], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      cwd: '/',
    });
    this.child = child;
    child.stdin.on('error', () => undefined);
    child.once('error', (error) => this.log.warn('commands are not guarded against a kill', error));
    child.once('exit', () => {
      if (this.child === child) this.child = undefined;
    });
    child.unref();
    for (const pid of this.groups) this.tell(`+ ${String(pid)}`);
  }

  private tell(line: string): void {
    if (this.child?.stdin?.writable === true) this.child.stdin.write(`${line}\n`);
  }
}
