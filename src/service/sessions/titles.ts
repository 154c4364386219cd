import { DomainError } from '../../protocol/errors.js';
import { AUTO_TITLE_LENGTH, MAX_TITLE_LENGTH } from '../../protocol/session.js';

/** Control, bidirectional and zero-width format characters: they move text about or hide it. Joiners of emoji stay. */
const unwanted = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]+/gu;

/** Text on one line without characters that hide or reorder others. */
export function oneLine(text: string): string {
  return text.replace(unwanted, ' ').replace(/\s+/gu, ' ').trim();
}

const segmenter = new Intl.Segmenter();

/** At most `length` characters as a person counts them, with an ellipsis in the last place when it was longer. */
export function shorten(text: string, length: number): string {
  // No grapheme is shorter than one code unit.
  if (text.length <= length) return text;
  const graphemes: string[] = [];
  // A grapheme may have many code units; this much of a long text surely holds enough of them.
  for (const { segment } of segmenter.segment(text.slice(0, length * 32))) {
    graphemes.push(segment);
    if (graphemes.length > length)
      return `${graphemes
        .slice(0, length - 1)
        .join('')
        .trimEnd()}…`;
  }
  return graphemes.join('');
}

/** A title made from a prompt; undefined when the prompt has no visible text. */
export function titleFromPrompt(prompt: string): string | undefined {
  const line = oneLine(prompt.slice(0, 10_000));
  return line === '' ? undefined : shorten(line, AUTO_TITLE_LENGTH);
}

/** A title as a person sets it. Throws `invalid_params` when it is blank or too long. */
export function titleFromPerson(title: string): string {
  const line = oneLine(title);
  if (line === '') throw new DomainError('invalid_params', 'title is blank.', { field: 'title' });
  if (shorten(line, MAX_TITLE_LENGTH) !== line)
    throw new DomainError('invalid_params', `title is longer than ${String(MAX_TITLE_LENGTH)} characters.`, {
      field: 'title',
    });
  return line;
}

/** Text for searching: compatibility forms, accents and case folded away. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
}
