import type { pageStrings } from '../protocol/page_strings.js';

/** A text of the page, in English; `{0}` is filled in. */
export type Text = (typeof pageStrings)[number];

let translations: Readonly<Record<string, string>> = {};

export function setTranslations(strings: Readonly<Record<string, string>>): void {
  translations = strings;
}

/** The text in the person's language, with its values. */
export function t(english: Text, ...values: readonly (string | number)[]): string {
  const text = translations[english] ?? english;
  return text.replaceAll(/\{(\d)\}/g, (whole, index: string) => String(values[Number(index)] ?? whole));
}
