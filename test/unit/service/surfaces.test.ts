import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import fs from 'node:fs';
import { EndedError, readLine } from '../../../src/attach/line.js';
import { Outbox } from '../../../src/service/surfaces/outbox.js';
import { weigh } from '../../../src/service/surfaces/weight.js';
import { plainName } from '../../../src/service/surfaces/names.js';

describe('outbox', () => {
  it('gives up on a peer that does not read, once, and sends nothing more', () => {
    const sent: string[] = [];
    let overflows = 0;
    const outbox = new Outbox(
      (method) => {
        sent.push(method);
        return new Promise(() => undefined);
      },
      () => overflows++,
      100,
    );
    for (let i = 0; i < 10; i++) outbox.send(`m${i}`, 'x'.repeat(25));
    assert.deepEqual(sent, ['m0', 'm1', 'm2']);
    assert.equal(overflows, 1);
  });

  it('forgets what has gone out', async () => {
    let overflows = 0;
    const outbox = new Outbox(
      () => Promise.resolve(),
      () => overflows++,
      100,
    );
    for (let i = 0; i < 10; i++) {
      outbox.send('m', 'x'.repeat(60));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(overflows, 0);
  });
});

describe('the weight of a message', () => {
  it('is about its length as JSON, whatever its shape', () => {
    const values = [
      'x'.repeat(1000),
      { update: { content: { type: 'text', text: 'y'.repeat(5000) } } },
      Array.from({ length: 100 }, (_, i) => ({ path: `/w/${i}`, line: i })),
      { a: null, b: [undefined, true, 1.5], c: {} },
    ];
    for (const value of values) {
      const bytes = JSON.stringify(value).length;
      const weight = weigh(value);
      assert.ok(weight > bytes / 2 && weight < 3 * bytes, `${weight} for ${bytes}`);
    }
  });
});

describe('names', () => {
  it('takes the underscore off our own families only', () => {
    assert.deepEqual(plainName('_aster/interject'), { name: 'aster/interject', underscored: true });
    assert.deepEqual(plainName('_deck/status'), { name: 'deck/status', underscored: true });
    for (const name of ['aster/interject', '_session/list', '__aster/x', '_', '']) {
      assert.deepEqual(plainName(name), { name, underscored: false });
    }
  });
});

describe('the first line of a socket', () => {
  let folder: string;
  let server: net.Server;
  let address: string;
  const connect = async (serve: (socket: net.Socket) => void) => {
    server = net.createServer(serve);
    await new Promise<void>((resolve) => server.listen(address, resolve));
    return net.connect(address);
  };
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'deck-line-'));
    address = path.join(folder, 's');
  });
  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve));
    fs.rmSync(folder, { recursive: true });
  });

  it('is read whatever its pieces, and what follows flows to the next reader', async () => {
    const socket = await connect((peer) => {
      peer.write('{"ok":');
      setTimeout(() => peer.end('true}\nContent-Length: 2\r\n\r\n{}'), 20);
    });
    assert.equal(await readLine(socket, 100, 1_000), '{"ok":true}');
    const rest = new PassThrough();
    socket.on('data', (chunk) => rest.write(chunk)).on('end', () => rest.end());
    let text = '';
    for await (const chunk of rest) text += String(chunk);
    assert.equal(text, 'Content-Length: 2\r\n\r\n{}');
  });

  it('must not be too long, come too late, or be cut short', async () => {
    const long = await connect((peer) => peer.end('x'.repeat(200)));
    await assert.rejects(readLine(long, 100, 1_000), /longer than 100/);
    long.destroy();
    const silent = net.connect(address);
    server.removeAllListeners('connection');
    await assert.rejects(readLine(silent, 100, 50), /No answer/);
    silent.destroy();
    server.on('connection', (peer) => peer.end('half'));
    await assert.rejects(readLine(net.connect(address), 100, 1_000), EndedError);
  });
});
