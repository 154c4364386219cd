import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { OwnerLock } from '../../../src/service/store/lock.js';
import { StorePlace } from '../../support/store_place.js';

describe('the owner lock', () => {
  let place: StorePlace;
  beforeEach(() => {
    place = new StorePlace();
    fs.mkdirSync(place.dir);
  });
  afterEach(() => place.dispose());

  function take(): OwnerLock {
    const lock = OwnerLock.acquire(place.dir);
    assert.ok(lock instanceof OwnerLock);
    return lock;
  }
  const file = (generation: number) => path.join(place.dir, `owner.${generation}`);
  const owned = (generation: number, text: string) => fs.writeFileSync(file(generation), text);
  const startOf = (pid: number) => {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!;
  };

  it('is refused while its owner lives, and says who that is', () => {
    take();
    const refused = OwnerLock.acquire(place.dir);
    assert.ok(!(refused instanceof OwnerLock));
    assert.equal(refused.owner.pid, process.pid);
  });

  it('can be taken once it was released, under a generation that was never used', () => {
    const first = take();
    first.release();
    assert.equal(first.held(), false);
    assert.ok(take().generation > first.generation);
  });

  it('is taken over from a process that has gone', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    owned(7, JSON.stringify({ pid, start: '1' }));
    assert.equal(take().generation, 8);
    assert.deepEqual(fs.readdirSync(place.dir), ['owner.8']);
  });

  it('is taken over from a process whose id is another one’s now', function () {
    if (process.platform !== 'linux') return this.skip();
    owned(1, JSON.stringify({ pid: process.ppid, start: '1' }));
    take();
  });

  it('is not taken over from a living process, whatever its folder looks like', function () {
    if (process.platform !== 'linux') return this.skip();
    owned(1, 'an older one');
    owned(5, JSON.stringify({ pid: process.ppid, start: startOf(process.ppid) }));
    assert.ok(!(OwnerLock.acquire(place.dir) instanceof OwnerLock));
  });

  it('is not blocked for ever by a file that a power cut left empty', () => {
    owned(3, '');
    const old = new Date(Date.now() - 60_000);
    fs.utimesSync(file(3), old, old);
    assert.equal(take().generation, 4);
  });

  it('is lost by an owner that another one took over from, who then must not commit', async () => {
    const store = await place.open();
    const [name] = fs.readdirSync(place.dir).filter((one) => one.startsWith('owner.'));
    const mine = Number(name!.split('.')[1]);
    store.records.setMeta('before', 'kept');
    owned(mine + 1, JSON.stringify({ pid: 1, start: null }));
    assert.throws(() => store.records.transaction(() => store.records.setMeta('in', 'a transaction')), {
      code: 'store_read_only',
    });
    assert.throws(() => store.records.setMeta('alone', 'lost'), { code: 'store_read_only' });
    assert.equal(store.records.getMeta('before'), 'kept');
    assert.equal(store.records.getMeta('in'), undefined);
    assert.equal(store.records.getMeta('alone'), undefined);
    // Giving up what is another one's must not hurt the other one.
    store.close();
    assert.equal(fs.readFileSync(file(mine + 1), 'utf8'), JSON.stringify({ pid: 1, start: null }));
  });

  it('is looked at once more before a transaction is committed', async () => {
    const store = await place.open();
    const name = fs.readdirSync(place.dir).find((one) => one.startsWith('owner.'));
    const lose = () => owned(Number(name!.split('.')[1]) + 1, JSON.stringify({ pid: 1, start: null }));
    assert.throws(
      () =>
        store.records.transaction(() => {
          store.records.setMeta('in', 'a transaction');
          lose();
        }),
      { code: 'store_read_only' },
    );
    assert.equal(store.records.getMeta('in'), undefined);
  });

  it('was lost: then closing the store writes nothing', async () => {
    const store = await place.open();
    const name = fs.readdirSync(place.dir).find((one) => one.startsWith('owner.'));
    store.records.setMeta('in', 'the log');
    owned(Number(name!.split('.')[1]) + 1, JSON.stringify({ pid: 1, start: null }));
    const bytes = () => ['', '-wal'].map((suffix) => fs.readFileSync(place.file + suffix).toString('base64'));
    const before = bytes();
    store.close();
    assert.ok(before.every((one) => one !== ''));
    assert.deepEqual(bytes(), before);
  });

  it('works where the file system has no links', () => {
    const { linkSync } = fs;
    fs.linkSync = () => {
      throw Object.assign(new Error('links are not supported'), { code: 'ENOTSUP' });
    };
    try {
      const lock = take();
      assert.ok(lock.held());
      assert.ok(!(OwnerLock.acquire(place.dir) instanceof OwnerLock));
      lock.release();
      take();
    } finally {
      fs.linkSync = linkSync;
    }
  });
});
