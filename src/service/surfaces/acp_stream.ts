import type { Socket } from 'node:net';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { readLines } from '../lines.js';

/** A longer line is refused and skipped; the protocol's own default is the same. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/** The envelope of a JSON-RPC message; everything in it stays as it came. */
const Envelope = z.custom<AnyMessage>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const Initialize = z.object({
  method: z.literal('initialize'),
  id: z.union([z.string(), z.number(), z.null()]),
});

/**
 * The protocol's messages on a socket, one JSON object a line. A write is done when the peer has room for more. When
 * the peer has said its last word, the stream ends once `answered` settles.
 *
 * What follows `initialize` is held back until that is answered: the SDK refuses it before, and a peer that sends its
 * requests in one go has done nothing wrong.
 */
export function acpStream(
  socket: Socket,
  answered: () => Promise<void>,
  maxLineBytes = MAX_LINE_BYTES,
): Stream {
  let greeting: { readonly id: unknown; readonly answered: () => void } | undefined;
  const write = (message: AnyMessage) =>
    new Promise<void>((resolve, reject) => {
      socket.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  const refuse = (code: number, message: string) =>
    write({ jsonrpc: '2.0', id: null, error: { code, message } });

  async function* read(): AsyncGenerator<AnyMessage, undefined> {
    let gate = Promise.resolve();
    // The socket stays open for what is still to be answered.
    const chunks = socket.iterator({ destroyOnReturn: false });
    for await (const line of readLines(chunks, maxLineBytes)) {
      if (typeof line === 'number') {
        await refuse(INVALID_REQUEST, `A message must not be longer than ${String(maxLineBytes)} bytes.`);
        continue;
      }
      const value = parse(line);
      if (value === BLANK) continue;
      if (value === BROKEN) {
        await refuse(PARSE_ERROR, 'That is no JSON.');
        continue;
      }
      const message = Envelope.safeParse(value);
      if (!message.success) {
        await refuse(INVALID_REQUEST, 'A message must be one object; batches are not supported.');
        continue;
      }
      await gate;
      const { data: opening } = Initialize.safeParse(message.data);
      if (opening) gate = new Promise((resolve) => (greeting = { id: opening.id, answered: resolve }));
      yield message.data;
    }
    await answered();
    return undefined;
  }

  const messages = read();
  return {
    readable: new ReadableStream<AnyMessage>(
      {
        async pull(controller) {
          const next = await messages.next();
          if (next.done === true) controller.close();
          else controller.enqueue(next.value);
        },
        cancel() {
          socket.destroy();
        },
      },
      { highWaterMark: 0 },
    ),
    writable: new WritableStream<AnyMessage>({
      write: (message) => {
        const written = write(message);
        if (greeting && !('method' in message) && message.id === greeting.id) greeting.answered();
        return written;
      },
    }),
  };
}

const BLANK = Symbol('an empty line');
const BROKEN = Symbol('no JSON');

function parse(line: Buffer): unknown {
  const text = line.toString('utf8').trim();
  if (text === '') return BLANK;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) return BROKEN;
    throw error;
  }
}
