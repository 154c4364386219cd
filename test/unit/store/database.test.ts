import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { Database } from '../../../src/service/store/database.js';
import { StorePlace } from '../../support/store_place.js';

describe('the database on a real file', () => {
  let place: StorePlace;
  let database: Database;
  beforeEach(async () => {
    place = new StorePlace();
    fs.mkdirSync(place.dir);
    database = await Database.open({ file: place.file });
    database.script('CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER, s TEXT, b BLOB)');
  });
  afterEach(() => {
    database.files.beforeWrite = undefined;
    database.close();
    place.dispose();
  });

  const Value = z.object({ v: z.number().nullable() });
  const values = () => database.all(Value, 'SELECT v FROM t ORDER BY id').map(({ v }) => v);
  const pragma = (name: string) => database.get(z.record(z.string(), z.unknown()), `PRAGMA ${name}`)?.[name];

  it('is an SQLite file in WAL mode that syncs every commit and has bounded memory', () => {
    const { cache_size: cache } = z
      .object({ cache_size: z.number() })
      .parse({ cache_size: pragma('cache_size') });
    assert.ok(cache < 0 && cache >= -65_536, 'the cache is given in KiB');
    database.run('INSERT INTO t (v) VALUES (1)');
    assert.ok(fs.statSync(`${place.file}-wal`).size > 0);
    database.checkpoint();
    assert.equal(fs.statSync(`${place.file}-wal`).size, 0);
    assert.equal(fs.readFileSync(place.file).subarray(0, 15).toString(), 'SQLite format 3');
    assert.deepEqual(['journal_mode', 'locking_mode', 'synchronous', 'page_size'].map(pragma), [
      'wal',
      'exclusive',
      2,
      8192,
    ]);
  });

  it('leaves no file but the database and its log', () => {
    assert.deepEqual(fs.readdirSync(place.dir).sort(), ['store-v1.db', 'store-v1.db-wal']);
  });

  it('syncs the log before a change is acknowledged', () => {
    const before = database.files.stats.syncs;
    database.run('INSERT INTO t (v) VALUES (1)');
    assert.ok(database.files.stats.syncs > before);
  });

  it('takes list and named parameters, and gives values back as they were', () => {
    const at = 1_790_000_000_123;
    database.run('INSERT INTO t VALUES (?, ?, ?, ?)', [
      1,
      at,
      'ü 会 🎉 \u0000 end',
      new Uint8Array([0, 1, 255]),
    ]);
    database.run('INSERT INTO t (id, v, s) VALUES ($id, $v, $s)', {
      $id: 2,
      $v: Number.MAX_SAFE_INTEGER,
      $s: null,
    });
    const Row = z.object({ v: z.number(), s: z.string().nullable(), b: z.instanceof(Uint8Array).nullable() });
    assert.deepEqual(database.all(Row, 'SELECT v, s, b FROM t ORDER BY id'), [
      { v: at, s: 'ü 会 🎉 \u0000 end', b: new Uint8Array([0, 1, 255]) },
      { v: Number.MAX_SAFE_INTEGER, s: null, b: null },
    ]);
    assert.deepEqual(database.get(Value, 'SELECT v FROM t WHERE v = ? LIMIT ?', [at, 5_000_000_000]), {
      v: at,
    });
    assert.deepEqual(database.get(z.object({ t: z.string() }), 'SELECT typeof(v) AS t FROM t WHERE id = 2'), {
      t: 'integer',
    });
    assert.equal(database.run('UPDATE t SET v = 0'), 2);
  });

  it('parses rows and refuses those that are not as they should be', () => {
    database.run("INSERT INTO t (s) VALUES ('x')");
    assert.throws(() => database.get(z.object({ s: z.number() }), 'SELECT s FROM t'), z.ZodError);
    assert.equal(database.get(Value, 'SELECT v FROM t WHERE id = 99'), undefined);
  });

  it('undoes a transaction that throws, the inner one with the outer', () => {
    const fail = new Error('no');
    assert.throws(
      () =>
        database.transaction(() => {
          database.run('INSERT INTO t (v) VALUES (1)');
          database.transaction(() => database.run('INSERT INTO t (v) VALUES (2)'));
          throw fail;
        }),
      fail,
    );
    assert.deepEqual(values(), []);
    assert.equal(
      database.transaction(() => database.run('INSERT INTO t (v) VALUES (3)')),
      1,
    );
    assert.deepEqual(values(), [3]);
  });

  it('asks before each commit, alone or in a transaction', () => {
    let asked = 0;
    database.beforeCommit = () => {
      asked += 1;
      if (asked > 1) throw new Error('not ours any more');
    };
    database.run('INSERT INTO t (v) VALUES (1)');
    assert.throws(() => database.run('INSERT INTO t (v) VALUES (2)'), /not ours/);
    assert.throws(() => database.transaction(() => values()), /not ours/);
    database.beforeCommit = undefined;
    assert.deepEqual(values(), [1]);
  });

  it('keeps the errors of its own SQL as they are, and works on', () => {
    database.run('INSERT INTO t (id) VALUES (1)');
    assert.throws(() => database.run('INSERT INTO t (id) VALUES (1)'), /UNIQUE constraint/);
    assert.throws(() => database.run('INSERT INTO nowhere VALUES (1)'), /no such table/);
    assert.deepEqual(values(), [null]);
  });

  it('survives more statements than it keeps, and one that changes the schema', () => {
    for (let i = 0; i < 450; i += 1) database.run(`INSERT INTO t (v) VALUES (${i})`);
    database.script('ALTER TABLE t ADD COLUMN extra TEXT');
    assert.equal(values().length, 450);
    assert.equal(values().at(-1), 449);
  });

  it('reads a file that grows beyond its cache and its log', function () {
    this.timeout(30_000);
    database.script('PRAGMA cache_size=10');
    database.transaction(() => {
      for (let i = 0; i < 3000; i += 1)
        database.run('INSERT INTO t (v, s) VALUES (?, ?)', [i, 'x'.repeat(5000)]);
    });
    database.checkpoint();
    assert.ok(fs.statSync(place.file).size > 15_000_000);
    assert.equal(database.check(), 'ok');
    assert.ok(values().every((v, i) => v === i));
  });

  it('is told of a disk that fails, and keeps what was acknowledged', () => {
    database.run('INSERT INTO t (v) VALUES (1)');
    for (const [code, meant] of [
      ['ENOSPC', 'store_full'],
      ['EDQUOT', 'store_full'],
      ['EROFS', 'store_read_only'],
    ] as const) {
      database.files.beforeWrite = () => {
        throw Object.assign(new Error(code), { code });
      };
      assert.throws(() => database.run('INSERT INTO t (v) VALUES (2)'), { code: meant }, code);
      assert.throws(() => database.transaction(() => database.run('DELETE FROM t')), { code: meant }, code);
      database.files.beforeWrite = undefined;
      assert.deepEqual(values(), [1]);
    }
    database.run('INSERT INTO t (v) VALUES (3)');
    assert.deepEqual(values(), [1, 3]);
  });

  it('goes on where a call was interrupted', () => {
    const { writeSync, readSync, closeSync } = fs;
    const interrupted = () => Object.assign(new Error('interrupted'), { code: 'EINTR' });
    let calls = 0;
    const write = (fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => {
      calls += 1;
      if (calls % 3 === 0) throw interrupted();
      // Short: half of what was asked for.
      return writeSync(fd, bytes, offset, Math.max(1, length >> 1), position);
    };
    const read = (fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => {
      calls += 1;
      if (calls % 3 === 0) throw interrupted();
      return readSync(fd, bytes, offset, Math.max(1, length >> 1), position);
    };
    let closes = 0;
    Reflect.set(fs, 'writeSync', write);
    Reflect.set(fs, 'readSync', read);
    fs.closeSync = (fd) => {
      closes += 1;
      if (fs.fstatSync(fd).isDirectory()) {
        closes -= 1;
        closeSync(fd);
        return;
      }
      closeSync(fd);
      throw interrupted();
    };
    try {
      for (let i = 0; i < 20; i += 1)
        database.run('INSERT INTO t (v, s) VALUES (?, ?)', [i, String(i % 10).repeat(30_000)]);
      database.checkpoint();
      database.close();
    } finally {
      Object.assign(fs, { writeSync, readSync, closeSync });
    }
    assert.equal(closes, 2, 'the database and its log are closed once each');
    return Database.open({ file: place.file }).then((again) => {
      database = again;
      assert.equal(again.check(), 'ok');
      assert.equal(values().length, 20);
    });
  });

  it('stops writing when a sync failed: what came of it nobody knows', async () => {
    database.run('INSERT INTO t (v) VALUES (1)');
    const { fdatasyncSync } = fs;
    fs.fdatasyncSync = () => {
      throw Object.assign(new Error('i/o error'), { code: 'EIO' });
    };
    try {
      assert.throws(() => database.run('INSERT INTO t (v) VALUES (2)'));
    } finally {
      fs.fdatasyncSync = fdatasyncSync;
    }
    assert.throws(() => database.run('INSERT INTO t (v) VALUES (3)'), { code: 'store_read_only' });
    assert.ok(values().includes(1));
    database.close();
    database = await Database.open({ file: place.file });
    database.run('INSERT INTO t (v) VALUES (4)');
    assert.equal(values()[0], 1);
    assert.ok(!values().includes(3));
    assert.equal(database.check(), 'ok');
  });

  it('refuses to work when the bytes do not reach the disk', async () => {
    const { files } = database;
    const bind = files.bind.bind(files);
    files.bind = (file, readOnly) =>
      bind(path.join(place.root, `elsewhere-${path.basename(file)}`), readOnly);
    try {
      await assert.rejects(Database.open({ file: path.join(place.dir, 'other.db') }));
    } finally {
      files.bind = bind;
    }
    assert.ok(!fs.existsSync(path.join(place.dir, 'other.db')));
  });
});
