import type { Socket } from 'node:net';
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk';

/** The protocol's messages on a socket, one JSON object a line. A write is done when the peer has room for more. */
export function acpStream(socket: Socket): Stream {
  const chunks = socket[Symbol.asyncIterator]();
  const input = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        const chunk: unknown = next.value;
        if (next.done === true) controller.close();
        else if (chunk instanceof Uint8Array) controller.enqueue(chunk);
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
  return ndJsonStream(output, input);
}
