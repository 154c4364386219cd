import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import * as z from 'zod';
import type initSqlJs from 'sql.js';
import { Database } from '../../../src/service/store/database.js';
import { initialise } from '../../../src/service/store/sqlite.js';
import { StorePlace } from '../../support/store_place.js';

const require = createRequire(import.meta.url);
const isInit = (value: unknown): value is typeof initSqlJs => typeof value === 'function';

describe('a build of sql.js that is not the pinned one', () => {
  let place: StorePlace;
  beforeEach(() => {
    place = new StorePlace();
    fs.mkdirSync(place.dir);
  });
  afterEach(() => place.dispose());

  it('works on the disk when its imports have their real names', async () => {
    const init: unknown = require('sql.js/dist/sql-wasm-debug.js');
    assert.ok(isInit(init));
    const wasm = fs.readFileSync(require.resolve('sql.js/dist/sql-wasm-debug.wasm'));
    const sqlite = await initialise(init, wasm);
    const database = await Database.open({ file: place.file, sqlite });
    database.script('CREATE TABLE t (v INTEGER)');
    database.run('INSERT INTO t VALUES (?)', [1_790_000_000_123]);
    assert.ok(database.files.stats.syncs > 0);
    database.close();
    // The pinned build sees what the other one wrote.
    const again = await Database.open({ file: place.file });
    assert.deepEqual(again.all(z.unknown(), 'SELECT v FROM t'), [{ v: 1_790_000_000_123 }]);
    again.close();
  });
});
