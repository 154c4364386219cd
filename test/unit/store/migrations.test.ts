import assert from 'node:assert/strict';
import fs from 'node:fs';
import * as z from 'zod';
import { Database } from '../../../src/service/store/database.js';
import { migrate } from '../../../src/service/store/migrations.js';
import { StorePlace } from '../../support/store_place.js';

describe('migrations of the store', () => {
  let place: StorePlace;
  let database: Database;
  beforeEach(async () => {
    place = new StorePlace();
    fs.mkdirSync(place.dir);
    database = await Database.open({ file: place.file });
  });
  afterEach(() => {
    database.close();
    place.dispose();
  });

  const never = () => assert.fail('no backup is needed');
  const tables = () =>
    database
      .all(
        z.object({ name: z.string() }),
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
      )
      .map(({ name }) => name);
  const one = ['CREATE TABLE a (v)'];

  it('bring an empty file to the newest schema without a backup, once', () => {
    migrate(database, never);
    const { version } = database;
    assert.ok(version > 0 && tables().includes('entry'));
    migrate(database, never);
    assert.equal(database.version, version);
  });

  it('run the missing steps in order, after a backup of what was there', () => {
    migrate(database, never, one);
    let seen: string[] = [];
    migrate(database, () => (seen = tables()), [...one, 'CREATE TABLE b (v)', 'ALTER TABLE b RENAME TO c']);
    assert.deepEqual(seen, ['a']);
    assert.deepEqual(tables(), ['a', 'c']);
    assert.equal(database.version, 3);
  });

  it('leave all as it was when a step fails', () => {
    migrate(database, never, one);
    assert.throws(() =>
      migrate(database, () => undefined, [
        ...one,
        'CREATE TABLE b (v); INSERT INTO a VALUES (1)',
        'NONSENSE',
      ]),
    );
    assert.deepEqual(tables(), ['a']);
    assert.equal(database.version, 1);
    assert.deepEqual(database.all(z.unknown(), 'SELECT * FROM a'), []);
  });

  it('do nothing when the backup fails', () => {
    migrate(database, never, one);
    const full = new Error('the disk is full');
    const fail = () => {
      throw full;
    };
    assert.throws(() => migrate(database, fail, [...one, 'CREATE TABLE b (v)']), full);
    assert.deepEqual(tables(), ['a']);
  });

  it('refuse a schema of a newer version', () => {
    migrate(database, never, [...one, 'CREATE TABLE b (v)']);
    assert.throws(() => migrate(database, never, one), { name: 'StoreNewerError', found: 2, known: 1 });
    assert.equal(database.version, 2);
  });
});
