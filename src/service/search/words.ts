import { setImmediate as nextTurn } from 'node:timers/promises';
import { bm25, weightsOf, countTerms, rarity, type TermCounts } from './bm25.js';
import { chunksOf, excerptOf, type Chunk, type Excerpt } from './chunks.js';
import type { Finder, Hits } from './finder.js';
import type { Place } from './place.js';
import { needles, queryTerms, termsOf } from './terms.js';

/** Files that are read to be ranked. */
const MAX_FILES = 80;
const MAX_RESULTS = 40;
/** Further occurrences in a file count less and less. */
const SATURATION = 2;

/** A file with its best place for the words of a query. */
export interface WordResult extends Excerpt {
  readonly path: string;
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
  const wanted = needles(query);
  let total = 0;
  const found: { chunk: Chunk; document: TermCounts }[] = [];
  for (const path of mostTelling(await finder.hits(wanted, signal))) {
    const chunks = chunksOf(path, (await place.read(path)) ?? '');
    total += chunks.length;
    for (const chunk of chunks.filter((one) => holdsAny(one, wanted)))
      found.push({ chunk, document: countTerms(chunk.lines.flatMap(termsOf)) });
    // Other requests are answered by the same thread.
    await nextTurn();
    if (signal.aborted) break;
  }
  const documents = found.map(({ document }) => document);
  const weights = weightsOf(documents, terms, total);
  const scores = bm25(documents, weights);
  const byFile = new Map<string, { chunk: Chunk; score: number }[]>();
  found.forEach(({ chunk }, index) => {
    const score = scores[index] ?? 0;
    if (score > 0) byFile.set(chunk.path, [...(byFile.get(chunk.path) ?? []), { chunk, score }]);
  });
  return [...byFile]
    .flatMap(([path, chunks]) => {
      const sorted = chunks.sort((a, b) => b.score - a.score);
      return sorted[0] ? [{ path, best: sorted[0], chunks: sorted.map(({ chunk }) => chunk) }] : [];
    })
    .sort((a, b) => b.best.score - a.best.score || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_RESULTS)
    .map(({ path, best, chunks }) => ({ path, chunks, ...excerptOf(best.chunk, weights) }));
}

function holdsAny({ lines }: Chunk, wanted: readonly string[]): boolean {
  const text = lines.join('\n').toLowerCase();
  return wanted.some((needle) => text.includes(needle));
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
