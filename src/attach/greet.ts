import net from 'node:net';
import { PROTOCOL_VERSION, HelloAnswer, type Endpoint, type Hello } from '../protocol/hello.js';
import type { ClientOptions } from '../protocol/deck.js';
import { AttachError, systemCode } from './errors.js';
import { EndedError, readLine } from './line.js';

const ANSWER_TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** Nobody listens there any more, or it ended just now. */
const GONE = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTSOCK']);

export interface Greeting {
  readonly surface: Hello['surface'];
  readonly client: ClientOptions;
  /** Version of the caller. */
  readonly version: string;
}

export type Greeted =
  | { readonly kind: 'attached'; readonly socket: net.Socket; readonly answer: HelloAnswer & { ok: true } }
  | { readonly kind: 'refused'; readonly answer: HelloAnswer & { ok: false } }
  | { readonly kind: 'gone' };

function connect(address: string, signal: AbortSignal | undefined): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ path: address, ...(signal ? { signal } : {}) });
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

function parseAnswer(line: string): HelloAnswer {
  return HelloAnswer.parse(JSON.parse(line));
}

/**
 * Connects to a service and says hello. The socket of `attached` is ready for the surface's own framing and has no
 * listeners: the caller must listen for its `error`.
 */
export async function greet(
  endpoint: Endpoint,
  greeting: Greeting,
  signal: AbortSignal | undefined,
): Promise<Greeted> {
  let socket: net.Socket | undefined;
  try {
    socket = await connect(endpoint.socket, signal);
    const hello: Hello = {
      hello: 'session-deck',
      protocol: PROTOCOL_VERSION,
      version: greeting.version,
      token: endpoint.token,
      surface: greeting.surface,
      client: greeting.client,
    };
    socket.write(`${JSON.stringify(hello)}\n`);
    const answer = parseAnswer(await readLine(socket, MAX_ANSWER_BYTES, ANSWER_TIMEOUT_MS));
    if (answer.ok) return { kind: 'attached', socket, answer };
    socket.destroy();
    return { kind: 'refused', answer };
  } catch (error) {
    socket?.destroy();
    signal?.throwIfAborted();
    if (error instanceof EndedError || GONE.has(systemCode(error) ?? '')) return { kind: 'gone' };
    const reason = error instanceof Error ? error.message : String(error);
    throw new AttachError(
      'no_answer',
      `The session service (process ${endpoint.pid}) does not answer: ${reason}`,
      {
        cause: error,
      },
    );
  }
}
