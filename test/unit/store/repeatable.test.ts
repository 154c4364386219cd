import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { Database } from '../../../src/service/store/database.js';

/** How often SQLite waits for the disk during `act`. */
function syncsDuring(act: () => void): number {
  const original = fs.fdatasyncSync;
  let count = 0;
  fs.fdatasyncSync = (fd) => {
    count += 1;
    original(fd);
  };
  try {
    act();
  } finally {
    fs.fdatasyncSync = original;
  }
  return count;
}

describe('repeatable transactions', () => {
  let folder: string;
  let db: Database;
  beforeEach(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'deck-repeatable-'));
    db = await Database.open({ file: path.join(folder, 'a.db') });
    db.script('CREATE TABLE t (v INTEGER)');
    // The first commit after the header's own writes.
    db.transaction(() => db.run('INSERT INTO t VALUES (0)'));
  });
  afterEach(() => {
    db.close();
    fs.rmSync(folder, { recursive: true });
  });
  const insert = (v: number) => db.run('INSERT INTO t VALUES (?)', [v]);
  const count = () => db.get(z.object({ n: z.number() }), 'SELECT count(*) AS n FROM t')?.n;

  it('wait for the disk only with the next one that is not', () => {
    assert.equal(
      syncsDuring(() => db.transaction(() => insert(1), { repeatable: true })),
      0,
    );
    assert.equal(
      syncsDuring(() => db.transaction(() => insert(2))),
      1,
    );
    assert.equal(
      syncsDuring(() => insert(3)),
      1,
    );
  });

  it('are durable inside of one that is', () => {
    const syncs = syncsDuring(() =>
      db.transaction(() => db.transaction(() => insert(1), { repeatable: true })),
    );
    assert.equal(syncs, 1);
  });

  it('leave the next ones durable when they fail', () => {
    const fails = () => {
      insert(1);
      throw new Error('no');
    };
    assert.throws(() => db.transaction(fails, { repeatable: true }), /no/);
    assert.equal(count(), 1);
    assert.equal(
      syncsDuring(() => db.transaction(() => insert(2))),
      1,
    );
  });
});
