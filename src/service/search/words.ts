import { bm25, countTerms, frequency, rarity } from './bm25.js';
import { chunksOf, excerptOf, type Chunk, type Excerpt } from './chunks.js';
import type { Finder, Hits } from './finder.js';
import type { Place } from './place.js';
import { needles, queryTerms, termsOf } from './terms.js';

/** Files that are read to be ranked. */
const MAX_FILES = 80;
/** Further occurrences in a file count less and less. */
const SATURATION = 2;

/** A file with its best place for the words of a query. */
export interface WordResult extends Excerpt {
  readonly path: string;
  readonly score: number;
  /** Its best chunks, best first. */
  readonly chunks: readonly Chunk[];
}

/** Files that hold words of the query, best first: BM25 over chunks of the files that look best by their counts. */
export async function byWords(
  place: Place,
  finder: Finder,
  query: string,
  signal: AbortSignal,
): Promise<WordResult[]> {
  const terms = queryTerms(query);
  if (terms.length === 0) return [];
  const candidates = mostTelling(await finder.hits(needles(query), signal));
  const texts = await Promise.all(candidates.map(async (path) => ({ path, text: await place.read(path) })));
  const chunks = texts.flatMap(({ path, text }) => (text === undefined ? [] : chunksOf(path, text)));
  const documents = chunks.map(({ lines }) => countTerms(lines.flatMap(termsOf)));
  const scores = bm25(documents, terms);
  const weights = new Map(
    terms.map((term) => [
      term,
      rarity(documents.length, documents.filter((document) => frequency(document, term) > 0).length),
    ]),
  );
  const byFile = new Map<string, { chunk: Chunk; score: number }[]>();
  chunks.forEach((chunk, index) => {
    const score = scores[index] ?? 0;
    if (score > 0) byFile.set(chunk.path, [...(byFile.get(chunk.path) ?? []), { chunk, score }]);
  });
  return [...byFile]
    .flatMap(([path, found]) => {
      const sorted = found.sort((a, b) => b.score - a.score);
      const [best] = sorted;
      if (!best) return [];
      const { score } = best;
      return [{ path, score, chunks: sorted.map(({ chunk }) => chunk), ...excerptOf(best.chunk, weights) }];
    })
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

/** The files whose counts promise most: many rare needles. */
function mostTelling(hits: ReadonlyMap<string, Hits>): string[] {
  const having = new Map<string, number>();
  for (const found of hits.values())
    for (const needle of found.keys()) having.set(needle, (having.get(needle) ?? 0) + 1);
  const promise = (found: Hits) =>
    [...found].reduce(
      (sum, [needle, times]) =>
        sum + (rarity(hits.size, having.get(needle) ?? 1) * times) / (times + SATURATION),
      0,
    );
  return [...hits]
    .map(([path, found]) => ({ path, promise: promise(found) }))
    .sort((a, b) => b.promise - a.promise || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_FILES)
    .map(({ path }) => path);
}
