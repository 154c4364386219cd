/** Longest preview of an entry or a turn, in UTF-16 units. */
export const PREVIEW_LENGTH = 200;

/** Only this much of a text is looked at for a preview. */
const LOOK_AT = 1000;

/** One line: white space folded, control and bidi characters removed, cut with an ellipsis. */
export function oneLine(text: string, max: number = PREVIEW_LENGTH): string {
  const line = text
    .slice(0, LOOK_AT)
    .replace(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= max) return text.length > 2 * line.length ? copied(line) : line;
  const cut = line.slice(0, max - 1);
  return copied(`${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`);
}

/** A part of a string keeps the whole alive in V8; this one stands alone. */
function copied(part: string): string {
  return Buffer.from(part, 'utf16le').toString('utf16le');
}

/** Longest value that `lastValue` finds. */
const VALUE_LENGTH = 100;

/**
 * The last string of a key in the bytes of JSON lines, found without parsing them; it has as many characters as `length`
 * allows, and `fits`.
 */
export function lastValue(
  bytes: Buffer,
  key: string,
  length: readonly [number, number],
  fits: (value: string) => boolean = () => true,
): string | undefined {
  const mark = `"${key}":"`;
  for (let at = bytes.lastIndexOf(mark); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(mark, at - 1)) {
    const start = at + mark.length;
    const text = bytes.toString('latin1', start, start + VALUE_LENGTH + 1);
    const end = text.indexOf('"');
    const value = text.slice(0, Math.max(0, end));
    if (end >= length[0] && end <= length[1] && fits(value)) return value;
  }
  return undefined;
}

/** Milliseconds since the epoch of an ISO time or a number of seconds or milliseconds; undefined when it is none. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === 'string') {
    const at = Date.parse(value);
    return Number.isNaN(at) ? undefined : at;
  }
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) {
    return value < 1e11 ? value * 1000 : value;
  }
  return undefined;
}

/** The value as an object to look into; undefined when it is none. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The elements of an array; none when it is no array. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Bytes as a person reads them. */
export function humanBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / (1024 * 1024)).toFixed(1)} MB`;
}
