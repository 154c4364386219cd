import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorePlace } from '../support/store_place.js';
import { until } from '../support/service.js';

const CONTENDERS = 5;
const KILLS = 8;
const script = path.join(import.meta.dirname, '../support/store_child.ts');

/** One process, and from when to when it said that it owns the lock. */
interface Contender {
  readonly child: ChildProcess;
  first?: bigint;
  last?: bigint;
}

describe('processes that want the same store', function () {
  this.timeout(90_000);
  let place: StorePlace;
  const all: Contender[] = [];
  before(() => {
    place = new StorePlace();
    fs.mkdirSync(place.dir);
  });
  after(async () => {
    for (const { child } of all)
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    place.dispose();
  });

  function contend(): void {
    const child = spawn(process.execPath, ['--import', 'tsx', script, 'own', place.dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const contender: Contender = { child };
    all.push(contender);
    let rest = '';
    child.stdout.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const time = BigInt(line.split(' ')[1]!);
        contender.first ??= time;
        contender.last = time;
      }
    });
  }

  it('own it one after the other, however often the owner is killed', async () => {
    for (let i = 0; i < CONTENDERS + KILLS; i += 1) contend();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const owner = await until(
        () => all.find((one) => one.first !== undefined && one.child.signalCode === null),
        `owner ${kill}`,
        40_000,
      );
      await sleep(40);
      owner.child.kill('SIGKILL');
      await once(owner.child, 'exit');
    }
    await until(
      () => all.some((one) => one.first !== undefined && one.child.signalCode === null),
      'an owner',
    );
    await sleep(100);

    const owners = all
      .flatMap(({ first, last }) => (first === undefined || last === undefined ? [] : [{ first, last }]))
      .sort((a, b) => (a.first < b.first ? -1 : 1));
    assert.equal(owners.length, KILLS + 1);
    owners.slice(1).forEach(({ first }, i) => {
      assert.ok(first > owners[i]!.last, `owner ${i + 1} began before owner ${i} ended`);
    });
    assert.equal(fs.readdirSync(place.dir).filter((name) => name.startsWith('owner.')).length, 1);
  });
});
