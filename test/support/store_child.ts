// A process that uses a store, to be killed. usage: store_child.ts burst|own|blobs DIR
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { Blobs } from '../../src/service/store/blobs.js';
import { OwnerLock } from '../../src/service/store/lock.js';
import { Store } from '../../src/service/store/store.js';
import { aSession, anEntry } from './store_place.js';

/** Appends to session `burst` for ever; prints the ordinal of each entry once it is acknowledged. */
async function burst(dir: string): Promise<void> {
  const store = await Store.open(dir);
  if (!(store instanceof Store)) throw new Error(`process ${store.owner.pid} has the store`);
  const { records } = store;
  if (records.sessions().length === 0) records.putSession(aSession('burst'));
  let next = records.sessions()[0]!.entryCount;
  for (;;) {
    // Entries and the session's row belong together; some entries are larger than a page.
    const some = [next, next + 1].map((ordinal) =>
      anEntry(ordinal, `${ordinal} ${'x'.repeat(ordinal % 7 === 0 ? 20_000 : 300)}`),
    );
    records.transaction(() => {
      records.putEntries('burst', 1, some);
      records.putSession(aSession('burst', { entryCount: next + 2, revision: next + 2 }));
    });
    next += 2;
    fs.writeSync(1, `${next}\n`);
  }
}

/** Takes the lock when it is free and says while it holds it, with the time. */
async function own(dir: string): Promise<void> {
  const say = (what: string) => fs.writeSync(1, `${what} ${process.hrtime.bigint()}\n`);
  for (;;) {
    const lock = OwnerLock.acquire(dir);
    if (lock instanceof OwnerLock) {
      say('owns');
      setInterval(() => {
        if (lock.held()) say('holds');
      }, 2);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Keeps blobs of some megabytes for ever; prints the sha256 of each once it is acknowledged. */
function blobs(dir: string): void {
  const kept = new Blobs(dir);
  for (;;) fs.writeSync(1, `${kept.put(randomBytes(3 << 20))}\n`);
}

const [what, dir] = process.argv.slice(2);
if (what === 'blobs') blobs(dir!);
else void (what === 'burst' ? burst : own)(dir!);
