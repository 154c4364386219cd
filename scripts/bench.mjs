// npm run bench [-- --quick]: sets itself up, measures on a generated corpus and writes docs/benchmarks.md.
import path from 'node:path';
import { Explained, main, npm, root, run, setup } from './setup.mjs';

/** The bench compares with better-sqlite3, whose native part the set-up leaves out. */
function nativeSqlite() {
  const check = "new (require('better-sqlite3'))(':memory:').close()";
  if (run(process.execPath, ['-e', check], { stdio: 'ignore' }) === 0) return;
  console.log('bench: npm rebuild better-sqlite3 (a native module, for comparison only)');
  if (npm(['rebuild', 'better-sqlite3', '--loglevel=error']) !== 0) {
    console.log('bench: better-sqlite3 could not be built, so its columns stay empty');
  }
}

await main(() => {
  const unknown = process.argv.slice(2).find((name) => name !== '--quick');
  if (unknown) throw new Explained(`Unknown option ${unknown}; the only one is --quick.`);
  setup();
  nativeSqlite();
  const args = ['--import', 'tsx', path.join('test', 'bench', 'run.ts'), ...process.argv.slice(2)];
  if (run(process.execPath, args) !== 0) throw new Explained('The bench failed; the messages above say why.');
});
