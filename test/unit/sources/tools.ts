// What the tests of the sources share.
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createSources } from '../../../src/service/sources/index.js';
import type { EntryBody, IndexedEntry, Scan, Source } from '../../../src/service/sources/source.js';

export const never = new AbortController().signal;

/** A folder that is gone afterwards. */
export async function inFolder<T>(run: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'sources-'));
  try {
    return await run(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

export function sourceOf(kind: 'claude-code' | 'codex', home = '/nowhere'): Source {
  const source = createSources({ HOME: home }).find((one) => one.kind === kind);
  if (!source) throw new Error(`no source ${kind}`);
  return source;
}

/** Renders an entry from a file, as a page does. */
export async function render(source: Source, file: string, entry: IndexedEntry): Promise<EntryBody> {
  const handle = await open(file, 'r');
  try {
    const records: Buffer[] = [];
    for (const [offset, length] of entry.ranges) {
      const bytes = Buffer.alloc(length);
      await handle.read(bytes, 0, length, offset);
      records.push(bytes);
    }
    return source.render(entry, records);
  } finally {
    await handle.close();
  }
}

export interface Read {
  readonly file: string;
  readonly scan: Scan;
  readonly bodies: readonly EntryBody[];
}

/** Writes lines (objects as JSON) to a file of the tool and reads it. */
export async function read(
  kind: 'claude-code' | 'codex',
  lines: readonly (object | string)[],
  name = kind === 'codex' ? CODEX_FILE : CLAUDE_FILE,
): Promise<Read> {
  return inFolder(async (dir) => {
    const file = path.join(dir, name);
    await writeFile(file, text(lines));
    const source = sourceOf(kind);
    const scan = await source.scan(file, 0, undefined, never);
    const bodies: EntryBody[] = [];
    for (const entry of scan.entries) bodies.push(await render(source, file, entry));
    return { file, scan, bodies };
  });
}

export const CLAUDE_FILE = '5c0f1c8e-0000-4000-8000-000000000001.jsonl';
export const CODEX_FILE = 'rollout-2026-09-20T10-00-00-0199a213-81c0-7800-8aa1-bbab2a035a01.jsonl';

export function text(lines: readonly (object | string)[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}

/** `kind: preview`, with `|` behind a boundary. */
export function outline(scan: Pick<Scan, 'entries'>): string[] {
  return scan.entries.map((entry) => `${entry.kind}: ${entry.preview}${entry.boundary ? ' |' : ''}`);
}
