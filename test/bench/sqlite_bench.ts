import fs from 'node:fs';
import path from 'node:path';
import type BetterSqlite from 'better-sqlite3';
import * as z from 'zod';
import { Database } from '../../src/service/store/database.js';
import { alternate } from './stats.js';

type Better = typeof BetterSqlite;

/** The same work by our SQLite and by better-sqlite3, in ms, in turn in one process. */
export interface SqliteFigures {
  readonly list: readonly [ours: readonly number[], theirs: readonly number[]];
  readonly page: readonly [ours: readonly number[], theirs: readonly number[]];
  readonly append: readonly [ours: readonly number[], theirs: readonly number[]];
}

const LIST = 'SELECT * FROM session WHERE deleted_at IS NULL ORDER BY updated_at DESC, id DESC LIMIT 50';
const PAGE =
  'SELECT * FROM entry WHERE session = ? AND generation = 0 AND ordinal >= ? ORDER BY ordinal LIMIT 50';
const BODY = 'x'.repeat(390);
const Any = z.unknown();

/** `storeFile` is the store of the service, which nobody has open. Undefined when better-sqlite3 cannot be loaded. */
export async function sqliteFigures(storeFile: string, samples: number): Promise<SqliteFigures | undefined> {
  const better = await loadBetter();
  if (!better) return undefined;
  const copy = `${storeFile}.bench`;
  fs.copyFileSync(storeFile, copy);
  const ours = await Database.open({ file: storeFile });
  const theirs = new better(copy);
  try {
    theirs.pragma('journal_mode = WAL');
    theirs.pragma('synchronous = FULL');
    theirs.pragma('cache_size = -65536');
    const huge = z
      .object({ num: z.number(), entry_count: z.number() })
      .parse(theirs.prepare('SELECT num, entry_count FROM session ORDER BY entry_count DESC LIMIT 1').get());
    const listTheirs = theirs.prepare(LIST);
    const pageTheirs = theirs.prepare(PAGE);
    let n = 0;
    const place = () => ((n += 1) * 7919) % (huge.entry_count - 50);
    const list = await alternate(samples, [() => ours.all(Any, LIST), () => listTheirs.all()]);
    const page = await alternate(samples, [
      () => ours.all(Any, PAGE, [huge.num, place()]),
      () => pageTheirs.all(huge.num, place()),
    ]);
    return {
      list: pair(list),
      page: pair(page),
      append: await appends(path.dirname(storeFile), better, samples),
    };
  } finally {
    ours.close();
    theirs.close();
    for (const suffix of ['', '-wal', '-shm']) fs.rmSync(copy + suffix, { force: true });
  }
}

/** One entry and its session's revision in one transaction, on the disk when it returns. */
async function appends(folder: string, better: Better, samples: number): Promise<SqliteFigures['append']> {
  const files = ['ours', 'theirs'].map((name) => path.join(folder, `append-${name}.db`));
  const [oursFile = '', theirsFile = ''] = files;
  const schema = `CREATE TABLE session (num INTEGER PRIMARY KEY, revision INTEGER);
    CREATE TABLE entry (session INTEGER, ordinal INTEGER, body TEXT);
    CREATE UNIQUE INDEX entry_place ON entry (session, ordinal); INSERT INTO session VALUES (1, 0)`;
  const ours = await Database.open({ file: oursFile });
  const theirs = new better(theirsFile);
  try {
    theirs.pragma('page_size = 8192');
    theirs.pragma('locking_mode = EXCLUSIVE');
    theirs.pragma('journal_mode = WAL');
    theirs.pragma('synchronous = FULL');
    theirs.pragma('cache_size = -65536');
    ours.script(schema);
    theirs.exec(schema);
    const insert = 'INSERT INTO entry VALUES (1, ?, ?)';
    const update = 'UPDATE session SET revision = ? WHERE num = 1';
    const insertTheirs = theirs.prepare(insert);
    const updateTheirs = theirs.prepare(update);
    let oursAt = 0;
    let theirsAt = 0;
    const appendTheirs = theirs.transaction(() => {
      insertTheirs.run((theirsAt += 1), BODY);
      updateTheirs.run(theirsAt);
    });
    const figures = await alternate(samples, [
      () =>
        ours.transaction(() => {
          ours.run(insert, [(oursAt += 1), BODY]);
          ours.run(update, [oursAt]);
        }),
      () => appendTheirs(),
    ]);
    return pair(figures);
  } finally {
    ours.close();
    theirs.close();
    for (const file of files)
      for (const suffix of ['', '-wal', '-shm']) fs.rmSync(file + suffix, { force: true });
  }
}

function pair([ours = [], theirs = []]: number[][]): readonly [number[], number[]] {
  return [ours, theirs];
}

/** Its native part is built on demand by `npm run bench`; where that is not possible there is nothing to compare with. */
async function loadBetter(): Promise<Better | undefined> {
  try {
    const { default: better } = await import('better-sqlite3');
    new better(':memory:').close();
    return better;
  } catch (error) {
    console.error(`better-sqlite3 is not there: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
