import { structuredPatch } from 'diff';
import type { FileDiff } from '../protocol/content.js';

export interface DiffLine {
  readonly kind: 'same' | 'add' | 'del' | 'hunk';
  /** 1-based line numbers before and after; absent where the line is not. */
  readonly before?: number;
  readonly after?: number;
  readonly text: string;
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
  return { lines, added, removed };
}
