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

/** The Okapi BM25 score of each document for the terms of a query; 0 for one without any. */
export function bm25(documents: readonly TermCounts[], terms: readonly string[]): number[] {
  const average = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length);
  const scores = documents.map(() => 0);
  for (const term of terms) {
    const frequencies = documents.map((document) => frequency(document, term));
    const weight = rarity(documents.length, frequencies.filter((times) => times > 0).length);
    documents.forEach(({ length }, index) => {
      const times = frequencies[index] ?? 0;
      const held = K1 * (1 - B + (B * length) / Math.max(1, average));
      scores[index] = (scores[index] ?? 0) + (weight * times * (K1 + 1)) / (times + held);
    });
  }
  return scores;
}
