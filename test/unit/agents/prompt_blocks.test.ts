import assert from 'node:assert/strict';
import { fitBlocks } from '../../../src/service/agents/prompt_blocks.js';

const none = { image: false, audio: false, embeddedContext: false };
const all = { image: true, audio: true, embeddedContext: true };
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
const file = (uri: string, more: object) => ({ type: 'resource', resource: { uri, ...more } });

describe('blocks of a prompt', () => {
  it('go out as they came where the agent takes them, and what nobody knows always', () => {
    const blocks = [
      { type: 'text', text: 'hi' },
      { type: 'resource_link', uri: 'file:///a', name: 'a' },
      image,
      { ...image, type: 'audio' },
      file('file:///a.txt', { text: 'a' }),
      { type: 'hologram', beams: 3 },
    ];
    assert.deepEqual(fitBlocks(blocks, all), blocks);
    assert.deepEqual(fitBlocks(blocks, none)[0], blocks[0]);
    assert.deepEqual(fitBlocks(blocks, none)[1], blocks[1]);
    assert.deepEqual(fitBlocks(blocks, none)[5], blocks[5]);
    assert.equal(fitBlocks(blocks, none).length, blocks.length);
  });

  it('link an image that lies in a file, and name another one', () => {
    assert.deepEqual(fitBlocks([{ ...image, uri: 'file:///tmp/a%20b.png' }], none), [
      { type: 'resource_link', uri: 'file:///tmp/a%20b.png', name: 'a b.png', mimeType: 'image/png' },
    ]);
    const [named] = fitBlocks([{ ...image, uri: 'paste:shot.png' }], none);
    assert.match(
      JSON.stringify(named),
      /^{"type":"text".*image \\"paste:shot.png\\" \(image\/png, 3 bytes\)/,
    );
    const [sound] = fitBlocks([{ ...image, type: 'audio', mimeType: 'audio/wav' }], none);
    assert.match(JSON.stringify(sound), /an audio recording \(audio\/wav/);
  });

  it('turn an embedded file into text, or link it where it is no text or too long', () => {
    assert.deepEqual(fitBlocks([file('file:///a.txt', { text: 'a\nb' })], none), [
      { type: 'text', text: '<attachment uri="file:///a.txt">\na\nb\n</attachment>' },
    ]);
    const long = 'x'.repeat(300 * 1024);
    assert.deepEqual(fitBlocks([file('file:///long.txt', { text: long })], none), [
      { type: 'resource_link', uri: 'file:///long.txt', name: 'long.txt' },
    ]);
    const [unreachable] = fitBlocks([file('untitled:1', { text: long })], none);
    assert.ok(JSON.stringify(unreachable).length > long.length);
    assert.deepEqual(
      fitBlocks([file('file:///a.pdf', { blob: 'AAAA', mimeType: 'application/pdf' })], none),
      [{ type: 'resource_link', uri: 'file:///a.pdf', name: 'a.pdf', mimeType: 'application/pdf' }],
    );
    assert.deepEqual(
      fitBlocks([file('paste:a.png', { blob: 'AAAA', mimeType: 'image/png' })], { ...none, image: true }),
      [{ type: 'image', data: 'AAAA', mimeType: 'image/png', uri: 'paste:a.png' }],
    );
    const [lost] = fitBlocks([file('paste:x.bin', { blob: 'AAAA' })], none);
    assert.match(JSON.stringify(lost), /paste:x.bin.*left out/);
  });
});
