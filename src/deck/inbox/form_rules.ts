import type { ChoicesField, NumberField, TextField } from './form_fields.js';

/** Whether what was typed fits a field; pure. The words are up to the caller. */
export type Misfit =
  | { readonly rule: 'required' | 'number' | 'integer' | 'pattern' }
  | { readonly rule: 'email' | 'uri' | 'date' | 'date-time' }
  | {
      readonly rule: 'minLength' | 'maxLength' | 'minimum' | 'maximum' | 'minItems' | 'maxItems';
      readonly limit: number;
    };

const isDate = (text: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text);
const formats: Readonly<Record<'email' | 'uri' | 'date' | 'date-time', (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: isDate,
  'date-time': (text) => /^\d{4}-\d{2}-\d{2}[Tt ]/.test(text) && !Number.isNaN(Date.parse(text)),
};
const isFormat = (name: string | undefined): name is keyof typeof formats =>
  name !== undefined && Object.hasOwn(formats, name);

/** A pattern that is no regular expression asks for nothing. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}

/** Letters as JSON schema counts them: code points. */
const lengthOf = (text: string) => Array.from(text).length;

/** What is wrong with a text, or undefined. An empty one is left out, if it may be. */
export function textMisfit(field: TextField, text: string): Misfit | undefined {
  if (text === '') return field.required ? { rule: 'required' } : undefined;
  const { minLength, maxLength, pattern, format } = field;
  if (minLength !== undefined && lengthOf(text) < minLength) return { rule: 'minLength', limit: minLength };
  if (maxLength !== undefined && lengthOf(text) > maxLength) return { rule: 'maxLength', limit: maxLength };
  if (isFormat(format) && !formats[format](text)) return { rule: format };
  if (pattern !== undefined && !matches(pattern, text)) return { rule: 'pattern' };
  return undefined;
}

/** What is wrong with a number as it was typed, or undefined. */
export function numberMisfit(field: NumberField, text: string): Misfit | undefined {
  const typed = text.trim();
  if (typed === '') return field.required ? { rule: 'required' } : undefined;
  const value = Number(typed);
  if (!Number.isFinite(value)) return { rule: 'number' };
  if (field.integer && !Number.isSafeInteger(value)) return { rule: 'integer' };
  const { minimum, maximum } = field;
  if (minimum !== undefined && value < minimum) return { rule: 'minimum', limit: minimum };
  if (maximum !== undefined && value > maximum) return { rule: 'maximum', limit: maximum };
  return undefined;
}

/** What is wrong with a selection of several, or undefined. */
export function choicesMisfit(field: ChoicesField, count: number): Misfit | undefined {
  if (count === 0) return field.required ? { rule: 'required' } : undefined;
  const { minItems, maxItems } = field;
  if (minItems !== undefined && count < minItems) return { rule: 'minItems', limit: minItems };
  if (maxItems !== undefined && count > maxItems) return { rule: 'maxItems', limit: maxItems };
  return undefined;
}
