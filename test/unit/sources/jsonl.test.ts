import assert from 'node:assert/strict';
import { appendFile, open, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseLine, readLines, type Line } from '../../../src/service/sources/jsonl.js';
import { CLAUDE_FILE, CODEX_FILE, inFolder, never, outline, render, sourceOf, text } from './tools.js';

async function linesIn(
  bytes: Buffer | string,
  from = 0,
): Promise<{ lines: (Line & { text: string })[]; end: number }> {
  return inFolder(async (dir) => {
    const file = path.join(dir, 'x.jsonl');
    await writeFile(file, bytes);
    const handle = await open(file, 'r');
    try {
      const lines: (Line & { text: string })[] = [];
      const end = await readLines(
        handle,
        from,
        (line) => lines.push({ ...line, text: line.bytes.toString() }),
        never,
      );
      return { lines, end };
    } finally {
      await handle.close();
    }
  });
}
const lineOf = (bytes: Buffer | string): Line => {
  const buffer = Buffer.from(bytes);
  return { offset: 100, length: buffer.length, bytes: buffer, capped: false };
};

describe('readLines', () => {
  it('gives complete lines with their place, leaves an unfinished one', async () => {
    const { lines, end } = await linesIn('{"a":1}\r\n\n{"b":"é"}\n{"c"');
    assert.deepEqual(
      lines.map(({ offset, length, text: words }) => [offset, length, words]),
      [
        [0, 7, '{"a":1}'],
        [10, 10, '{"b":"é"}'],
      ],
    );
    assert.equal(end, 21);
  });

  it('goes on from an offset', async () => {
    const { lines, end } = await linesIn('{"a":1}\n{"b":2}\n', 8);
    assert.deepEqual([lines.map((line) => line.text), lines[0]?.offset, end], [['{"b":2}'], 8, 16]);
  });

  it('puts lines together that lie across chunks', async () => {
    const long = 'x'.repeat(700_000);
    const { lines } = await linesIn(`${long}\nshort\n${long}y\n`);
    assert.deepEqual(
      lines.map((line) => [line.text.length, line.text.at(-1)]),
      [
        [700_000, 'x'],
        [5, 't'],
        [700_001, 'y'],
      ],
    );
  });

  it('refuses a file that is shorter than the offset', async () => {
    await assert.rejects(linesIn('abc\n', 10), { name: 'FileShrunkError' });
  });
});

describe('parseLine', () => {
  it('recovers the record behind a torn one', () => {
    const record = { type: 'user', message: { content: '{"x":1}' } };
    const whole = JSON.stringify(record);
    assert.deepEqual(parseLine(lineOf(`{"type":"assis${whole}`)), [
      { ok: false, offset: 100, length: 14 },
      { ok: true, value: record, offset: 114, length: whole.length },
    ]);
  });

  it('separates records on one line', () => {
    assert.deepEqual(parseLine(lineOf('{"a":1}{"b":2}{"c":3}')), [
      { ok: true, value: { a: 1 }, offset: 100, length: 7 },
      { ok: true, value: { b: 2 }, offset: 107, length: 7 },
      { ok: true, value: { c: 3 }, offset: 114, length: 7 },
    ]);
  });

  it('does not take apart any number of them', () => {
    const some = parseLine(lineOf('{"a":1}'.repeat(300)));
    assert.deepEqual([some.length, some[0]?.ok, some[1]?.ok], [51, false, true]);
    assert.equal(
      some.reduce((sum, { length }) => sum + length, 0),
      2100,
    );
    assert.deepEqual(parseLine(lineOf('{"a":1}'.repeat(5000))), [{ ok: false, offset: 100, length: 35_000 }]);
  });

  it('passes over NULs, before a record or alone', () => {
    assert.deepEqual(parseLine(lineOf('\0\0\0')), []);
    assert.deepEqual(parseLine(lineOf('\0\0{"a":1}')), [
      { ok: true, value: { a: 1 }, offset: 102, length: 7 },
    ]);
  });

  it('replaces invalid UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc3]), Buffer.from('"}')]);
    assert.deepEqual(parseLine(lineOf(bytes)), [
      { ok: true, value: { a: '\ufffd\ufffd' }, offset: 100, length: 10 },
    ]);
  });

  it('gives up a line of many beginnings without taking long', () => {
    const began = performance.now();
    assert.equal(parseLine(lineOf('{"a":'.repeat(1_000_000)))[0]?.ok, false);
    assert.ok(performance.now() - began < 5000);
  });
});

const user = (uuid: string, parentUuid: string | null, content: string) => ({
  type: 'user',
  uuid,
  parentUuid,
  timestamp: '2026-09-20T10:00:00Z',
  message: { role: 'user', content },
});

describe('A file that is read', () => {
  it('may hold a line of 70 MB, which is shown and not read', async function () {
    this.timeout(30_000);
    await inFolder(async (dir) => {
      const file = path.join(dir, CLAUDE_FILE);
      await writeFile(file, text([user('u1', null, 'before')]));
      await appendFile(file, '{"type":"user","uuid":"big","message":{"content":"');
      const piece = 'A'.repeat(1024 * 1024);
      for (let i = 0; i < 70; i++) await appendFile(file, piece);
      await appendFile(file, `"}}\n${text([user('u2', 'big', 'after')])}`);
      const source = sourceOf('claude-code');
      global.gc?.();
      const before = process.memoryUsage();
      const scan = await source.scan(file, 0, undefined, never);
      const after = process.memoryUsage();
      assert.ok(
        after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed < 40 * 1024 * 1024,
      );
      assert.deepEqual(
        outline(scan).map((line) => line.slice(0, 50)),
        ['user: before', 'raw: A record of 70.0 MB is too long to read. {"ty', 'user: after |'],
      );
      assert.equal(scan.totals.skipped, 1);
      const body = await render(source, file, scan.entries[1]!);
      assert.match(JSON.stringify(body), /70\.0 MB is too long.*beginning/);
      assert.ok(JSON.stringify(body).length < 20_000);
    });
  });

  it('shows a compaction of Codex that is too long by its summary', async () => {
    await inFolder(async (dir) => {
      const file = path.join(dir, CODEX_FILE);
      const start =
        '{"timestamp":"2026-09-20T10:00:00Z","type":"compacted","payload":{"message":"The \\"summary\\"","replacement_history":["';
      await writeFile(file, `${start}${'A'.repeat(9 * 1024 * 1024)}"]}}\n`);
      const source = sourceOf('codex');
      const scan = await source.scan(file, 0, undefined, never);
      assert.deepEqual(outline(scan), ['compaction: Conversation compacted |']);
      const body = await render(source, file, scan.entries[0]!);
      assert.deepEqual(body.content, [{ type: 'text', text: 'The "summary"' }]);
      assert.equal(scan.totals.skipped, 0);
    });
  });

  it('may be truncated: the scan says so and works again from the start', async () => {
    await inFolder(async (dir) => {
      const file = path.join(dir, CLAUDE_FILE);
      await writeFile(file, text([user('u1', null, 'one'), user('u2', 'u1', 'two')]));
      const source = sourceOf('claude-code');
      const { offset, state } = await source.scan(file, 0, undefined, never);
      await truncate(file, 20);
      await assert.rejects(source.scan(file, offset, state, never), { name: 'FileShrunkError' });
      const again = await source.scan(file, 0, undefined, never);
      assert.deepEqual([again.entries, again.offset, again.mode], [[], 0, 'rewrite']);
    });
  });

  it('may be replaced by another as long: all of it is read', async () => {
    await inFolder(async (dir) => {
      const file = path.join(dir, CLAUDE_FILE);
      await writeFile(file, text([user('u1', null, 'one')]));
      const source = sourceOf('claude-code');
      const { offset, state } = await source.scan(file, 0, undefined, never);
      await rm(file);
      await writeFile(file, text([user('x1', null, 'uno'), user('x2', 'x1', 'due')]));
      const scan = await source.scan(file, offset, state, never);
      assert.equal(scan.mode, 'rewrite');
      assert.deepEqual(outline(scan), ['user: uno |', 'user: due |']);
    });
  });

  it('may be deleted while it is read: what was opened is read to its end', async () => {
    await inFolder(async (dir) => {
      const file = path.join(dir, CLAUDE_FILE);
      const lines = Array.from({ length: 5000 }, (_, i) =>
        user(`u${i}`, i === 0 ? null : `u${i - 1}`, 'x'.repeat(200)),
      );
      await writeFile(file, text(lines));
      const source = sourceOf('claude-code');
      const reading = source.scan(file, 0, undefined, never);
      // The open call of the scan is under way; wait until it has its handle.
      await new Promise((resolve) => setTimeout(resolve, 2));
      await rm(file);
      const outcome = await reading.then(
        (scan) => String(scan.entries.length),
        (error: unknown) => String(error),
      );
      assert.match(outcome, /^5000$|ENOENT/);
      await assert.rejects(source.scan(file, 0, undefined, never), { code: 'ENOENT' });
      const head = await source.head({
        path: file,
        size: 1,
        mtimeMs: 1,
        ino: '',
        role: 'session',
        sessionId: 'x',
      });
      assert.equal(head.unreadable, 'The file is gone');
    });
  });

  it('can be left when the reader is aborted', async () => {
    await inFolder(async (dir) => {
      const file = path.join(dir, CLAUDE_FILE);
      await writeFile(file, text([user('u1', null, 'one')]));
      const abort = new AbortController();
      abort.abort();
      await assert.rejects(sourceOf('claude-code').scan(file, 0, undefined, abort.signal), {
        name: 'AbortError',
      });
    });
  });

  it('is not consumed beyond its last complete line', async () => {
    await inFolder(async (dir) => {
      const file = path.join(dir, CLAUDE_FILE);
      const whole = text([user('u1', null, 'one'), user('u2', 'u1', 'two')]);
      await writeFile(file, whole.slice(0, -10));
      const source = sourceOf('claude-code');
      const first = await source.scan(file, 0, undefined, never);
      assert.deepEqual(outline(first), ['user: one |']);
      await writeFile(file, whole);
      const second = await source.scan(file, first.offset, first.state, never);
      assert.equal(second.mode, 'append');
      assert.equal(second.offset, whole.length);
      assert.ok(outline(second).includes('user: two |'));
    });
  });
});
