/** How fast further occurrences of a term count less, and how much a long document is held back. */
const K1 = 1.2;
const B = 0.75;
/** What a longer word with the term at its beginning counts, next to the term itself. */
const BEGINNING = 0.6;
/** From this length on a term also stands for words that begin with it. */
const MIN_BEGINNING = 3;

/** A document as its terms, each with how often it occurs. */
export interface TermCounts {
  readonly counts: ReadonlyMap<string, number>;
  /** All occurrences. */
  readonly length: number;
}

export function countTerms(terms: readonly string[]): TermCounts {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, length: terms.length };
}

/** How much a term tells that occurs in `having` of `total` documents. */
export function rarity(total: number, having: number): number {
  return Math.log(1 + (total - having + 0.5) / (having + 0.5));
}

/** How often a term occurs in a document; words that only begin with it count less. */
export function frequency(document: TermCounts, term: string): number {
  const exact = document.counts.get(term) ?? 0;
  if (term.length < MIN_BEGINNING) return exact;
  let beginnings = 0;
  for (const [word, count] of document.counts)
    if (word.length > term.length && word.startsWith(term)) beginnings += count;
  return exact + BEGINNING * beginnings;
}

/** How much each term tells, in a collection of `total` documents; those that are not among `documents` hold none. */
export function weightsOf(
  documents: readonly TermCounts[],
  terms: readonly string[],
  total = documents.length,
): ReadonlyMap<string, number> {
  const having = (term: string) => documents.filter((document) => frequency(document, term) > 0).length;
  return new Map(terms.map((term) => [term, rarity(total, having(term))]));
}

/** The Okapi BM25 score of each document; 0 for one without any term. */
export function bm25(documents: readonly TermCounts[], weights: ReadonlyMap<string, number>): number[] {
  const average = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length);
  return documents.map((document) => {
    const held = K1 * (1 - B + (B * document.length) / Math.max(1, average));
    let score = 0;
    for (const [term, weight] of weights) {
      const times = frequency(document, term);
      score += (weight * times * (K1 + 1)) / (times + held);
    }
    return score;
  });
}
