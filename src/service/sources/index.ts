import os from 'node:os';
import path from 'node:path';
import { claudeCode } from './claude_code/index.js';
import { codex } from './codex/index.js';
import type { Source } from './source.js';

/** The tools whose sessions are read from their own files, at the places that `env` names (`HOME`, each tool's own). */
export function createSources(env: Readonly<Record<string, string | undefined>>): Source[] {
  const home = env['HOME'] ?? env['USERPROFILE'] ?? os.homedir();
  return [
    claudeCode(path.resolve(env['CLAUDE_CONFIG_DIR'] || path.join(home, '.claude'))),
    codex(path.resolve(env['CODEX_HOME'] || path.join(home, '.codex'))),
  ];
}
