import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Blobs } from '../../../src/service/store/blobs.js';
import { StorePlace } from '../../support/store_place.js';

describe('blobs', () => {
  let place: StorePlace;
  let blobs: Blobs;
  beforeEach(() => {
    place = new StorePlace();
    blobs = new Blobs(place.dir);
  });
  afterEach(() => place.dispose());

  const bytes = Buffer.from('0123456789'.repeat(20_000));
  const files = () =>
    fs.readdirSync(place.dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

  it('give back what was put under its sha256, whole or in part', () => {
    const sha256 = blobs.put(bytes);
    assert.equal(sha256, createHash('sha256').update(bytes).digest('hex'));
    assert.equal(blobs.size(sha256), bytes.length);
    assert.deepEqual(blobs.read(sha256), bytes);
    assert.equal(Buffer.from(blobs.read(sha256, 5, 10) ?? []).toString(), '5678901234');
    assert.equal(Buffer.from(blobs.read(sha256, bytes.length - 3, 10) ?? []).toString(), '789');
    assert.equal(blobs.read(sha256, bytes.length + 1)?.length, 0);
  });

  it('keep the same bytes once, readable by the user only, and leave no other file', () => {
    assert.equal(blobs.put(bytes), blobs.put(Buffer.from(bytes)));
    const [file, ...others] = files();
    assert.deepEqual(others, []);
    const stat = fs.statSync(path.join(file!.parentPath, file!.name));
    assert.equal(stat.mode & 0o777, 0o600);
    assert.equal(fs.statSync(file!.parentPath).mode & 0o777, 0o700);
  });

  it('are nothing for what was never put, and for what is no sha256', () => {
    assert.equal(blobs.read('0'.repeat(64)), undefined);
    assert.equal(blobs.size('../../etc/passwd'), undefined);
    assert.equal(blobs.read('../../etc/passwd'), undefined);
  });

  it('leave nothing behind on a full disk, and say that it is full', function () {
    const disk = place.disk('256k');
    if (disk === undefined) return this.skip();
    const small = new Blobs(path.join(disk, 'blobs'));
    const kept = small.put(Buffer.alloc(1000, 1));
    assert.throws(() => small.put(Buffer.alloc(1 << 20)), { code: 'store_full' });
    const left = fs
      .readdirSync(path.join(disk, 'blobs'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile());
    assert.equal(left.length, 1);
    assert.equal(small.size(kept), 1000);
  });
});
