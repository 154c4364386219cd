import type { Socket } from 'node:net';

const NEWLINE = 0x0a;

/** The peer ended before a whole line arrived. */
export class EndedError extends Error {
  override readonly name = 'EndedError';
}

/**
 * Reads the first line of a socket, without its newline. What follows belongs to the next protocol and is put back.
 * Fails when the line is longer than `maxBytes`, takes longer than `timeoutMs`, or the peer ends first.
 */
export function readLine(socket: Socket, maxBytes: number, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (act: () => void) => {
      clearTimeout(timer);
      // Not 'data': a paused socket would stay paused for whoever listens next.
      socket.off('readable', onReadable).off('error', onError).off('close', onClose);
      act();
    };
    const onError = (error: Error) => settle(() => reject(error));
    const onClose = () => settle(() => reject(new EndedError('The connection ended before a line arrived.')));
    const onReadable = () => {
      for (;;) {
        const chunk: unknown = socket.read();
        if (!Buffer.isBuffer(chunk)) return;
        const end = chunk.indexOf(NEWLINE);
        size += end < 0 ? chunk.length : end;
        if (size > maxBytes) {
          settle(() => reject(new Error(`The first line is longer than ${maxBytes} bytes.`)));
          return;
        }
        if (end < 0) {
          chunks.push(chunk);
          continue;
        }
        chunks.push(chunk.subarray(0, end));
        settle(() => {
          const rest = chunk.subarray(end + 1);
          if (rest.length > 0) socket.unshift(rest);
          resolve(Buffer.concat(chunks).toString('utf8'));
        });
        return;
      }
    };
    const timer = setTimeout(
      () => settle(() => reject(new Error(`No answer within ${timeoutMs / 1000} seconds.`))),
      timeoutMs,
    );
    socket.on('readable', onReadable).on('error', onError).on('close', onClose);
  });
}
