import type { Socket } from 'node:net';
import { AbstractMessageReader, type DataCallback, type Disposable, type Message } from 'vscode-jsonrpc/node';
import * as z from 'zod';

const MAX_HEADER_BYTES = 8 * 1024;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const HEADER_END = '\r\n\r\n';

const Envelope = z.looseObject({ jsonrpc: z.literal('2.0') });

/**
 * Reads LSP's framing from a socket. The library's own reader keeps whatever it is sent; this one gives up on a header
 * or a body that is too long, and on what is no JSON-RPC.
 */
export class LspReader extends AbstractMessageReader {
  private chunks: Buffer[] = [];
  private size = 0;
  /** Bytes of the body that is being read; undefined while the header is. */
  private body: number | undefined;

  constructor(private readonly socket: Socket) {
    super();
  }

  listen(callback: DataCallback): Disposable {
    const onData = (chunk: Buffer) => {
      this.chunks.push(chunk);
      this.size += chunk.length;
      try {
        for (let next = this.next(); next; next = this.next()) callback(next);
      } catch (error) {
        this.socket.off('data', onData);
        this.fireError(error);
      }
    };
    const onError = (error: Error) => this.fireError(error);
    const onClose = () => this.fireClose();
    this.socket.on('data', onData).on('error', onError).on('close', onClose);
    return {
      dispose: () => this.socket.off('data', onData).off('error', onError).off('close', onClose),
    };
  }

  /** The next whole message, if it has arrived. */
  private next(): Message | undefined {
    this.body ??= this.readHeader();
    if (this.body === undefined || this.size < this.body) return undefined;
    const text = this.take(this.body).toString('utf8');
    this.body = undefined;
    return Envelope.parse(JSON.parse(text));
  }

  private readHeader(): number | undefined {
    const start = this.peek(MAX_HEADER_BYTES).toString('latin1');
    const end = start.indexOf(HEADER_END);
    if (end < 0) {
      if (start.length >= MAX_HEADER_BYTES) throw new Error('a message has no header that ends');
      return undefined;
    }
    const length = /^content-length:\s*(\d{1,12})\s*$/im.exec(start.slice(0, end))?.[1];
    if (length === undefined) throw new Error('a message does not tell its Content-Length');
    if (Number(length) > MAX_BODY_BYTES) throw new Error(`a message is longer than ${MAX_BODY_BYTES} bytes`);
    this.take(end + HEADER_END.length);
    return Number(length);
  }

  /** The first bytes, at most `count`, without taking them. */
  private peek(count: number): Buffer {
    const parts: Buffer[] = [];
    let size = 0;
    for (const chunk of this.chunks) {
      if (size >= count) break;
      parts.push(chunk);
      size += chunk.length;
    }
    return Buffer.concat(parts).subarray(0, count);
  }

  private take(count: number): Buffer {
    const all = Buffer.concat(this.chunks);
    const rest = all.subarray(count);
    this.chunks = rest.length > 0 ? [rest] : [];
    this.size = rest.length;
    return all.subarray(0, count);
  }
}
