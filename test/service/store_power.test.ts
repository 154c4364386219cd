import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { Database } from '../../src/service/store/database.js';
import { random } from '../support/corpus_random.js';
import { StorePlace } from '../support/store_place.js';
import { DiskTrace } from '../support/store_trace.js';

const COMMITS = 120;
const LOSSES = [0, 0.1, 0.5, 1];
const NO_NATIVE = 3;
const Left = z.object({ check: z.string(), ordinals: z.array(z.number()) });
type Left = z.infer<typeof Left>;

/** What is in each of these databases: by another SQLite, or by ours where that one cannot be loaded. */
async function readBack(files: readonly string[]): Promise<Left[]> {
  const script = path.join(import.meta.dirname, '../support/store_readback.cjs');
  const { status, stdout } = spawnSync(process.execPath, [script, ...files], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  });
  if (status === NO_NATIVE) return Promise.all(files.map(readBackOurselves));
  assert.equal(status, 0);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => Left.parse(JSON.parse(line)));
}

async function readBackOurselves(file: string): Promise<Left> {
  const database = await Database.open({ file });
  try {
    const rows = database.all(
      z.object({ ordinal: z.number() }),
      'SELECT ordinal FROM entry ORDER BY ordinal',
    );
    return { check: database.check(), ordinals: rows.map(({ ordinal }) => ordinal) };
  } catch (error) {
    return { check: error instanceof Error ? error.message : String(error), ordinals: [] };
  } finally {
    database.close();
  }
}

describe('a power cut', function () {
  this.timeout(120_000);
  let place: StorePlace;
  beforeEach(() => {
    place = new StorePlace();
    fs.mkdirSync(place.dir);
  });
  afterEach(() => place.dispose());

  /** Writes in many commits, cuts the power at random moments; says how many cuts left damage, and how many a loss. */
  async function cuts(count: number, prepare: (database: Database) => void = () => undefined) {
    const trace = new DiskTrace(place.dir);
    trace.start();
    let first: number;
    try {
      const database = await Database.open({ file: place.file });
      prepare(database);
      database.script('PRAGMA wal_autocheckpoint=40');
      database.script('CREATE TABLE entry (ordinal INTEGER PRIMARY KEY, body TEXT)');
      database.script('CREATE TABLE other (body TEXT)');
      first = trace.length;
      for (let ordinal = 0; ordinal < COMMITS; ordinal += 1) {
        database.transaction(() => {
          database.run('INSERT INTO entry VALUES (?, ?)', [ordinal, 'x'.repeat(400)]);
          if (ordinal % 5 === 0) database.run('INSERT INTO other VALUES (?)', ['y'.repeat(20_000)]);
        });
        trace.acknowledge(ordinal);
        if (ordinal % 37 === 36) database.run('DELETE FROM other WHERE rowid % 3 = 0');
      }
    } finally {
      trace.stop();
    }
    const rng = random(1);
    const made = Array.from({ length: count }, (_, i) => {
      const folder = path.join(place.root, `cut-${i}`);
      fs.mkdirSync(folder);
      const at = first + Math.floor(rng() * (trace.length - first));
      const { acknowledged } = trace.cut(at, LOSSES[i % LOSSES.length]!, rng, folder);
      return { file: path.join(folder, path.basename(place.file)), acknowledged };
    });
    const left = await readBack(made.map(({ file }) => file));
    assert.equal(left.length, count);
    return {
      damaged: left.filter(({ check }) => check !== 'ok').length,
      lost: left.filter(({ ordinals }, i) => ordinals.length <= made[i]!.acknowledged).length,
      gaps: left.filter(({ ordinals }) => ordinals.some((ordinal, i) => ordinal !== i)).length,
    };
  }

  it('at any moment damages nothing and loses nothing acknowledged, as another SQLite sees it', async () => {
    assert.deepEqual(await cuts(120), { damaged: 0, lost: 0, gaps: 0 });
  });

  it('would damage a database that syncs nothing, so that this test can tell', async () => {
    const { damaged, lost } = await cuts(40, (database) => database.script('PRAGMA synchronous=OFF'));
    assert.ok(damaged + lost > 5, `${damaged} damaged, ${lost} lost`);
  });
});
