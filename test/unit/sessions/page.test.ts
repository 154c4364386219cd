import assert from 'node:assert/strict';
import type { EntryContentResult } from '../../../src/protocol/deck.js';
import { appendFileSync, existsSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { PageResult, TranscriptUpdate } from '../../../src/protocol/aster.js';
import {
  PageResult as PageResultSchema,
  TranscriptUpdate as UpdateSchema,
} from '../../../src/protocol/aster.js';
import {
  ClaudeFile,
  type Deck,
  never,
  openDeck,
  pageOf,
  removeFolders,
  temporaryFolder,
  TestClient,
  until,
  withCode,
} from './support.js';

const CWD = '/deck-test/app';

describe('transcript pages', () => {
  let deck: Deck;
  let file: ClaudeFile;
  beforeEach(async () => {
    const home = temporaryFolder();
    file = new ClaudeFile(home, 'aaaaaaaa-0000-4000-8000-000000000001', CWD);
    file.write(...Array.from({ length: 10 }, (_, i) => file.turn(`prompt ${i}`)));
    deck = await openDeck(home, temporaryFolder());
  });
  afterEach(async () => {
    await deck.close();
    removeFolders();
  });
  const page = (more: Parameters<typeof pageOf>[2] = {}, client = deck.client): Promise<PageResult> =>
    deck.sessions.page(client, pageOf(file.id, CWD, more), never);

  it('open at the end, with tool calls beside their results', async () => {
    const { entries, total, prevCursor, nextCursor, cut } = PageResultSchema.parse(await page({ limit: 4 }));
    assert.equal(total, 30);
    assert.deepEqual(
      entries.map(({ kind, ordinal }) => [kind, ordinal]),
      [
        ['assistant', 26],
        ['user', 27],
        ['tool', 28],
        ['assistant', 29],
      ],
    );
    assert.ok(prevCursor);
    assert.equal(nextCursor, undefined);
    assert.equal(cut.generation, 0);
    assert.equal(entries[3]?.boundary, true);
    assert.equal(entries[2]?.tool?.output?.[0]?.type, 'text');
    assert.deepEqual(
      entries.map(({ turn }) => turn),
      [9, 10, 10, 10],
    );
  });

  it('give every entry once from both ends while the session grows', async () => {
    for (const direction of ['older', 'newer'] as const) {
      const seen: string[] = [];
      const before = (await page({ limit: 1 })).total;
      let next = await page({ anchor: direction === 'older' ? 'end' : 'start', limit: 7 });
      for (let step = 0; ; step += 1) {
        const ids = next.entries.map(({ id }) => id);
        if (direction === 'older') seen.unshift(...ids);
        else seen.push(...ids);
        if (step < 3) {
          file.append(file.turn(`growth ${direction} ${step}`));
          await until(() => deck.sessions.info(deck.client, { sessionId: file.id }).entryCount > next.total);
        }
        const cursor = direction === 'older' ? next.prevCursor : next.nextCursor;
        if (cursor === undefined) break;
        next = await page({ cursor, limit: 7 });
      }
      assert.equal(new Set(seen).size, seen.length);
      const all = await all50(page);
      const expected = direction === 'older' ? all.slice(0, before) : all;
      assert.deepEqual(seen, expected);
    }
  });

  it('refuse cursors from elsewhere and those that were changed', async () => {
    const other = new ClaudeFile(deck.home, 'bbbbbbbb-0000-4000-8000-000000000002', CWD);
    other.write(...Array.from({ length: 4 }, (_, i) => other.turn(`other ${i}`)));
    await until(() => deck.sessions.status(deck.client).counts.total === 2);
    const { prevCursor } = await deck.sessions.page(deck.client, pageOf(other.id, CWD, { limit: 2 }), never);
    assert.ok(prevCursor);
    await assert.rejects(page({ cursor: prevCursor }), withCode('cursor_invalid'));
    const own = (await page({ limit: 2 })).prevCursor ?? '';
    await page({ cursor: own });
    for (const at of [0, 10, own.length - 1]) {
      const changed = own.slice(0, at) + (own[at] === 'A' ? 'B' : 'A') + own.slice(at + 1);
      await assert.rejects(page({ cursor: changed }), withCode('cursor_invalid'));
    }
    const { nextCursor } = await deck.sessions.list(deck.client, { limit: 1 });
    await assert.rejects(page({ cursor: nextCursor ?? '' }), withCode('cursor_invalid'));
  });

  it('begin or end with an entry', async () => {
    const all = await all50(page);
    const newer = await page({ anchor: { entryId: all[9] ?? '' }, limit: 3 });
    assert.deepEqual(
      newer.entries.map(({ id }) => id),
      all.slice(9, 12),
    );
    assert.ok(newer.prevCursor && newer.nextCursor);
    const older = await page({ anchor: { entryId: all[9] ?? '' }, direction: 'older', limit: 3 });
    assert.deepEqual(
      older.entries.map(({ id }) => id),
      all.slice(7, 10),
    );
    await assert.rejects(page({ anchor: { entryId: 'nothing' } }), withCode('invalid_params'));
  });

  it('make cursors stale when the history was rewound', async () => {
    const first = await page({ limit: 2 });
    const early = await page({ anchor: 'start', limit: 2 });
    // The tool goes on behind the second turn; what came after it is another branch.
    file.append(file.rewind(8).turn('another way'));
    await until(() => deck.sessions.info(deck.client, { sessionId: file.id }).cut.generation === 1);
    await assert.rejects(page({ cursor: first.prevCursor ?? '' }), withCode('cursor_stale'));
    // Its place is in the new history too; what it was seen beside may not be.
    await assert.rejects(page({ cursor: early.nextCursor ?? '' }), withCode('cursor_stale'));
    const now = await page();
    assert.equal(now.cut.generation, 1);
    assert.ok(now.cut.revision > first.cut.revision);
    assert.equal(now.total, 9);
    assert.deepEqual(
      now.entries.map(({ ordinal }) => ordinal),
      [0, 1, 2, 3, 4, 5, 6, 7, 8],
    );
  });

  it('tell what was appended, in order and without gaps', async () => {
    const { cut, total } = await page();
    file.append(file.turn('live 1'));
    await until(() => updates(deck.client).at(-1)?.total === total + 3);
    file.append(file.turn('live 2'));
    await until(() => updates(deck.client).at(-1)?.total === total + 6);
    const told = updates(deck.client);
    let { revision } = cut;
    const ordinals: number[] = [];
    for (const update of told) {
      assert.equal(update.baseRevision, revision);
      revision = update.cut.revision;
      for (const { op, entry } of update.changes) if (op === 'append') ordinals.push(entry.ordinal);
    }
    assert.deepEqual(ordinals, [30, 31, 32, 33, 34, 35]);
    deck.sessions.unwatch(deck.client, { sessionId: file.id });
    file.append(file.turn('unseen'));
    await until(() => deck.sessions.info(deck.client, { sessionId: file.id }).entryCount === total + 9);
    assert.equal(updates(deck.client).length, told.length);
  });

  it('show what can be read of a file that was cut short, replaced or deleted', async () => {
    const all = await page({ limit: 200 });
    truncateSync(file.path, 500);
    const cut = await page({ limit: 200 });
    assert.equal(cut.cut.generation, all.cut.generation + 1);
    assert.ok(cut.total < all.total);

    const other = new ClaudeFile(deck.home, file.id, CWD);
    writeFileSync(file.path, other.turn('another session altogether'));
    const replaced = await page();
    assert.equal(replaced.total, 3);
    assert.equal(textOf(replaced.entries[0]), 'another session altogether');

    rmSync(file.path);
    const gone = await page();
    assert.equal(gone.total, 3);
    assert.ok(gone.entries.every(({ kind }) => kind === 'raw'));
    const row = (await deck.sessions.list(deck.client, {})).sessions[0];
    assert.equal(row?.sessionId, file.id);
    assert.equal(row.unreadable, 'The file is gone.');

    appendFileSync(file.path, other.turn('back'));
    await until(() => deck.sessions.info(deck.client, { sessionId: file.id }).unreadable === undefined);
  });

  it('answer the same for a session that is unknown, deleted or out of scope', async () => {
    const stranger = deck.clients.attach(new TestClient('stranger').only('/deck-test/elsewhere'));
    const said: string[] = [];
    const note = (work: () => Promise<unknown>) =>
      work().then(
        () => assert.fail('it answered'),
        (error: unknown) =>
          said.push(
            JSON.stringify(
              error,
              Object.getOwnPropertyNames(error).filter((name) => name !== 'stack'),
            ),
          ),
      );
    await note(() => page({}, stranger));
    await note(() => deck.sessions.page(deck.client, pageOf('unknown', CWD), never));
    await note(() => deck.sessions.page(deck.client, pageOf(file.id, '/deck-test/other'), never));
    await deck.sessions.delete(deck.client, { sessionId: file.id, cwd: CWD });
    await note(() => page());
    assert.equal(new Set(said).size, 1, said.join('\n'));
    await assert.rejects(
      deck.sessions.page(deck.client, pageOf('unknown', 'relative'), never),
      withCode('invalid_params'),
    );
  });

  it('cut long content and hand out the rest and the images by ref', async () => {
    const long = 'längere Antwort '.repeat(20_000);
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } };
    file.append(
      file.turn('long', long),
      file.line('user', { message: { role: 'user', content: [{ type: 'text', text: 'look' }, image] } }),
    );
    const { entries } = await page({ limit: 2 });
    const cut = entries[0]?.truncated;
    assert.equal(cut?.bytes, Buffer.byteLength(long));
    let read = '';
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const part: EntryContentResult = await deck.sessions.entryContent(deck.client, {
        sessionId: file.id,
        ref: cut.ref,
        offset,
        limit: 99_999,
      });
      read += part.data;
      offset = part.nextOffset;
    }
    assert.equal(read, long);
    const block = entries[1]?.content[1];
    assert.ok(block?.type === 'image' && block.data === undefined);
    assert.deepEqual(
      await deck.sessions.entryContent(deck.client, { sessionId: file.id, ref: block.ref ?? '' }),
      { encoding: 'base64', data: 'aGVsbG8=', bytes: 5, mimeType: 'image/png' },
    );
    for (const ref of ['content:nothing', 'image.content.7:x', '/etc/passwd'])
      await assert.rejects(
        deck.sessions.entryContent(deck.client, { sessionId: file.id, ref }),
        withCode('invalid_params'),
      );
  });

  it('can be read from a store that cannot be written', async () => {
    await deck.close();
    file.append(file.turn('not in the index'));
    deck = await openDeck(deck.home, deck.storeDir, { readOnly: true });
    assert.equal(deck.sessions.status(deck.client).store.readOnly, true);
    assert.equal((await deck.sessions.list(deck.client, {})).sessions.length, 1);
    const { total, entries } = await page();
    assert.equal(total, 30);
    assert.ok(entries.every(({ kind }) => kind !== 'raw'));
    assert.throws(
      () => deck.sessions.rename(deck.client, { sessionId: file.id, title: 'x' }),
      withCode('store_read_only'),
    );
    await assert.rejects(
      deck.sessions.delete(deck.client, { sessionId: file.id, cwd: CWD }),
      withCode('store_read_only'),
    );
    assert.ok(existsSync(file.path));
    assert.deepEqual(deck.log.lines, []);
  });

  it('survive a restart in the middle, without reading files again', async () => {
    const before = await all50(page);
    await deck.close();
    file.append(file.turn('while nobody looked'));
    deck = await openDeck(deck.home, deck.storeDir);
    const after = await all50(page);
    assert.deepEqual(after.slice(0, 30), before);
    assert.equal(after.length, 33);
    assert.deepEqual(deck.scanner.scanned, [file.path]);
    await deck.close();
    deck = await openDeck(deck.home, deck.storeDir);
    assert.deepEqual(deck.scanner.scanned, []);
  });
});

const textOf = (entry: PageResult['entries'][number] | undefined): string | undefined =>
  entry?.content[0]?.type === 'text' ? entry.content[0].text : undefined;

function updates(client: TestClient): TranscriptUpdate[] {
  return client.told
    .filter(({ method }) => method === 'aster/session/transcript/update/v1')
    .map(({ params }) => UpdateSchema.parse(params));
}

/** The ids of all entries, by walking from the start. */
async function all50(page: (more?: Parameters<typeof pageOf>[2]) => Promise<PageResult>): Promise<string[]> {
  const ids: string[] = [];
  for (let next = await page({ anchor: 'start' }); ; next = await page({ cursor: next.nextCursor ?? '' })) {
    ids.push(...next.entries.map(({ id }) => id));
    if (next.nextCursor === undefined) return ids;
  }
}
