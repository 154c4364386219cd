import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Trash } from '../../../src/service/sessions/trash.js';
import { removeFolders, temporaryFolder, withCode } from './support.js';

interface Cut {
  readonly paths: readonly [string, string];
  readonly place: (item: number) => string;
}

describe('trash', () => {
  after(removeFolders);

  function home() {
    const folder = temporaryFolder();
    const file = join(folder, 'src/a.jsonl');
    const inner = join(folder, 'src/a/subagents/agent-1.jsonl');
    mkdirSync(join(folder, 'src/a/subagents'), { recursive: true });
    writeFileSync(file, Buffer.from([0xff, 0, 10, 13, 0xc3]));
    writeFileSync(inner, 'inner\n');
    utimesSync(file, 1_700_000_000, 1_700_000_000);
    return {
      folder,
      file,
      inner,
      trash: new Trash(join(folder, 'trash')),
      paths: [file, join(folder, 'src/a')] as const,
    };
  }

  it('takes files and folders byte for byte, with their times, and brings them back', async () => {
    const { folder, file, inner, trash, paths } = home();
    const name = await trash.put('a', [...paths, join(folder, 'src/never')], Date.now());
    assert.equal(existsSync(file) || existsSync(inner), false);
    assert.deepEqual(await trash.paths(name), paths);
    await trash.restore(name);
    await trash.purge(name);
    assert.deepEqual([...readFileSync(file)], [0xff, 0, 10, 13, 0xc3]);
    assert.equal(statSync(file).mtimeMs, 1_700_000_000_000);
    assert.equal(readFileSync(inner, 'utf8'), 'inner\n');
    assert.deepEqual(await trash.names(), []);
  });

  it('puts nothing over what is at the place now, and loses nothing', async () => {
    const { file, inner, trash, paths } = home();
    const name = await trash.put('a', paths, Date.now());
    writeFileSync(file, 'new');
    await assert.rejects(trash.restore(name), withCode('target_exists'));
    assert.equal(readFileSync(file, 'utf8'), 'new');
    assert.equal(existsSync(inner), false);
    assert.deepEqual(await trash.names(), [name]);
  });

  it('goes on with a move that was cut short', async () => {
    for (const cut of [
      // Put away: the first item is in the trash, the folder is copied, and half of the original is gone.
      (at: Cut) => {
        cpSync(at.place(1), at.paths[1], { recursive: true });
        rmSync(join(at.paths[1], 'subagents/agent-2.jsonl'));
      },
      // Brought back: the first item is whole at its place, and still in the trash.
      (at: Cut) => copyFileSync(at.place(0), at.paths[0]),
      (at: Cut) => linkSync(at.place(0), at.paths[0]),
      (at: Cut) => renameSync(at.place(1), at.paths[1]),
      // Half of a copy is not yet what it is a copy of.
      (at: Cut) => writeFileSync(`${at.paths[0]}.deck-part`, 'half'),
    ]) {
      const { file, inner, trash, paths, folder } = home();
      writeFileSync(join(paths[1], 'subagents/agent-2.jsonl'), 'other\n');
      const name = await trash.put('a', paths, Date.now());
      cut({ paths, place: (item) => join(folder, 'trash', name, String(item)) });
      await trash.restore(name);
      assert.deepEqual([...readFileSync(file)], [0xff, 0, 10, 13, 0xc3]);
      assert.equal(readFileSync(inner, 'utf8'), 'inner\n');
      assert.equal(readFileSync(join(paths[1], 'subagents/agent-2.jsonl'), 'utf8'), 'other\n');
    }
  });

  it('tells a restoring that was begun from one that was not', async () => {
    const { file, trash, paths, folder } = home();
    const name = await trash.put('a', paths, Date.now());
    assert.equal(await trash.isBegun(name), false);
    writeFileSync(file, 'somebody else was here');
    assert.equal(await trash.isBegun(name), false);
    rmSync(file);
    renameSync(join(folder, 'trash', name, '0'), file);
    assert.equal(await trash.isBegun(name), true);
  });

  it('has everything back in its place when something cannot be moved', async function () {
    if (process.getuid?.() === 0 || process.platform === 'win32') {
      // Permissions do not bind this user; a place inside itself cannot be moved for anybody.
      const { folder, file, trash, paths } = home();
      await assert.rejects(trash.put('a', [...paths, folder], Date.now()));
      assert.ok(existsSync(file) && existsSync(join(folder, 'src/a/subagents/agent-1.jsonl')));
      assert.deepEqual(await trash.names(), []);
      return;
    }
    const { folder, file, trash, paths } = home();
    chmodSync(join(folder, 'src'), 0o500);
    await assert.rejects(trash.put('a', paths, Date.now()));
    chmodSync(join(folder, 'src'), 0o700);
    assert.ok(existsSync(file));
    assert.deepEqual(await trash.names(), []);
  });

  it('keeps ids that are no file names inside its folder', async () => {
    for (const id of ['../../x', '..', 'a/b', 'codex:1', '\u0000', 'x'.repeat(500)]) {
      const { folder, trash, file } = home();
      const name = await trash.put(id, [file], Date.now());
      assert.ok(existsSync(join(folder, 'trash', name, 'manifest.json')), id);
      assert.equal(name.includes('/') || name.startsWith('.'), false);
    }
  });
});
