import { readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';

interface Level {
  /** Path of the rules' folder relative to the root, with a slash at the end; empty for the root. */
  readonly base: string;
  /** What stands in front of a path that is relative to the root: the way down to it from the rules' folder. */
  readonly prefix: string;
  readonly rules: Ignore;
}

/** The rules that hold in a folder: its own and those above it. The nearest one that says something decides. */
export class IgnoreRules {
  private constructor(private readonly levels: readonly Level[]) {}

  /** The rules above `root` (absolute), up to the repository that it lies in. */
  static async above(root: string): Promise<IgnoreRules> {
    const repository = await repositoryOf(root);
    if (repository === undefined) return new IgnoreRules([]);
    const levels: Level[] = [];
    for (let folder = root; ; folder = dirname(folder)) {
      const prefix = folder === root ? '' : `${relative(folder, root).split(sep).join('/')}/`;
      const files = folder === repository ? [join(folder, '.git', 'info', 'exclude')] : [];
      // The root's own files are read when it is walked.
      if (folder !== root) files.push(join(folder, '.gitignore'), join(folder, '.ignore'));
      const rules = await rulesIn(files);
      // A folder that is itself ignored was chosen all the same: what is above it has no say inside.
      if (rules && (prefix === '' || !rules.ignores(prefix))) levels.unshift({ base: '', prefix, rules });
      if (folder === repository) return new IgnoreRules(levels);
    }
  }

  /** The rules of a folder below: these and its own. `path` is relative to the root, empty for the root itself. */
  async in(root: string, path: string): Promise<IgnoreRules> {
    const folder = join(root, path);
    const rules = await rulesIn([join(folder, '.gitignore'), join(folder, '.ignore')]);
    if (!rules) return this;
    const base = path === '' ? '' : `${path}/`;
    return new IgnoreRules([...this.levels, { base, prefix: '', rules }]);
  }

  /** `path` is relative to the root; that of a folder ends with a slash. */
  ignores(path: string): boolean {
    for (const { base, prefix, rules } of [...this.levels].reverse()) {
      const { ignored, unignored } = rules.test(prefix + path.slice(base.length));
      if (ignored || unignored) return ignored;
    }
    return false;
  }
}

async function repositoryOf(root: string): Promise<string | undefined> {
  for (let folder = root; ; folder = dirname(folder)) {
    if (await exists(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

async function rulesIn(files: readonly string[]): Promise<Ignore | undefined> {
  let rules: Ignore | undefined;
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) rules = (rules ?? ignore()).add(text);
  }
  return rules;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
