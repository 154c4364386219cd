import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A heap below this is left alone: a collection makes requests wait for tens of milliseconds. */
const WORTH_BYTES = 96 * 1024 * 1024;
/** Longer than an idle scan worker lives. */
const WAIT_MS = 6_000;

/**
 * Gives memory back once work that made much garbage has ended: without allocations V8 would keep it for as long as the
 * process is idle.
 */
export class GarbageCollection {
  private timer: NodeJS.Timeout | undefined;

  /** Call it at the end of work; it collects when no further call comes for some seconds. */
  soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (process.memoryUsage().heapTotal > WORTH_BYTES) collect();
    }, WAIT_MS);
    this.timer.unref();
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  // Only a context that is made after the flag was set has it.
  runInNewContext('gc()');
}
