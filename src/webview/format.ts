let locale = 'en';

export function setLocale(name: string): void {
  locale = name;
}

/** Whole numbers with the language's separators. */
export const count = (value: number) => new Intl.NumberFormat(locale).format(value);

/** 41.8k rather than 41,812. */
export const short = (value: number) =>
  new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
    .format(value)
    .replace(/K$/, 'k');

/** Bytes as KB or MB. */
export function bytes(value: number): string {
  if (value < 1024) return `${count(value)} B`;
  if (value < 1024 * 1024) return `${count(Math.round(value / 1024))} KB`;
  return `${new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(value / 1024 / 1024)} MB`;
}

/** 0.1 s, 34 s, 2 m 41 s. */
export function duration(ms: number): string {
  if (ms < 10_000)
    return `${new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${String(seconds)} s`;
  return `${String(Math.floor(seconds / 60))} m ${String(seconds % 60).padStart(2, '0')} s`;
}

/** The time of day; with the day when it is not today. */
export function time(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const today = new Date().toDateString() === at.toDateString();
  return new Intl.DateTimeFormat(locale, {
    hour: '2-digit',
    minute: '2-digit',
    ...(today ? {} : { day: 'numeric', month: 'short' }),
  }).format(at);
}
