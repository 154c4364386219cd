import type { Socket } from 'node:net';
import { ndJsonStream, type AnyMessage, type Stream } from '@agentclientprotocol/sdk';

/**
 * The protocol's messages on a socket, one JSON object a line. A write is done when the peer has room for more. When
 * the peer has said its last word, the stream ends once `answered` settles.
 */
export function acpStream(socket: Socket, answered: () => Promise<void>): Stream {
  const chunks = socket[Symbol.asyncIterator]();
  const input = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        const chunk: unknown = next.value;
        if (next.done === true) {
          await answered();
          controller.close();
        } else if (chunk instanceof Uint8Array) controller.enqueue(chunk);
      },
      cancel() {
        socket.destroy();
      },
    },
    { highWaterMark: 0 },
  );
  const output = new WritableStream<Uint8Array>({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        socket.write(chunk, (error) => {
          if (error) reject(error);
          else resolve();
        });
      }),
  });
  return inOrder(ndJsonStream(output, input));
}

/**
 * Holds back what follows `initialize` until that is answered: the SDK refuses it before, and a peer that sends its
 * requests in one go has done nothing wrong.
 */
function inOrder({ readable, writable }: Stream): Stream {
  let initialize: { id: unknown; answered: () => void } | undefined;
  let gate = Promise.resolve();
  const incoming = new TransformStream<AnyMessage, AnyMessage>(
    {
      async transform(message, controller) {
        await gate;
        if ('method' in message && message.method === 'initialize' && 'id' in message) {
          const { id } = message;
          gate = new Promise((answered) => (initialize = { id, answered }));
        }
        controller.enqueue(message);
      },
    },
    undefined,
    { highWaterMark: 0 },
  );
  const outgoing = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      controller.enqueue(message);
      if (initialize && !('method' in message) && message.id === initialize.id) initialize.answered();
    },
  });
  const failed = () => undefined;
  // Either end's failure reaches the SDK through the stream that it holds.
  readable.pipeTo(incoming.writable).catch(failed);
  outgoing.readable.pipeTo(writable).catch(failed);
  return { readable: incoming.readable, writable: outgoing.writable };
}
