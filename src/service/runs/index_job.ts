import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceJobs } from './tasks.js';

/** Reading that takes no longer than this is not worth showing, in ms. */
const SHORT_MS = 1000;

/** Shows the reading of transcripts, which goes on until `over`, as a job of the service. `over` must not reject. */
export function showIndexing(jobs: ServiceJobs, over: Promise<void>, shortMs = SHORT_MS): void {
  void (async () => {
    const isShort = await Promise.race([over.then(() => true), sleep(shortMs, false, { ref: false })]);
    if (!isShort) await jobs.run('Read the transcripts on disk', undefined, () => over);
  })();
}
