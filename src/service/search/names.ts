import fuzzysort from 'fuzzysort';
import { isFiller, termsOf, writtenWithoutSpaces } from './terms.js';

const MAX_WORDS = 12;
/** Paths that one word of the query is compared with further. */
const PER_WORD = 500;
/** From here on a match is one that a person would have meant; 1 is the same text. */
const GOOD = 0.5;
/** How much of the query a name has to answer. */
const ENOUGH = 0.3;
/** How much the file's own name counts, next to the whole path. */
const OWN_NAME = 0.6;

/** Paths that fit the query by their names, best first: fuzzy, word starts and the file's own name count most. */
export function byNames(paths: readonly string[], query: string): string[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  const names = paths.map((path) => path.slice(path.lastIndexOf('/') + 1));
  const pathTargets = fuzzysort.snapshot(paths);
  const nameTargets = fuzzysort.snapshot([...new Set(names)]);
  const scores = new Map<string, number>();
  for (const word of words) {
    const options = { limit: PER_WORD, threshold: GOOD };
    const named = new Map(
      fuzzysort.go(word, nameTargets, options).map(({ target, score }) => [target, score] as const),
    );
    const whole = new Map(
      fuzzysort.go(word, pathTargets, options).map(({ target, score }) => [target, score] as const),
    );
    paths.forEach((path, index) => {
      const score = OWN_NAME * (named.get(names[index] ?? '') ?? 0) + (1 - OWN_NAME) * (whole.get(path) ?? 0);
      if (score > 0) scores.set(path, (scores.get(path) ?? 0) + score / words.length);
    });
  }
  return [...scores]
    .filter(([, score]) => score >= ENOUGH)
    .sort(([a, x], [b, y]) => y - x || a.length - b.length || (a < b ? -1 : 1))
    .map(([path]) => path);
}

/** The words of a query as names are written: `src/list.ts` is one. */
function wordsOf(query: string): string[] {
  const words = query
    .split(/\s+/u)
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}_$.]+|[^\p{L}\p{N}_$]+$/gu, ''))
    .filter((word) => word !== '' && !isFiller(word))
    .flatMap((word) => (writtenWithoutSpaces(word) ? [...new Set(termsOf(word))] : [word]));
  return [...new Set(words)].slice(0, MAX_WORDS);
}
