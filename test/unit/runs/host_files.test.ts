import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk';
import { MAX_FILE_BYTES, readText, writeText } from '../../../src/service/runs/disk_files.js';
import { pathInside } from '../../../src/service/runs/workspace_path.js';

const INVALID = -32602;
const MISSING = -32002;

/** The text of the refusal. */
async function refused(work: Promise<unknown>, code: number): Promise<string> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof RequestError, String(error));
    assert.equal(error.code, code);
    return error.message;
  }
  throw new Error('it was not refused');
}

describe('files for agents, on disk', () => {
  let base: string;
  let cwd: string;
  const inside = (file: string) => pathInside({ cwd }, file);
  beforeEach(() => {
    base = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'deck-files-')));
    cwd = path.join(base, 'work');
    fs.mkdirSync(cwd);
    fs.mkdirSync(path.join(base, 'work-too'));
    fs.writeFileSync(path.join(base, 'outside.txt'), 'secret');
  });
  afterEach(() => fs.rmSync(base, { recursive: true, force: true }));
  const put = (name: string, content: string | Buffer) => {
    const file = path.join(cwd, name);
    fs.writeFileSync(file, content);
    return file;
  };

  it('reads whole files and lines as the protocol counts them', async () => {
    const file = put('lines.txt', 'one\ntwo\r\nthree\nlast');
    assert.equal(await readText(file), 'one\ntwo\r\nthree\nlast');
    assert.equal(await readText(file, 2), 'two\r\nthree\nlast');
    assert.equal(await readText(file, 2, 1), 'two\r\n');
    assert.equal(await readText(file, 1, 2), 'one\ntwo\r\n');
    assert.equal(await readText(file, undefined, 3), 'one\ntwo\r\nthree\n');
    assert.equal(await readText(file, 4, 100), 'last');
    assert.equal(await readText(file, 5), '');
    assert.equal(await readText(file, 2, 0), '');
    assert.equal(await readText(put('empty', '')), '');
    assert.equal(await readText(put('bom', '\uFEFFgrüße')), '\uFEFFgrüße');
  });

  it('says what is missing, no text, no file, or too large', async () => {
    await refused(readText(path.join(cwd, 'none')), MISSING);
    assert.match(
      await refused(readText(put('binary', Buffer.from([0x61, 0xff, 0x00]))), INVALID),
      /no UTF-8 text/,
    );
    assert.match(await refused(readText(cwd), INVALID), /no file|EISDIR/);
    const pipe = path.join(cwd, 'pipe');
    if (process.platform !== 'win32') {
      spawnSync('mkfifo', [pipe]);
      assert.match(await refused(readText(pipe), INVALID), /no file/);
      assert.match(await refused(writeText(pipe, 'x'), INVALID), /no file/);
    }
    const large = put('large', '');
    fs.truncateSync(large, MAX_FILE_BYTES + 1);
    assert.match(await refused(readText(large), INVALID), /more than 16 MB/);
    assert.match(await refused(writeText(large, 'x'.repeat(MAX_FILE_BYTES + 1)), INVALID), /more than 16 MB/);
  });

  it('stays inside of the folders of the session', async () => {
    const second = path.join(base, 'work-too');
    assert.equal(await inside(path.join(cwd, 'a', 'b.txt')), path.join(cwd, 'a', 'b.txt'));
    assert.equal(await inside(path.join(cwd, 'x', '..', 'a')), path.join(cwd, 'a'));
    assert.equal(
      await pathInside({ cwd, directories: [second] }, path.join(second, 'a')),
      path.join(second, 'a'),
    );
    for (const outside of [
      path.join(base, 'outside.txt'),
      `${cwd}/../outside.txt`,
      path.join(second, 'a'),
      base,
      '/etc/passwd',
    ])
      assert.match(await refused(inside(outside), INVALID), /outside of the folders of the session/);
    for (const relative of ['a.txt', './a.txt', '', `${cwd}/a\0b`])
      assert.match(await refused(inside(relative), INVALID), /must be absolute/);
  });

  it('follows no link out of them', async () => {
    fs.symlinkSync(path.join(base, 'outside.txt'), path.join(cwd, 'file'));
    fs.symlinkSync(base, path.join(cwd, 'folder'));
    fs.symlinkSync(path.join(base, 'nothing'), path.join(cwd, 'broken'));
    fs.symlinkSync(path.join(cwd, 'real'), path.join(cwd, 'alias'));
    put('real', 'here');
    for (const name of ['file', 'folder/outside.txt', 'folder/new.txt', 'folder/new/deep.txt'])
      assert.match(await refused(inside(path.join(cwd, name)), INVALID), /outside of the folders/);
    for (const name of ['broken', 'broken/new.txt'])
      assert.match(await refused(inside(path.join(cwd, name)), INVALID), /broken link/);
    assert.equal(await inside(path.join(cwd, 'alias')), path.join(cwd, 'real'));
    const link = path.join(base, 'link-to-work');
    fs.symlinkSync(cwd, link);
    assert.equal(await pathInside({ cwd: link }, path.join(cwd, 'real')), path.join(cwd, 'real'));
  });

  it('replaces files whole, keeps their mode, and makes folders', async () => {
    const script = put('run.sh', 'old');
    fs.chmodSync(script, 0o754);
    const before = fs.statSync(script).ino;
    await writeText(script, 'new ✓');
    assert.equal(fs.readFileSync(script, 'utf8'), 'new ✓');
    assert.equal(fs.statSync(script).mode & 0o777, 0o754);
    assert.notEqual(fs.statSync(script).ino, before);
    const deep = path.join(cwd, 'a', 'b', 'c.txt');
    await writeText(deep, '');
    assert.equal(fs.readFileSync(deep, 'utf8'), '');
    assert.deepEqual(fs.readdirSync(cwd).sort(), ['a', 'run.sh']);
    assert.match(await refused(writeText(path.join(script, 'x'), 'y'), INVALID), /ENOTDIR|EEXIST/);
    assert.deepEqual(fs.readdirSync(cwd).sort(), ['a', 'run.sh']);
  });
});
