import { termsOf } from './terms.js';

const LINES = 20;
/** Longer lines are no text that a person wrote; only their beginning counts. In characters. */
const MAX_LINE = 1000;
const MAX_SNIPPET_LINES = 3;
export const MAX_SNIPPET = 240;

/** Control and bidirectional characters: they move text about or hide it. */
const unwanted = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/gu;

/** Some lines of a file. */
export interface Chunk {
  readonly path: string;
  /** 1-based number of its first line. */
  readonly line: number;
  readonly lines: readonly string[];
}

/** A text in chunks of some lines. */
export function chunksOf(path: string, text: string): Chunk[] {
  const lines = text.split(/\r?\n/u).map((line) => line.slice(0, MAX_LINE));
  const chunks: Chunk[] = [];
  for (let from = 0; from < lines.length; from += LINES) {
    const part = lines.slice(from, from + LINES);
    if (part.some((line) => line.trim() !== '')) chunks.push({ path, line: from + 1, lines: part });
  }
  return chunks;
}

/** The place in a chunk that a person is shown. */
export interface Excerpt {
  /** 1-based. */
  readonly line: number;
  readonly snippet: string;
}

/** The line of a chunk that says most, by the weights of its terms, and what follows it. */
export function excerptOf(chunk: Chunk, weights: ReadonlyMap<string, number>): Excerpt {
  let best = 0;
  let bestWeight = -1;
  chunk.lines.forEach((line, index) => {
    const words = new Set(termsOf(line));
    let weight = 0;
    for (const [term, value] of weights)
      if (words.has(term)) weight += value;
      else if ([...words].some((one) => one.startsWith(term))) weight += value / 2;
    if (weight > bestWeight && line.trim() !== '') [best, bestWeight] = [index, weight];
  });
  const terms = [...weights.keys()];
  return { line: chunk.line + best, snippet: snippetOf(chunk.lines.slice(best), terms) };
}

/** One to three lines, without those that are blank, around the first of the terms where a line is long. */
export function snippetOf(lines: readonly string[], terms: readonly string[] = []): string {
  const kept: string[] = [];
  let room = MAX_SNIPPET;
  for (const line of lines) {
    const text = line.replaceAll(unwanted, ' ').replaceAll(/\s+/gu, ' ').trim();
    if (text === '') continue;
    if (kept.length > 0 && text.length + 1 > room) break;
    const shown = kept.length === 0 ? around(text, terms) : text;
    kept.push(shown);
    room -= shown.length + 1;
    if (kept.length === MAX_SNIPPET_LINES) break;
  }
  return kept.join('\n');
}

/** At most so many characters of a line, with the first term in it. Never half of a character. */
function around(text: string, terms: readonly string[]): string {
  if (text.length <= MAX_SNIPPET) return text;
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const from = Math.max(0, Math.min(first - MAX_SNIPPET / 4, text.length - MAX_SNIPPET + 2));
  const inner = text.slice(from, from + MAX_SNIPPET - 2).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/gu, '');
  return `${from > 0 ? '…' : ''}${inner}${from + MAX_SNIPPET - 2 < text.length ? '…' : ''}`;
}
