import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorePlace } from '../support/store_place.js';
import { until } from '../support/service.js';

const ROUNDS = 3;
const script = path.join(import.meta.dirname, '../support/store_child.ts');
const blobName = /^[0-9a-f]{64}$/;

describe('kill -9 of a process that keeps blobs', function () {
  this.timeout(60_000);
  let place: StorePlace;
  before(() => {
    place = new StorePlace();
  });
  after(() => place.dispose());

  it('leaves no half blob under a name, and every acknowledged one', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const dir = path.join(place.root, `round-${round}`);
      const child = spawn(process.execPath, ['--import', 'tsx', script, 'blobs', dir], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      await until(() => out.split('\n').length > 4, 'some blobs', 20_000);
      await sleep(Math.random() * 50);
      child.kill('SIGKILL');
      await ended;
      const files = fs
        .readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && blobName.test(entry.name));
      for (const { parentPath, name } of files) {
        const bytes = fs.readFileSync(path.join(parentPath, name));
        assert.equal(createHash('sha256').update(bytes).digest('hex'), name);
      }
      const acknowledged = out.slice(0, out.lastIndexOf('\n')).split('\n');
      const names = new Set(files.map(({ name }) => name));
      assert.ok(acknowledged.every((sha256) => names.has(sha256)));
    }
  });
});
