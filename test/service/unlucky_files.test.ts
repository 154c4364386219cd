import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { EditorPeer } from '../support/editor_peer.js';
import { ServicePlace, until } from '../support/service.js';

/** Writes a session of Claude Code with one turn, and gives its file. */
function writeSession(home: string, sessionId: string, cwd: string | undefined, prompt = 'hello'): string {
  const folder = path.join(home, '.claude/projects/somewhere');
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${sessionId}.jsonl`);
  const common = { isSidechain: false, sessionId, ...(cwd === undefined ? {} : { cwd }) };
  const uuid = randomUUID();
  const say = { role: 'assistant', id: randomUUID(), content: [{ type: 'text', text: 'done' }] };
  const lines = [
    { ...common, type: 'user', uuid, parentUuid: null, message: { role: 'user', content: prompt } },
    { ...common, type: 'assistant', uuid: randomUUID(), parentUuid: uuid, message: say },
  ].map((line, n) => JSON.stringify({ ...line, timestamp: new Date(Date.now() - 9000 + n).toISOString() }));
  fs.writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

describe('sessions with unlucky files', function () {
  this.timeout(60_000);
  let place: ServicePlace;
  let peer: EditorPeer;
  beforeEach(() => {
    place = new ServicePlace();
  });
  afterEach(async () => {
    peer.close();
    await place.dispose();
  });
  const rows = async () => (await peer.request('aster/session/list', { limit: 200 })).sessions;

  it('are read, deleted and brought back by the folder that the list tells, whatever it is', async () => {
    const told = ['C:\\Users\\me\\app', 'just/relative', '', '/no/such/folder', '/'];
    for (const [n, cwd] of told.entries()) writeSession(place.home, `s${n}`, cwd === '' ? undefined : cwd);
    peer = await EditorPeer.open(place);
    const listed = await until(async () => {
      const found = await rows();
      return found.length === told.length ? found : undefined;
    }, 'all are listed');
    assert.deepEqual(listed.map(({ cwd }) => cwd).sort(), [...told].sort());
    const page = (sessionId: string, cwd: string) => ({
      schema: 'aster.acp.session-transcript-page.v1' as const,
      operationId: 'one',
      sessionId,
      cwd,
    });
    for (const { sessionId, cwd } of listed) {
      const { entries } = await peer.request('aster/session/transcript/page/v1', page(sessionId, cwd));
      assert.equal(entries.length, 2, cwd);
      await peer.request('aster/session/delete', { sessionId, cwd });
      await peer.request('deck/session/undo_delete', { sessionId });
    }
    assert.equal((await rows()).length, told.length);
    const method = 'aster/session/transcript/page/v1';
    // A folder that is none tells nothing of the session.
    const wrong = await peer.refused(method, page('s1', 'other/relative'));
    assert.equal(wrong.code, -32602);
    assert.deepEqual(wrong, await peer.refused(method, page('nobody', 'other/relative')));
  });

  it('are found again when the whole home of the tool went and came', async () => {
    writeSession(place.home, 'first', place.workspace);
    peer = await EditorPeer.open(place);
    await until(async () => (await rows()).length === 1, 'the first is listed');
    fs.rmSync(path.join(place.home, '.claude'), { recursive: true });
    await until(async () => (await rows()).every(({ unreadable }) => unreadable), 'the file is missed');
    writeSession(place.home, 'second', place.workspace);
    const both = await until(async () => {
      const found = await rows();
      return found.length === 2 ? found : undefined;
    }, 'the second is listed');
    // Nothing disappears that nobody deleted.
    assert.deepEqual(both.map(({ sessionId }) => sessionId).sort(), ['first', 'second']);
  });

  it('stay where they are when the trash is on another disk that is full', async function () {
    const trash = path.join(place.store, 'trash');
    fs.mkdirSync(trash, { recursive: true, mode: 0o700 });
    const file = writeSession(place.home, 'large', place.workspace, 'x'.repeat(2_000_000));
    const small = writeSession(place.home, 'small', place.workspace);
    const bytes = [file, small].map((one) => fs.readFileSync(one));
    peer = await EditorPeer.open(place);
    await until(async () => (await rows()).length === 2, 'both are listed');
    // Only the superuser can make a disk for the test, and not in every container.
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', trash]).status !== 0) this.skip();
    try {
      const large = { sessionId: 'large', cwd: place.workspace };
      assert.equal((await peer.refused('aster/session/delete', large)).code, 1507);
      assert.deepEqual(fs.readdirSync(trash), []);
      await peer.request('aster/session/delete', { sessionId: 'small', cwd: place.workspace });
      assert.equal(fs.existsSync(small), false);
      fs.writeFileSync(path.join(trash, 'filler'), '');
      spawnSync('dd', ['if=/dev/zero', `of=${path.join(trash, 'filler')}`, 'bs=4k']);
      assert.equal((await peer.refused('aster/session/delete', large)).code, 1507);
      fs.rmSync(path.join(trash, 'filler'));
      await peer.request('deck/session/undo_delete', { sessionId: 'small' });
      assert.deepEqual(fs.readdirSync(trash), []);
      assert.deepEqual(
        [file, small].map((one) => fs.readFileSync(one)),
        bytes,
      );
      assert.ok((await rows()).every(({ unreadable }) => unreadable === undefined));
    } finally {
      spawnSync('umount', ['-l', trash]);
    }
  });

  it('are read on when a full disk has room again, and end nothing meanwhile', async function () {
    fs.mkdirSync(place.store, { recursive: true, mode: 0o700 });
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'tmpfs', place.store]).status !== 0)
      this.skip();
    try {
      const file = writeSession(place.home, 'grows', place.workspace);
      peer = await EditorPeer.open(place);
      const entries = async () =>
        (await peer.request('aster/session/info', { sessionId: 'grows' })).entryCount;
      await until(async () => (await rows()).length === 1 && (await entries()) === 2, 'it is read');
      const filler = path.join(place.store, 'filler');
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']);
      spawnSync('dd', ['if=/dev/zero', `of=${filler}2`, 'bs=512']);
      const line = (n: number) =>
        JSON.stringify({
          ...{ type: 'user', sessionId: 'grows', cwd: place.workspace, isSidechain: false, parentUuid: null },
          ...{ uuid: `u${n}`, timestamp: new Date().toISOString() },
          message: { role: 'user', content: `${n} ${'x'.repeat(5000)}` },
        });
      for (let n = 0; n < 8; n += 1) {
        fs.appendFileSync(file, `${Array.from({ length: 40 }, (_, k) => line(n * 40 + k)).join('\n')}\n`);
        writeSession(place.home, `new-${n}`, place.workspace);
        await new Promise((resolve) => setTimeout(resolve, 300));
        // What is known can be read all the while.
        const [{ sessionId, cwd } = { sessionId: '', cwd: '' }] = await rows();
        await peer.request('aster/session/transcript/page/v1', {
          schema: 'aster.acp.session-transcript-page.v1',
          operationId: 'one',
          sessionId,
          cwd,
        });
      }
      fs.rmSync(filler);
      fs.rmSync(`${filler}2`);
      fs.appendFileSync(file, `${line(1000)}\n`);
      await until(async () => (await entries()) === 1 && (await rows()).length === 9, 'all is read');
    } finally {
      spawnSync('umount', ['-l', place.store]);
    }
  });
});
