import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Database } from '../../../src/service/store/database.js';
import { StoreError } from '../../../src/service/store/errors.js';
import { SCHEMA_VERSION } from '../../../src/service/store/migrations.js';
import { aSession, anEntry, mount, StorePlace } from '../../support/store_place.js';

describe('opening a store that is not as it should be', () => {
  let place: StorePlace;
  beforeEach(() => {
    place = new StorePlace();
  });
  afterEach(() => place.dispose());

  it('says that a folder has the name of its file, and gives the lock up', async () => {
    fs.mkdirSync(place.file, { recursive: true });
    await assert.rejects(place.open(), (error) => {
      assert.ok(error instanceof StoreError);
      assert.match(error.message, /store-v1\.db is a folder/);
      return true;
    });
    fs.rmdirSync(place.file);
    assert.equal((await place.open()).mode.readOnly, false);
  });

  it('says that its folder cannot be made', async () => {
    fs.writeFileSync(path.join(place.root, 'a file'), '');
    await assert.rejects(place.open(path.join(place.root, 'a file', 'store')), (error) => {
      assert.ok(error instanceof StoreError);
      assert.equal(error.code, 'store_read_only');
      assert.match(error.message, /cannot be made/);
      return true;
    });
  });

  for (const [what, bytes] of [
    ['an empty file', ''],
    ['a few bytes', 'junk'],
    ['a page of garbage', 'junk'.repeat(5000)],
  ] as const) {
    it(`puts ${what} aside and restores the backup`, async () => {
      const first = await place.open();
      first.records.putSession(aSession('one'));
      first.maintain();
      first.close();
      fs.writeFileSync(place.file, bytes);
      const store = await place.open();
      assert.match(store.mode.repaired ?? '', /the backup store-.* took its place/);
      assert.equal(store.records.sessions()[0]?.id, 'one');
    });

    it(`puts ${what} aside and begins anew without a backup`, async () => {
      fs.mkdirSync(place.dir);
      fs.writeFileSync(place.file, bytes);
      const store = await place.open();
      assert.match(store.mode.repaired ?? '', /a new one was made/);
      store.records.putSession(aSession('one'));
      const kept = fs.readdirSync(place.dir).find((name) => name.includes('damaged'));
      assert.equal(fs.readFileSync(path.join(place.dir, kept!), 'utf8'), bytes);
    });
  }

  it('changes no byte of a newer schema that is still in the log of a service that was killed', async () => {
    const from = await place.open(path.join(place.root, 'running'));
    from.records.putSession(aSession('one'));
    from.close();
    const newer = await Database.open({ file: path.join(from.dir, 'store-v1.db') });
    newer.version = SCHEMA_VERSION + 1;
    fs.mkdirSync(place.dir);
    const copies = ['store-v1.db', 'store-v1.db-wal'].map((name) => {
      const copy = path.join(place.dir, name);
      fs.copyFileSync(path.join(from.dir, name), copy);
      return { copy, bytes: fs.readFileSync(copy) };
    });
    newer.close();
    const store = await place.open();
    assert.match(store.mode.reason ?? '', /newer version/);
    assert.equal(store.records.sessions().length, 1);
    assert.throws(() => store.records.setMeta('a', 'b'), /newer version/);
    store.close();
    for (const { copy, bytes } of copies) assert.deepEqual(fs.readFileSync(copy), bytes);
    assert.ok(copies.every(({ bytes }) => bytes.length > 0));
  });

  it('tells who writes to a read-only disk why it cannot be', async function () {
    const disk = place.disk('64m');
    if (disk === undefined) return this.skip();
    const dir = path.join(disk, 'store');
    const first = await place.open(dir);
    first.records.putSession(aSession('one'));
    first.records.putEntries('one', 1, [anEntry(0)]);
    first.close();
    assert.ok(mount('-o', 'remount,ro', disk));
    const store = await place.open(dir);
    const { reason } = store.mode;
    assert.ok(reason);
    assert.throws(() => store.records.putEntries('one', 1, [anEntry(1)]), { message: reason });
    assert.throws(() => store.records.transaction(() => store.records.setMeta('a', 'b')), {
      code: 'store_read_only',
    });
    assert.equal(store.records.entries('one', 1, 0, 10).length, 1);
  });
});
