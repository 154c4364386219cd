import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Database } from '../../../src/service/store/database.js';
import { aSession, anEntry, StorePlace } from '../../support/store_place.js';

const MB = 1024 * 1024;

describe('a store on a full disk', function () {
  this.timeout(60_000);
  let place: StorePlace;
  beforeEach(() => {
    place = new StorePlace();
  });
  afterEach(() => place.dispose());

  /** Appends until the disk is full; returns how many entries were acknowledged. */
  function appendUntilFull(store: Awaited<ReturnType<StorePlace['open']>>): number {
    for (let ordinal = store.records.entries('one', 1, 0, 1_000_000).length; ; ordinal += 1) {
      try {
        store.records.transaction(() => {
          store.records.putEntries('one', 1, [anEntry(ordinal, 'x'.repeat(50_000))]);
          store.records.putSession(aSession('one', { entryCount: ordinal + 1 }));
        });
      } catch (error) {
        assert.ok(error instanceof Error && 'code' in error);
        assert.equal(error.code, 'store_full');
        return ordinal;
      }
    }
  }
  /** Takes all that is left of a disk. */
  function fill(disk: string): void {
    const fd = fs.openSync(path.join(disk, 'filler'), 'a');
    try {
      for (const size of [MB, 4096]) {
        let written: number;
        do written = tryWrite(fd, size);
        while (written === size);
      }
    } finally {
      fs.closeSync(fd);
    }
  }
  function tryWrite(fd: number, size: number): number {
    try {
      return fs.writeSync(fd, Buffer.alloc(size, 1));
    } catch {
      return 0;
    }
  }

  it('keeps what was acknowledged, reads on, and writes again once there is room', async function () {
    const disk = place.disk('12m');
    if (disk === undefined) return this.skip();
    const dir = path.join(disk, 'store');
    const store = await place.open(dir);
    store.records.putSession(aSession('one'));
    const count = appendUntilFull(store);
    assert.ok(count > 10);
    const state = () => [
      store.records.sessions()[0]?.entryCount,
      store.records.entries('one', 1, 0, 1_000_000).length,
    ];
    assert.deepEqual(state(), [count, count]);
    fs.writeFileSync(path.join(disk, 'note'), '');
    place.resize(disk, '24m');
    store.records.transaction(() => {
      store.records.putEntries('one', 1, [anEntry(count)]);
      store.records.putSession(aSession('one', { entryCount: count + 1 }));
    });
    assert.deepEqual(state(), [count + 1, count + 1]);
    store.close();
    const again = await place.open(dir);
    assert.equal(again.records.entries('one', 1, 0, 1_000_000).length, count + 1);
  });

  it('deletes with the room that was kept for it', async function () {
    const disk = place.disk('200m');
    if (disk === undefined) return this.skip();
    const dir = path.join(disk, 'store');
    const store = await place.open(dir);
    assert.ok(fs.statSync(path.join(dir, 'ballast')).size >= 16 * MB);
    store.records.putSession(aSession('one'));
    for (let i = 0; i < 40; i += 1) store.records.putEntries('one', 1, [anEntry(i, 'x'.repeat(50_000))]);
    fill(disk);
    appendUntilFull(store);
    assert.equal(store.freeBallast(), true);
    await store.records.removeSession('one');
    assert.deepEqual(store.records.sessions(), []);
    assert.equal(store.freeBallast(), false);
  });

  // The lock, the self-test, the log and the mark each need some room; every one of them may be what fails.
  for (const left of [0, 4, 8, 16])
    it(`is opened for writing with the room that was kept when ${left} KB are left, and does not keep it again`, async function () {
      const disk = place.disk('200m');
      if (disk === undefined) return this.skip();
      const dir = path.join(disk, 'store');
      const first = await place.open(dir);
      first.records.putSession(aSession('one'));
      first.close();
      fill(disk);
      const filler = path.join(disk, 'filler');
      fs.truncateSync(filler, fs.statSync(filler).size - left * 1024);
      const store = await place.open(dir);
      assert.deepEqual(store.mode, { readOnly: false });
      store.records.putSession(aSession('two'));
      assert.equal(fs.existsSync(path.join(dir, 'ballast')), false);
      store.close();
    });

  it('is opened for reading when there was no room kept, and says why', async function () {
    const disk = place.disk('4m');
    if (disk === undefined) return this.skip();
    const dir = path.join(disk, 'store');
    const first = await place.open(dir);
    first.records.putSession(aSession('one'));
    first.close();
    fill(disk);
    const store = await place.open(dir);
    assert.equal(store.mode.readOnly, true);
    assert.match(store.mode.reason ?? '', /full/);
    assert.equal(store.records.sessions().length, 1);
    assert.throws(() => store.records.putSession(aSession('two')), { code: /store_full|store_read_only/ });
    store.close();
  });

  it('undoes the whole transaction when the disk answers that it is full', async () => {
    fs.mkdirSync(place.dir);
    const database = await Database.open({ file: place.file });
    database.script('CREATE TABLE t (v INTEGER)');
    let budget = Infinity;
    database.files.beforeWrite = (_file, bytes) => {
      budget -= bytes;
      if (budget < 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    };
    try {
      for (const room of [0, 100, 9000, 20_000]) {
        budget = room;
        assert.throws(
          () =>
            database.transaction(() => {
              for (let i = 0; i < 5000; i += 1) database.run('INSERT INTO t VALUES (?)', [i]);
            }),
          { code: 'store_full' },
        );
      }
      budget = Infinity;
      database.transaction(() => database.run('INSERT INTO t VALUES (7)'));
    } finally {
      database.files.beforeWrite = undefined;
      database.close();
    }
    const again = await Database.open({ file: place.file });
    assert.equal(again.check(), 'ok');
    assert.equal(again.run('DELETE FROM t'), 1);
    again.close();
  });
});
