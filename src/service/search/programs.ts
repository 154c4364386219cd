import type { Finder, FinderLimits } from './finder.js';
import type { Place } from './place.js';
import { Ripgrep } from './ripgrep.js';
import { Walk } from './walk.js';

/** Whether a program works, by its path or name. */
const known = new Map<string, boolean>();

/** Runs work with the best finder at hand, and again without a program when that failed. */
export type FindWith = <T>(work: (finder: Finder) => Promise<T>) => Promise<T>;

/** `programs` are tried in their order; the first ripgrep among them that works is used. */
export async function findWith(
  place: Place,
  programs: readonly string[],
  limits: FinderLimits,
  signal: AbortSignal,
): Promise<FindWith> {
  const walk = new Walk(place, limits);
  const program = await firstThatWorks(programs, signal);
  if (program === undefined) return (work) => work(walk);
  const ripgrep = new Ripgrep(program, place, limits);
  return async (work) => {
    try {
      return await work(ripgrep);
    } catch {
      // It may have been removed by an update of the editor since it was tried.
      known.delete(program);
      return work(walk);
    }
  };
}

async function firstThatWorks(programs: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  for (const program of programs) {
    const works = known.get(program) ?? (await Ripgrep.works(program, signal));
    if (!signal.aborted) known.set(program, works);
    if (works) return program;
  }
  return undefined;
}
