import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { aSession, anEntry, mount, StorePlace } from '../../support/store_place.js';

describe('a store that can only be read', () => {
  let place: StorePlace;
  beforeEach(() => {
    place = new StorePlace();
  });
  afterEach(() => place.dispose());

  async function filled(dir: string) {
    const store = await place.open(dir);
    store.records.putSession(aSession('one', { title: { text: 'Kept', by: 'user' } }));
    store.records.putEntries('one', 1, [anEntry(0), anEntry(1)]);
    return store;
  }

  it('is read on a disk that was made read-only after a clean end', async function () {
    const disk = place.disk('64m');
    if (disk === undefined) return this.skip();
    const dir = path.join(disk, 'store');
    (await filled(dir)).close();
    assert.ok(mount('-o', 'remount,ro', disk));
    const before = fs.readdirSync(dir);
    const store = await place.open(dir);
    assert.equal(store.mode.readOnly, true);
    assert.match(store.mode.reason ?? '', /read/);
    assert.equal(store.records.sessions()[0]?.title?.text, 'Kept');
    assert.equal(store.records.entries('one', 1, 0, 10).length, 2);
    assert.throws(() => store.records.putSession(aSession('two')), { code: 'store_read_only' });
    assert.deepEqual(
      store.records.sessions().map(({ id }) => id),
      ['one'],
    );
    store.close();
    assert.deepEqual(fs.readdirSync(dir), before);
  });

  it('shows what is still in the log of a service that was killed', async function () {
    const disk = place.disk('64m');
    if (disk === undefined) return this.skip();
    const running = await filled(path.join(place.root, 'running'));
    const dir = path.join(disk, 'store');
    fs.mkdirSync(dir);
    for (const name of ['store-v1.db', 'store-v1.db-wal'])
      fs.copyFileSync(path.join(running.dir, name), path.join(dir, name));
    assert.ok(fs.statSync(path.join(dir, 'store-v1.db-wal')).size > 0);
    assert.ok(mount('-o', 'remount,ro', disk));
    const store = await place.open(dir);
    assert.equal(store.mode.readOnly, true);
    assert.equal(store.records.entries('one', 1, 0, 10).length, 2);
  });

  it('is opened for reading by a person who may not write the folder', async function () {
    if (process.getuid?.() !== 0) return this.skip();
    (await filled(place.dir)).close();
    // Root passes over permission bits, so somebody else reads.
    fs.chmodSync(place.root, 0o755);
    fs.chmodSync(place.dir, 0o555);
    for (const name of fs.readdirSync(place.dir)) fs.chmodSync(path.join(place.dir, name), 0o555);
    const out = execFileSync(
      process.execPath,
      ['--import', 'tsx', path.join(import.meta.dirname, '../../support/store_reader.ts'), place.dir],
      { uid: 65534, gid: 65534, env: { PATH: process.env['PATH'], HOME: place.root, TMPDIR: '/tmp' } },
    );
    assert.deepEqual(JSON.parse(out.toString()), {
      readOnly: true,
      sessions: ['one'],
      write: 'store_read_only',
    });
  });

  it('says so when there is nothing to read', async function () {
    const disk = place.disk('1m');
    if (disk === undefined) return this.skip();
    assert.ok(mount('-o', 'remount,ro', disk));
    await assert.rejects(place.open(disk), { code: 'store_read_only' });
  });
});
