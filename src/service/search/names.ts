import { setImmediate as nextTurn } from 'node:timers/promises';
import fuzzysort from 'fuzzysort';
import { isFiller, termsOf, writtenWithoutSpaces } from './terms.js';

const MAX_WORDS = 12;
/** Paths that are compared in one go. */
const BATCH = 4000;
/** Paths of a batch that one word of the query may bring in. */
const PER_WORD = 500;
/** From here on a match is one that a person would have meant; 1 is the same text. */
const GOOD = 0.5;
/** How much of the query a name has to answer. */
const ENOUGH = 0.3;
/** How much the file's own name counts, next to the whole path. */
const OWN_NAME = 0.6;

/**
 * Paths that fit the query by their names, best first: fuzzy, word starts and the file's own name count most. When
 * `signal` aborts, the best of those that were compared until then.
 */
export async function byNames(
  paths: readonly string[],
  query: string,
  signal: AbortSignal,
): Promise<string[]> {
  const words = wordsOf(query);
  const scores = new Map<string, number>();
  for (let from = 0; from < paths.length && words.length > 0 && !signal.aborted; from += BATCH) {
    score(paths.slice(from, from + BATCH), words, scores);
    // Other requests are answered by the same thread.
    await nextTurn();
  }
  return [...scores]
    .filter(([, value]) => value >= ENOUGH)
    .sort(([a, x], [b, y]) => y - x || a.length - b.length || (a < b ? -1 : 1))
    .map(([path]) => path);
}

function score(paths: readonly string[], words: readonly string[], scores: Map<string, number>): void {
  const names = paths.map((path) => path.slice(path.lastIndexOf('/') + 1));
  const pathTargets = fuzzysort.snapshot(paths);
  const nameTargets = fuzzysort.snapshot([...new Set(names)]);
  for (const word of words) {
    const options = { limit: PER_WORD, threshold: GOOD };
    const named = byTarget(fuzzysort.go(word, nameTargets, options));
    const whole = byTarget(fuzzysort.go(word, pathTargets, options));
    paths.forEach((path, index) => {
      const own = named.get(names[index] ?? '') ?? 0;
      const value = OWN_NAME * own + (1 - OWN_NAME) * (whole.get(path) ?? 0);
      if (value > 0) scores.set(path, (scores.get(path) ?? 0) + value / words.length);
    });
  }
}

const byTarget = (found: readonly { readonly target: string; readonly score: number }[]) =>
  new Map(found.map(({ target, score }) => [target, score] as const));

/** The words of a query as names are written: `src/list.ts` is one. */
function wordsOf(query: string): string[] {
  const words = query
    .split(/\s+/u)
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}_$.]+|[^\p{L}\p{N}_$]+$/gu, ''))
    .filter((word) => word !== '' && !isFiller(word))
    .flatMap((word) => (writtenWithoutSpaces(word) ? [...new Set(termsOf(word))] : [word]));
  return [...new Set(words)].slice(0, MAX_WORDS);
}
