// Opens a store and prints what it can do with it as one line of JSON. usage: store_reader.ts DIR
import { DomainError } from '../../src/protocol/errors.js';
import { Store } from '../../src/service/store/store.js';
import { aSession } from './store_place.js';

async function read(dir: string): Promise<void> {
  const store = await Store.open(dir);
  if (!(store instanceof Store)) throw new Error('the store is owned');
  let write = 'done';
  try {
    store.records.putSession(aSession('written'));
  } catch (error) {
    write = error instanceof DomainError ? error.code : String(error);
  }
  const sessions = store.records.sessions().map(({ id }) => id);
  console.log(JSON.stringify({ readOnly: store.mode.readOnly, sessions, write }));
  store.close();
}

void read(process.argv[2]!);
