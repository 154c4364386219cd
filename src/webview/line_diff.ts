import { diffWordsWithSpace, structuredPatch } from 'diff';
import type { FileDiff } from '../protocol/content.js';

export interface DiffLine {
  readonly kind: 'same' | 'add' | 'del' | 'hunk';
  /** 1-based line numbers before and after; absent where the line is not. */
  readonly before?: number;
  readonly after?: number;
  readonly text: string;
  /** The text in parts, where some words of a changed line are the change. */
  readonly words?: readonly { readonly text: string; readonly changed: boolean }[];
}

export interface LineDiff {
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
}

const CONTEXT = 3;
/** A comparison that takes longer is not worth the wait: then everything counts as changed. */
const TIMEOUT_MS = 200;

const cache = new WeakMap<FileDiff, LineDiff>();

/** The change of a file line by line, with some lines around each place. */
export function lineDiff(diff: FileDiff): LineDiff {
  const known = cache.get(diff);
  if (known) return known;
  const made = compare(diff.oldText ?? '', diff.newText);
  cache.set(diff, made);
  return made;
}

function compare(before: string, after: string): LineDiff {
  const patch = structuredPatch('', '', before, after, '', '', { context: CONTEXT, timeout: TIMEOUT_MS });
  if (!patch) return { lines: [], added: after.split('\n').length, removed: before.split('\n').length };
  const lines: DiffLine[] = [];
  let added = 0;
  let removed = 0;
  for (const [index, hunk] of patch.hunks.entries()) {
    if (index > 0) lines.push({ kind: 'hunk', text: '⋯' });
    let { oldStart: old, newStart: fresh } = hunk;
    for (const line of hunk.lines) {
      const text = line.slice(1);
      if (line.startsWith('+')) {
        lines.push({ kind: 'add', after: fresh, text });
        fresh += 1;
        added += 1;
      } else if (line.startsWith('-')) {
        lines.push({ kind: 'del', before: old, text });
        old += 1;
        removed += 1;
      } else if (line.startsWith(' ')) {
        lines.push({ kind: 'same', before: old, after: fresh, text });
        old += 1;
        fresh += 1;
      }
    }
  }
  return { lines: withWords(lines), added, removed };
}

/** Longest line whose words are compared. */
const MAX_WORDS = 400;

/** Marks the words that changed where as many lines came as went. */
function withWords(lines: readonly DiffLine[]): DiffLine[] {
  const made = [...lines];
  for (let start = 0; start < made.length;) {
    let middle = start;
    while (made[middle]?.kind === 'del') middle += 1;
    let end = middle;
    while (made[end]?.kind === 'add') end += 1;
    const pairs = Math.min(middle - start, end - middle);
    for (let index = 0; index < pairs; index += 1) markPair(made, start + index, middle + index);
    start = Math.max(end, start + 1);
  }
  return made;
}

function markPair(lines: DiffLine[], before: number, after: number): void {
  const old = lines[before];
  const fresh = lines[after];
  if (!old || !fresh || old.text.length > MAX_WORDS || fresh.text.length > MAX_WORDS) return;
  const parts = diffWordsWithSpace(old.text, fresh.text);
  const same = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0);
  // Lines that share little are not versions of each other.
  if (same * 2.5 < Math.max(old.text.trim().length, fresh.text.trim().length)) return;
  const side = (other: 'added' | 'removed', own: 'added' | 'removed') =>
    parts.filter((part) => !part[other]).map((part) => ({ text: part.value, changed: part[own] }));
  lines[before] = { ...old, words: side('added', 'removed') };
  lines[after] = { ...fresh, words: side('removed', 'added') };
}
