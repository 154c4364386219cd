/** How times and counts are written; pure, so that it is tested without an editor. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `now`, `4 min`, `3 h`, `2 d`, then the date. Short: it stands behind a title. */
export function relativeTime(iso: string, now: number, locale: string): string {
  const at = Date.parse(iso);
  const age = now - at;
  const unit = (value: number, name: 'minute' | 'hour' | 'day') =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'short' }).format(value);
  if (age < MINUTE) return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(0, 'second');
  if (age < HOUR) return unit(Math.floor(age / MINUTE), 'minute');
  if (age < DAY) return unit(Math.floor(age / HOUR), 'hour');
  if (age < 7 * DAY) return unit(Math.floor(age / DAY), 'day');
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    ...(sameYear ? {} : { year: 'numeric' }),
  }).format(at);
}

/** One line without control and bidi characters, which could make a title look like something else. */
export function plainLine(text: string): string {
  return text
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const segmenter = new Intl.Segmenter();

/** A text of at most so many letters, as a person counts them; what is cut off is marked. */
export function shorten(text: string, letters: number): string {
  const all = Array.from(segmenter.segment(text), ({ segment }) => segment);
  if (all.length <= letters) return text;
  const kept = all.slice(0, letters - 1).join('');
  return `${kept.trimEnd()}…`;
}

/** Text as it is, in a markdown that would read signs as markup. */
export function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]()#+\-.!|<>~$&:]/g, String.raw`\$&`);
}

/** Text for a notification, where `[text](target)` would become a link. */
export function withoutLinks(text: string): string {
  return text.replaceAll('](', '] (');
}

/** `4 s`, `3 min`, `2 h 5 min`: how long something took or has been going on. */
export function duration(ms: number, locale: string): string {
  const unit = (value: number, name: 'second' | 'minute' | 'hour') =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'short' }).format(value);
  if (ms < MINUTE) return unit(Math.max(0, Math.floor(ms / 1_000)), 'second');
  if (ms < HOUR) return unit(Math.floor(ms / MINUTE), 'minute');
  const minutes = Math.floor((ms % HOUR) / MINUTE);
  const hours = unit(Math.floor(ms / HOUR), 'hour');
  return minutes === 0 ? hours : `${hours} ${unit(minutes, 'minute')}`;
}
