import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Database } from '../../../src/service/store/database.js';
import { SCHEMA_VERSION } from '../../../src/service/store/migrations.js';
import { aSession, anEntry, StorePlace } from '../../support/store_place.js';

const PAGE = 8192;

describe('backups and repair of the store', function () {
  this.timeout(30_000);
  let place: StorePlace;
  beforeEach(() => {
    place = new StorePlace();
  });
  afterEach(() => place.dispose());

  const mark = () => path.join(place.dir, 'open');
  const backups = () => {
    const folder = path.join(place.dir, 'backup');
    return fs.existsSync(folder) ? fs.readdirSync(folder).sort() : [];
  };
  const aside = () => fs.readdirSync(place.dir).filter((name) => name.includes('damaged'));
  const entries = (store: Awaited<ReturnType<StorePlace['open']>>) =>
    store.records.entries('one', 1, 0, 10_000).length;

  /** A closed store with entries, with a backup from before the last of them. */
  async function filled(): Promise<void> {
    const store = await place.open();
    store.records.putSession(aSession('one'));
    for (let i = 0; i < 300; i += 1) store.records.putEntries('one', 1, [anEntry(i, 'x'.repeat(1000))]);
    store.maintain();
    store.records.putEntries('one', 1, [anEntry(300)]);
    store.close();
  }

  function damage(file: string): void {
    const { size } = fs.statSync(file);
    const fd = fs.openSync(file, 'r+');
    // All but the first pages, so that opening and the sessions still work.
    for (let at = 30 * PAGE; at < size; at += PAGE) fs.writeSync(fd, Buffer.alloc(PAGE, 0xa5), 0, PAGE, at);
    fs.closeSync(fd);
  }

  it('back up once a day, keep the newest three, and are whole', async () => {
    await filled();
    assert.equal(backups().length, 1);
    const store = await place.open();
    store.maintain();
    assert.equal(backups().length, 1);
    for (let day = 0; day < 4; day += 1) {
      for (const name of backups()) {
        const file = path.join(place.dir, 'backup', name);
        const before = new Date(fs.statSync(file).mtimeMs - 25 * 60 * 60 * 1000);
        fs.utimesSync(file, before, before);
      }
      store.maintain();
    }
    assert.equal(backups().length, 3);
    const newest = await Database.open({ file: path.join(place.dir, 'backup', backups().at(-1)!) });
    assert.equal(newest.check(), 'ok');
    newest.close();
  });

  it('leave the mark of an open store while it is open only', async () => {
    const store = await place.open();
    assert.ok(fs.existsSync(mark()));
    store.close();
    assert.ok(!fs.existsSync(mark()));
  });

  it('restore the newest good backup after an unclean end, keep the damaged file, and say so', async () => {
    await filled();
    damage(place.file);
    fs.writeFileSync(mark(), '1');
    const store = await place.open();
    assert.equal(store.mode.readOnly, false);
    assert.match(store.mode.repaired ?? '', /damaged.*backup/);
    assert.equal(entries(store), 300);
    assert.ok(store.mode.repaired?.includes(aside()[0]!));
    store.records.putEntries('one', 1, [anEntry(301)]);
    store.close();
    const again = await place.open();
    assert.equal(again.mode.repaired, undefined);
    assert.equal(entries(again), 301);
  });

  it('pass over a backup that is damaged too', async () => {
    await filled();
    const folder = path.join(place.dir, 'backup');
    const [good] = backups();
    const worse = path.join(folder, 'store-9999-01-01T00-00-00.000Z.db');
    fs.copyFileSync(path.join(folder, good!), worse);
    damage(worse);
    damage(place.file);
    fs.writeFileSync(mark(), '1');
    const store = await place.open();
    assert.ok(store.mode.repaired?.includes(good!));
    assert.equal(entries(store), 300);
  });

  it('make a new store when nothing can be restored, and lose no file', async () => {
    await filled();
    fs.rmSync(path.join(place.dir, 'backup'), { recursive: true });
    const garbage = Buffer.alloc(100_000, 'garbage');
    fs.writeFileSync(place.file, garbage);
    const store = await place.open();
    assert.match(store.mode.repaired ?? '', /no good backup/);
    assert.deepEqual(store.records.sessions(), []);
    assert.deepEqual(fs.readFileSync(path.join(place.dir, aside()[0]!)), garbage);
  });

  it('restore at the next start what was found damaged in use, even after a clean end', async () => {
    await filled();
    damage(place.file);
    const store = await place.open();
    assert.equal(store.mode.repaired, undefined);
    assert.throws(() => entries(store), { code: 'store_corrupt' });
    store.close();
    const again = await place.open();
    assert.match(again.mode.repaired ?? '', /backup/);
    assert.equal(entries(again), 300);
  });

  it('are read-only for a newer schema, which stays byte for byte', async () => {
    await filled();
    const newer = await Database.open({ file: place.file });
    newer.version = SCHEMA_VERSION + 1;
    newer.close();
    const bytes = fs.readFileSync(place.file);
    const store = await place.open();
    assert.equal(store.mode.readOnly, true);
    assert.match(store.mode.reason ?? '', /newer/);
    assert.equal(entries(store), 301);
    assert.throws(() => store.records.putSession(aSession('two')), { code: 'store_read_only' });
    store.maintain();
    store.close();
    assert.deepEqual(fs.readFileSync(place.file), bytes);
    assert.equal(backups().length, 1);
  });

  it('make the folder and its files readable by the user only', async () => {
    await filled();
    assert.equal(fs.statSync(place.dir).mode & 0o777, 0o700);
    const store = await place.open();
    store.maintain();
    store.records.setMeta('a', 'b');
    const open = fs.readdirSync(place.dir, { recursive: true, withFileTypes: true });
    for (const entry of open.filter((one) => one.isFile()))
      assert.equal(fs.statSync(path.join(entry.parentPath, entry.name)).mode & 0o777, 0o600, entry.name);
    assert.ok(open.some(({ name }) => name.endsWith('-wal')));
  });
});
