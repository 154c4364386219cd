import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { agentStream } from '../../../src/service/agents/agent_stream.js';

const update = (text: string) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: 's', update: { text } },
});

function open(maxLineBytes?: number) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const events: unknown[] = [];
  const garbage: number[] = [];
  const stream = agentStream(
    stdin,
    stdout,
    { update: (params) => events.push(params), garbage: (bytes) => garbage.push(bytes) },
    maxLineBytes,
  );
  return { stdin, stdout, events, garbage, reader: stream.readable.getReader(), stream };
}

describe('the stream of an agent', () => {
  it('delivers updates before the answer that follows them, whatever the chunks', async () => {
    const { stdout, events, reader } = open();
    const answer = { jsonrpc: '2.0', id: 1, result: { stopReason: 'end_turn', text: 'ä€😀' } };
    const bytes = Buffer.from(
      `${JSON.stringify(update('one'))}\r\n\n${JSON.stringify(update('two'))}\n${JSON.stringify(answer)}\n`,
    );
    for (const byte of bytes) stdout.write(Buffer.from([byte]));
    const first = await reader.read();
    assert.deepEqual(first.value, answer);
    assert.deepEqual(events, [update('one').params, update('two').params]);
  });

  it('counts garbage and goes on', async () => {
    const { stdout, garbage, reader } = open();
    stdout.end('no json\n[1]\n42\n"x"\nnull\n\u0000{\n{"jsonrpc":"2.0","id":1,"result":null}\n{"torn":');
    const first = await reader.read();
    assert.deepEqual(first.value, { jsonrpc: '2.0', id: 1, result: null });
    assert.equal(garbage.length, 6);
    assert.equal((await reader.read()).done, true);
    assert.equal(garbage.length, 7);
  });

  it('skips a line above the limit without keeping it', async () => {
    const { stdout, garbage, reader } = open(1000);
    stdout.write('x'.repeat(600));
    stdout.write('x'.repeat(600));
    stdout.write('x'.repeat(300));
    stdout.end('\n{"jsonrpc":"2.0","id":1,"result":1}\n');
    assert.deepEqual((await reader.read()).value, { jsonrpc: '2.0', id: 1, result: 1 });
    assert.deepEqual(garbage, [1500]);
  });

  it('reads no further than it is asked, so that the pipe fills up', async () => {
    const { stdout, reader } = open();
    const line = `${JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'x'.repeat(1000) })}\n`;
    let full = false;
    for (let i = 0; i < 1000 && !full; i += 1) full = !stdout.write(line);
    assert.ok(full);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(stdout.readableLength > 0);
    await reader.read();
  });

  it('writes one object a line', async () => {
    const { stdin, stream } = open();
    const writer = stream.writable.getWriter();
    await writer.write({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 'a\nb' } });
    assert.equal(
      String(stdin.read()),
      '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"a\\nb"}}\n',
    );
  });
});
