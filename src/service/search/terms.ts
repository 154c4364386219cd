/** Longest list of terms of one query. */
const MAX_TERMS = 32;
/** Words that say nothing about what is looked for; left out unless there is nothing else. */
const fillers = new Set(
  (
    'a an and are as at be by can do does for from get has have how i in is it its of on or that the there this to ' +
    'was we what when where which who why will with you'
  ).split(' '),
);

const word = /[\p{L}\p{M}\p{N}_$]+/gu;
/** Scripts that are written without spaces between words. */
const unspaced =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー々]+/gu;
const part = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}[\p{Ll}\p{M}]*|\p{Lu}+|\p{N}+|\p{Lo}[\p{Lo}\p{M}]*/gu;

/** Text of an unspaced script as pairs of neighbours, the way words of two characters are found in it. */
function pairs(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => (characters[index] ?? '') + character);
}

/** A word as it is, and an identifier also by its parts: `fooBar` is foobar, foo, bar; so is `foo_bar`. */
function identifier(text: string): string[] {
  const whole = text.replaceAll(/[_$]+/gu, '').toLowerCase();
  if (whole === '') return [];
  const parts = [...text.matchAll(part)].map(([found]) => found.toLowerCase());
  return parts.length > 1 ? [whole, ...parts] : [whole];
}

/** Whether a word says nothing about what is looked for. */
export const isFiller = (text: string) => fillers.has(text.toLowerCase());

/** Whether the text is of a script that puts no spaces between words. */
export const writtenWithoutSpaces = (text: string) => text.search(unspaced) >= 0;

/** All terms of a text, in order, repetitions included: what a document consists of for the ranking. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const [found] of text.matchAll(word)) {
    const rest = found.replaceAll(unspaced, (run) => {
      terms.push(...pairs(run));
      return ' ';
    });
    for (const piece of rest.split(' ')) terms.push(...identifier(piece));
  }
  return terms;
}

/** The terms of a query, each once, fillers left out. Empty when it has no words. */
export function queryTerms(query: string): string[] {
  const all = [...new Set(termsOf(query))];
  const telling = all.filter((term) => !isFiller(term) && (term.length > 1 || /[^\p{ASCII}]/u.test(term)));
  return (telling.length > 0 ? telling : all).slice(0, MAX_TERMS);
}

/**
 * What to look for in files so that every one that can hold a term is found: the terms, and identifiers also as they
 * are written in the query, since `foo_bar` holds no `foobar`. Longest first.
 */
export function needles(query: string): string[] {
  const written = [...query.matchAll(word)].map(([found]) => found.toLowerCase());
  const terms = queryTerms(query);
  const wanted = [...terms, ...written.filter((text) => text.includes('_') && !terms.includes(text))];
  return [...new Set(wanted)].slice(0, 2 * MAX_TERMS).sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
}
