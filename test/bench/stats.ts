import { performance } from 'node:perf_hooks';

/** The value below which `share` of the samples are; NaN when there are none. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export const median = (samples: readonly number[]) => quantile(samples, 0.5);

/** Runs once and says how long it took, in ms. */
export async function timed<T>(act: () => T | Promise<T>): Promise<{ ms: number; value: T }> {
  const start = performance.now();
  const value = await act();
  return { ms: performance.now() - start, value };
}

/**
 * Runs every act `times` times in turn, so that whatever else the machine does meets all of them alike. Gives the
 * milliseconds of each run, one list an act.
 */
export async function alternate(times: number, acts: readonly (() => unknown)[]): Promise<number[][]> {
  const samples: number[][] = acts.map(() => []);
  for (let n = 0; n < times; n += 1)
    for (const [index, act] of acts.entries()) {
      const { ms } = await timed(act);
      samples[index]?.push(ms);
    }
  return samples;
}

/** Milliseconds for people. */
export function ms(value: number): string {
  if (!Number.isFinite(value)) return 'n/a';
  if (value >= 1000) return `${(value / 1000).toFixed(2)} s`;
  return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ms`;
}

export const mb = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;
export const times = (ratio: number) => `${ratio.toFixed(ratio < 10 ? 1 : 0)}x`;
