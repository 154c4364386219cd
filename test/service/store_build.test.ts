import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { PINNED_WASM_SHA256 } from '../../src/service/store/import_maps.js';
import { StorePlace } from '../support/store_place.js';

const root = path.resolve(import.meta.dirname, '../..');
const wasm = path.join(root, 'node_modules/sql.js/dist/sql-wasm.wasm');

describe('the build of sql.js in a bundle', function () {
  this.timeout(60_000);
  let place: StorePlace;
  let script: string;
  before(async () => {
    place = new StorePlace();
    const folder = path.join(place.root, 'dist');
    script = path.join(folder, 'reader.js');
    await build({
      absWorkingDir: root,
      entryPoints: ['test/support/store_reader.ts'],
      outfile: script,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      mainFields: ['module', 'main'],
      logLevel: 'error',
    });
  });
  after(() => place.dispose());

  const run = (dir: string) =>
    spawnSync(process.execPath, [script, path.join(place.root, dir)], { encoding: 'utf8', timeout: 30_000 });
  const beside = () => path.join(path.dirname(script), 'sql-wasm.wasm');

  it('is the one whose imports are known', () => {
    const sha256 = createHash('sha256').update(fs.readFileSync(wasm)).digest('hex');
    assert.equal(sha256, PINNED_WASM_SHA256);
  });

  it('is found beside the script and keeps a store on the disk', () => {
    fs.copyFileSync(wasm, beside());
    const first = run('kept');
    assert.equal(first.status, 0, first.stderr);
    assert.deepEqual(JSON.parse(first.stdout), { readOnly: false, sessions: ['written'], write: 'done' });
    const file = path.join(place.root, 'kept', 'store-v1.db');
    assert.equal(fs.readFileSync(file).subarray(0, 15).toString(), 'SQLite format 3');
    assert.deepEqual(JSON.parse(run('kept').stdout), JSON.parse(first.stdout));
  });

  it('is refused when it is another one, before anything is written', () => {
    // A custom section at the end changes the bytes and nothing else.
    fs.writeFileSync(beside(), Buffer.concat([fs.readFileSync(wasm), Buffer.from([0, 2, 1, 0x78])]));
    const { status, stderr } = run('refused');
    assert.notEqual(status, 0);
    assert.match(stderr, /build of sql\.js is not known/);
    assert.ok(!fs.existsSync(path.join(place.root, 'refused', 'store-v1.db')));
  });
});
