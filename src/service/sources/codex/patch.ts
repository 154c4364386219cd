import type { FileDiff } from '../../../protocol/content.js';
import { objectOf, stringOf } from '../text.js';

/** The changes in the text of an `apply_patch` call: for each file the lines that its hunks show, before and after. */
export function patchDiffs(patch: string): FileDiff[] {
  const diffs: FileDiff[] = [];
  let file: { path: string; before: string[]; after: string[]; isNew: boolean } | undefined;
  const finish = () => {
    if (!file) return;
    const { path, before, after, isNew } = file;
    diffs.push({ path, oldText: isNew ? null : lines(before), newText: lines(after) });
    file = undefined;
  };
  for (const line of patch.split('\n')) {
    const header = /^\*\*\* (Add|Update|Delete) File: (.+?)\s*$/.exec(line);
    if (header?.[2] !== undefined) {
      finish();
      file = { path: header[2], before: [], after: [], isNew: header[1] === 'Add' };
    } else if (line.startsWith('*** Move to: ') && file) {
      file.path = line.slice('*** Move to: '.length).trim();
    } else if (line.startsWith('*** ')) {
      if (line.startsWith('*** End Patch')) finish();
    } else if (file) {
      hunkLine(line, file.before, file.after);
    }
  }
  finish();
  return diffs;
}

/** The changes that a finished patch reports: `{path: {add|delete|update}}` in either spelling. */
export function changeDiffs(changes: unknown): FileDiff[] {
  return Object.entries(objectOf(changes) ?? {}).flatMap(([path, value]): FileDiff[] => {
    const change = objectOf(value);
    const type = stringOf(change?.['type']) ?? Object.keys(change ?? {})[0];
    const body = stringOf(change?.['type']) === undefined ? objectOf(change?.[type ?? '']) : change;
    if (!body) return [];
    const content = stringOf(body['content']) ?? '';
    if (type === 'add') return [{ path, oldText: null, newText: content }];
    if (type === 'delete') return [{ path, oldText: content, newText: '' }];
    const before: string[] = [];
    const after: string[] = [];
    for (const line of (stringOf(body['unified_diff']) ?? '').split('\n')) {
      if (!line.startsWith('--- ') && !line.startsWith('+++ ')) hunkLine(line, before, after);
    }
    return [{ path: stringOf(body['move_path']) ?? path, oldText: lines(before), newText: lines(after) }];
  });
}

function hunkLine(line: string, before: string[], after: string[]): void {
  const rest = line.slice(1);
  if (line.startsWith('+')) after.push(rest);
  else if (line.startsWith('-')) before.push(rest);
  else if (line.startsWith(' ')) {
    before.push(rest);
    after.push(rest);
  }
}

function lines(all: readonly string[]): string {
  return all.length === 0 ? '' : `${all.join('\n')}\n`;
}
