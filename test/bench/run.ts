// The bench: prints a table and puts it into docs/benchmarks.md. usage: npm run bench [-- --quick]
import fs from 'node:fs';
import path from 'node:path';
import { benchCorpus, transcripts } from './corpus.js';
import { packageFigures } from './package_bench.js';
import { parseWhole, rawReading } from './raw.js';
import { markdown, writeTable } from './report.js';
import { ruleFigures } from './rules_bench.js';
import { benchPlace, serviceFigures } from './service_bench.js';
import { sqliteFigures } from './sqlite_bench.js';
import { mb } from './stats.js';
import { tableOf } from './table.js';
import { buildService } from '../support/service_build.js';

const root = path.resolve(import.meta.dirname, '../..');
const STORE_FILE = 'store-v1.db';

async function main(quick: boolean): Promise<void> {
  const [sessions, hugeEntries] = quick ? [1000, 10_000] : [10_000, 100_000];
  const options = quick ? { runs: 1, samples: 100 } : { runs: 3, samples: 400 };
  const step = (text: string) => console.error(`bench: ${text}`);

  step('corpus');
  const corpus = benchCorpus(path.join(root, '.cache', 'bench'), sessions, hugeEntries);
  await buildService();
  step('plain reading of the files');
  const raw = await rawReading(transcripts(corpus.home));
  const parsed = await parseWhole(corpus.huge.file);
  const place = benchPlace(corpus.home);
  try {
    step('the service');
    const service = await serviceFigures(place, corpus, options);
    step('the rules in this process');
    const rules = await ruleFigures(place.store, place.env, corpus, options.samples);
    step('SQLite');
    const storeFile = path.join(place.store, STORE_FILE);
    const storeBytes = fs.statSync(storeFile).size;
    const sqlite = await sqliteFigures(storeFile, options.samples);
    const table = markdown(
      tableOf({ corpus, raw, parsed, service, rules, sqlite, sizes: packageFigures(root) }),
      `${String(corpus.sessions)} sessions in ${String(corpus.files)} files, ${mb(corpus.bytes)}, ` +
        `${String(corpus.entries)} entries, one session of ${String(corpus.huge.entries)}; the store has ${mb(storeBytes)}`,
    );
    console.log(table);
    if (quick) step('a quick run is not kept in docs/benchmarks.md');
    else writeTable(path.join(root, 'docs/benchmarks.md'), table);
  } finally {
    await place.dispose();
  }
}

main(process.argv.includes('--quick')).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
