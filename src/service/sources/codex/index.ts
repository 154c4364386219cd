import path from 'node:path';
import { runScan } from '../run_scan.js';
import type { Source } from '../source.js';
import { discoverCodex } from './discover.js';
import { headOfCodex } from './head.js';
import { Names } from './names.js';
import { renderCodex } from './render.js';
import { CodexIndexer } from './scan.js';

/**
 * Sessions of Codex: `<home>/sessions/YYYY/MM/DD/rollout-*.jsonl` and `<home>/archived_sessions`.
 * @param home the tool's own folder, by default `~/.codex`.
 */
export function codex(home: string): Source {
  const roots = [path.join(home, 'sessions'), path.join(home, 'archived_sessions')];
  const names = new Names(path.join(home, 'session_index.jsonl'));
  return {
    kind: 'codex',
    title: 'Codex',
    roots: () => [...roots],
    async *discover(signal) {
      for (const root of roots) yield* discoverCodex(root, signal);
    },
    head: (file) => headOfCodex(file, names),
    scan: (file, from, state, signal) =>
      file.endsWith('.zst')
        ? Promise.reject(new Error('Codex has compressed this session'))
        : runScan(file, from, state, signal, (inner) => CodexIndexer.make(file, inner)),
    render: renderCodex,
    belongings: (file) => Promise.resolve([file]),
  };
}
