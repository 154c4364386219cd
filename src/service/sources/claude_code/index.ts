import { stat } from 'node:fs/promises';
import path from 'node:path';
import { problemOf } from '../found.js';
import { runScan } from '../run_scan.js';
import type { Source } from '../source.js';
import { discoverClaude } from './discover.js';
import { folderOfSession, headOfClaude } from './head.js';
import { renderClaude } from './render.js';
import { ClaudeIndexer } from './scan.js';

/**
 * Sessions of Claude Code: `<home>/projects/<folder>/<session>.jsonl`.
 * @param home the tool's own folder, by default `~/.claude`.
 */
export function claudeCode(home: string): Source {
  const projects = path.join(home, 'projects');
  return {
    kind: 'claude-code',
    title: 'Claude Code',
    roots: () => [projects],
    discover: (signal) => discoverClaude(projects, signal),
    head: headOfClaude,
    scan: (file, from, state, signal) =>
      runScan(file, from, state, signal, (inner) => ClaudeIndexer.make(file, inner)),
    render: renderClaude,
    async belongings(file) {
      const folder = folderOfSession(file);
      return (await isFolder(folder)) ? [file, folder] : [file];
    },
  };
}

async function isFolder(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory();
  } catch (error) {
    if (problemOf(error) === undefined) return false;
    throw error;
  }
}
