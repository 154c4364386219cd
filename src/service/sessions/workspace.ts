import { execFile } from 'node:child_process';
import { opendir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import type * as z from 'zod';
import { DomainError } from '../../protocol/errors.js';
import type { WorkspaceState as WorkspaceStateSchema } from '../../protocol/aster.js';
import { folderKey } from './scope.js';

type WorkspaceState = z.infer<typeof WorkspaceStateSchema>;

const run = promisify(execFile);
const GIT_TIMEOUT_MS = 5_000;
const GIT_MAX_BYTES = 16 * 1024 * 1024;
/** Files named as changed, at most. */
const MAX_CHANGED = 500;
/** Files looked at in a folder that is no repository, and the time for it. */
const MAX_LOOKED_AT = 20_000;
const LOOK_MS = 2_000;
/** Folders with what can be made again, left out where git cannot say what is ignored. */
const leftOut = new Set([
  'node_modules',
  '.git',
  '.hg',
  '.svn',
  '__pycache__',
  '.venv',
  'target',
  'dist',
  'out',
]);

/** The command's output; undefined when git is missing, the folder is no repository or it takes too long. */
async function git(cwd: string, ...args: string[]): Promise<string | undefined> {
  try {
    const { stdout } = await run(
      'git',
      // Neither a monitor nor a hook of the repository may be started by a look at it.
      ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.quotePath=false', ...args],
      {
        cwd,
        timeout: GIT_TIMEOUT_MS,
        maxBuffer: GIT_MAX_BYTES,
        windowsHide: true,
        env: { ...process.env, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
      },
    );
    return stdout;
  } catch {
    // No repository, no git, no such folder: the state is then told without it.
    return undefined;
  }
}

/** Changed paths of `git status`, relative to the repository's root. */
function statusPaths(porcelain: string): string[] {
  const fields = porcelain.split('\0');
  const paths: string[] = [];
  for (let i = 0; i < fields.length; i += 1) {
    const field = fields[i] ?? '';
    if (field.length < 4) continue;
    paths.push(field.slice(3));
    // A rename has its old path in a field of its own.
    if (/^(R|C|.R|.C)/.test(field)) i += 1;
  }
  return paths;
}

const status = (cwd: string) => git(cwd, 'status', '--porcelain', '-z', '--untracked-files=all', '--', '.');

/**
 * What the working directory is like now. `git_head` and `dirty` only in a repository, and only if `useGit`: git runs
 * programs that a repository's configuration names, which a restricted window must not cause.
 */
export async function workspaceState(cwd: string, useGit: boolean): Promise<WorkspaceState> {
  if (!useGit) return { cwd };
  const [head, changes] = await Promise.all([git(cwd, 'rev-parse', '--verify', 'HEAD'), status(cwd)]);
  return {
    cwd,
    ...(head === undefined ? {} : { git_head: head.trim() }),
    ...(changes === undefined ? {} : { dirty: changes !== '' }),
  };
}

/**
 * Files under `cwd` that changed since `since` (ms), sorted, relative to it with `/`: uncommitted or untracked ones
 * that were written later, and those that later commits touched. Without a repository, by the time of their last
 * writing. Bounded in number and time: a hint for a person, not a record.
 */
export async function changedSince(cwd: string, since: number, useGit: boolean): Promise<string[]> {
  const root = useGit ? (await git(cwd, 'rev-parse', '--show-toplevel'))?.trim() : undefined;
  const changed = root === undefined ? await changedByTime(cwd, since) : await changedByGit(cwd, root, since);
  return [...changed].sort().slice(0, MAX_CHANGED);
}

async function changedByGit(cwd: string, root: string, since: number): Promise<Set<string>> {
  const after = new Date(since).toISOString();
  const [working, committed, base] = await Promise.all([
    status(cwd),
    git(cwd, 'log', `--since=${after}`, '--format=', '--name-only', '-z', '--', '.'),
    realpath(cwd),
  ]);
  const changed = new Set<string>();
  const inCwd = (path: string) => relative(base, join(root, path)).split(sep).join('/');
  for (const path of statusPaths(working ?? '')) {
    if (changed.size >= MAX_CHANGED) break;
    // A deleted file has no time of its own; it is named, since it is gone now.
    if ((await modifiedAt(join(root, path))) >= since) changed.add(inCwd(path));
  }
  for (const path of (committed ?? '').split('\0')) {
    const name = path.replace(/^\n+/, '');
    if (name !== '' && changed.size < MAX_CHANGED) changed.add(inCwd(name));
  }
  return changed;
}

async function modifiedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    // Deleted: that is a change whenever it happened.
    return Infinity;
  }
}

async function changedByTime(cwd: string, since: number): Promise<Set<string>> {
  const changed = new Set<string>();
  const folders = [cwd];
  const end = Date.now() + LOOK_MS;
  let looked = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for await (const item of await opendir(folder)) {
        if (item.isDirectory() && !leftOut.has(item.name)) folders.push(join(folder, item.name));
        if (!item.isFile()) continue;
        looked += 1;
        if (looked > MAX_LOOKED_AT || Date.now() > end || changed.size >= MAX_CHANGED) return changed;
        const path = join(folder, item.name);
        if ((await modifiedAt(path)) >= since) changed.add(relative(cwd, path).split(sep).join('/'));
      }
    } catch {
      // A folder that cannot be read tells of no change; the others still do.
      continue;
    }
  }
  return changed;
}

/** Throws `workspace_mismatch` naming the first part that is not as expected. Parts that were not given are not compared. */
export function checkWorkspace(expected: WorkspaceState, actual: WorkspaceState): void {
  const fail = (part: string) => {
    throw new DomainError('workspace_mismatch', `The workspace is not as expected: ${part}.`, {
      part,
      workspace: actual,
    });
  };
  if (folderKey(expected.cwd) !== folderKey(actual.cwd)) fail('cwd');
  if (expected.git_head !== undefined && expected.git_head !== actual.git_head) fail('git_head');
  if (expected.dirty !== undefined && expected.dirty !== actual.dirty) fail('dirty');
}
