import assert from 'node:assert/strict';
import { MAX_ENTRY_BYTES, type Entry } from '../../../src/protocol/entry.js';
import { cutEntry, parseRef, slice, textOfPart } from '../../../src/service/sessions/content.js';
import { withCode } from './support.js';

const base: Entry = {
  id: 'e:1/x',
  ordinal: 0,
  turnId: 't',
  turn: 1,
  kind: 'assistant',
  at: '2026-01-01T00:00:00.000Z',
  content: [],
  boundary: false,
  replay: false,
};

/** Reads all slices of a text as a client would. */
function readAll(text: string, limit: number): string {
  const whole = Buffer.from(text);
  let read = '';
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const part = slice(whole, { offset, limit }, { encoding: 'utf8' });
    assert.equal(part.bytes, whole.length);
    read += part.data;
    offset = part.nextOffset;
  }
  return read;
}

describe('content', () => {
  it('leaves a small entry as it is', () => {
    const entry: Entry = { ...base, content: [{ type: 'text', text: 'ä'.repeat(1000) }] };
    assert.deepEqual(cutEntry(entry), entry);
  });

  it('cuts a long text at a character and reads all of it by ref', () => {
    const text = '日本語🙂'.repeat(20_000);
    const entry: Entry = { ...base, content: [{ type: 'text', text }] };
    const cut = cutEntry(entry);
    assert.ok(Buffer.byteLength(JSON.stringify(cut)) <= MAX_ENTRY_BYTES);
    const [block] = cut.content;
    assert.ok(block?.type === 'text' && text.startsWith(block.text) && block.text.length > 10_000);
    assert.equal(cut.truncated?.bytes, Buffer.byteLength(text));
    const ref = parseRef(cut.truncated.ref);
    assert.ok(ref.part === 'content' && ref.entryId === base.id);
    assert.equal(textOfPart(entry, ref.part), text);
    for (const limit of [1, 2, 3, 5, 1000])
      assert.equal(readAll(text.slice(0, 500), limit), text.slice(0, 500));
    assert.equal(readAll(text, 65_537), text);
  });

  it('keeps a tool call below the limit whatever part is long', () => {
    const long = 'x'.repeat(300_000);
    const tool = { callId: 'c', name: 'Write', title: 'w', kind: 'edit', status: 'completed' } as const;
    const output: Entry = {
      ...base,
      kind: 'tool',
      tool: { ...tool, output: [{ type: 'text', text: long }] },
    };
    assert.equal(cutEntry(output).truncated?.ref, 'output:e:1/x');
    const all: Entry = {
      ...base,
      kind: 'tool',
      tool: {
        ...tool,
        input: {
          file: '/a',
          deep: [{ content: long }],
          keys: Array.from({ length: 9000 }, (_, i) => `k${i}`),
        },
        output: [{ type: 'text', text: long }],
        diffs: [
          { path: '/a', oldText: null, newText: long },
          { path: '/b', oldText: long, newText: long + 'y' },
          { path: '/c', oldText: 'a', newText: 'b' },
        ],
      },
    };
    const cut = cutEntry(all);
    assert.ok(Buffer.byteLength(JSON.stringify(cut)) <= MAX_ENTRY_BYTES);
    assert.equal(cut.truncated?.ref, 'entry:e:1/x');
    // A diff that is shown is true.
    assert.ok(cut.tool?.diffs?.every(({ oldText, path }) => oldText === null || path === '/c'));
  });

  it('puts images out as refs, whatever their size', () => {
    const data = Buffer.from('picture').toString('base64');
    const cut = cutEntry({ ...base, content: [{ type: 'image', mimeType: 'image/png', data }] });
    assert.deepEqual(cut.content, [
      { type: 'image', mimeType: 'image/png', ref: 'image.content.0:e:1/x', bytes: 7 },
    ]);
    assert.deepEqual(parseRef('image.content.0:e:1/x'), {
      entryId: 'e:1/x',
      part: 'image',
      place: 'content',
      index: 0,
    });
  });

  it('refuses a ref that is not ours', () => {
    for (const ref of [
      '',
      'x',
      'content:',
      '../../etc/passwd',
      'image.input.0:e',
      'constructor:e',
      'blob:abc',
    ])
      assert.throws(() => parseRef(ref), withCode('invalid_params'), ref);
  });
});
