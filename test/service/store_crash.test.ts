import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorePlace } from '../support/store_place.js';
import { until } from '../support/service.js';

const ROUNDS = 5;
const script = path.join(import.meta.dirname, '../support/store_child.ts');

describe('kill -9 of a process that writes to the store', function () {
  this.timeout(60_000);
  let place: StorePlace;
  before(() => {
    place = new StorePlace();
  });
  after(() => place.dispose());

  it('loses nothing acknowledged and leaves nothing half done', async () => {
    let acknowledged = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const child = spawn(process.execPath, ['--import', 'tsx', script, 'burst', place.dir], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      const before = acknowledged;
      const last = () => Number(out.trimEnd().split('\n').at(-1) ?? 0);
      await until(() => last() > before + 20, 'a burst of entries', 20_000);
      await sleep(Math.random() * 300);
      child.kill('SIGKILL');
      await ended;
      acknowledged = Number(out.slice(0, out.lastIndexOf('\n')).split('\n').at(-1));

      const store = await place.open();
      assert.equal(store.mode.repaired, undefined);
      const session = store.records.sessions()[0];
      const entries = store.records.entries('burst', 1, 0, 1_000_000);
      assert.ok(
        entries.length >= acknowledged,
        `${entries.length} of ${acknowledged} entries in round ${round}`,
      );
      assert.ok(entries.every(({ ordinal }, i) => ordinal === i));
      assert.equal(session?.entryCount, entries.length);
      for (const { ordinal, place: where } of entries)
        assert.ok(where.in === 'store' && JSON.stringify(where.body).includes(`"${ordinal} xxx`));
      store.close();
    }
  });
});
