import { duration } from './format.js';

/**
 * Writes how long things have lasted into every `.tick`, by its `data-since`. They are no part of what is read out,
 * which they would fill every second, and empty in the templates, so that nothing is drawn anew.
 */
export function tick(root: ParentNode, now = Date.now()): void {
  for (const place of root.querySelectorAll<HTMLElement>('.tick')) {
    const since = Date.parse(place.dataset['since'] ?? '');
    if (Number.isNaN(since)) continue;
    const ms = Math.max(0, now - since);
    const text = duration(ms < 10_000 ? Math.round(ms / 1_000) * 1_000 : ms);
    if (place.textContent !== text) place.textContent = text;
  }
}
