import { randomBytes, timingSafeEqual } from 'node:crypto';
import net from 'node:net';
import { readLine } from '../../attach/line.js';
import { Hello, PROTOCOL_VERSION, type HelloAnswer } from '../../protocol/hello.js';
import { serveAcp } from './acp.js';
import { serveEditor } from './editor.js';
import type { SurfaceParts } from './surface.js';

const HELLO_TIMEOUT_MS = 10_000;
const MAX_HELLO_BYTES = 1024 * 1024;

export interface ListenerOptions extends SurfaceParts {
  /** A peer has come or gone. */
  readonly onChange: () => void;
  /** An idle service may be asked to make room for a newer one; false when it is busy. */
  readonly handOver: () => boolean;
}

/** Takes connections on a local socket, checks who comes, and hands them to their surface. */
export class Listener {
  /** Peers must show it; it is in a file that only the user can read. */
  readonly token = randomBytes(32).toString('hex');
  private readonly server: net.Server;
  private readonly sockets = new Set<net.Socket>();
  private readonly greeted = new Set<net.Socket>();
  private closing = false;

  constructor(private readonly options: ListenerOptions) {
    // A peer that has said its last word still gets its answers.
    this.server = net.createServer({ allowHalfOpen: true }, (socket) => void this.accept(socket));
  }

  /** Peers that have said hello and are still there. */
  get peers(): number {
    return this.greeted.size;
  }

  /** Listens on a path of a Unix socket or the name of a Windows pipe. */
  listen(address: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(address, () => {
        this.server.off('error', reject);
        this.server.on('error', (error) => this.options.log.error('the listener failed', error));
        resolve();
      });
    });
  }

  /** Takes nobody any more. */
  stopAccepting(): void {
    this.closing = true;
    this.server.close();
  }

  /** Ends the connections that are left. */
  destroyAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private async accept(socket: net.Socket): Promise<void> {
    this.sockets.add(socket);
    // Until a surface listens, a failure only means that the peer has gone.
    const onError = (error: Error) => this.options.log.debug('a connection failed', error);
    socket.on('error', onError);
    socket.once('close', () => {
      this.sockets.delete(socket);
      if (this.greeted.delete(socket)) this.options.onChange();
    });
    try {
      const hello = this.parse(await readLine(socket, MAX_HELLO_BYTES, HELLO_TIMEOUT_MS));
      const refusal = this.refusal(hello);
      if (refusal || !hello) {
        socket.write(`${JSON.stringify(refusal)}\n`);
        socket.destroySoon();
        return;
      }
      const answer: HelloAnswer = { ok: true, version: this.options.version, pid: process.pid };
      socket.write(`${JSON.stringify(answer)}\n`);
      if (hello.surface === 'handover') {
        socket.destroySoon();
        return;
      }
      this.greeted.add(socket);
      this.options.onChange();
      const serve = hello.surface === 'editor' ? serveEditor : serveAcp;
      serve(socket, hello.client, this.options);
      socket.off('error', onError);
    } catch (error) {
      this.options.log.debug('a connection did not say hello', error);
      socket.destroy();
    }
  }

  private parse(line: string): Hello | undefined {
    try {
      return Hello.safeParse(JSON.parse(line)).data;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  private refusal(hello: Hello | undefined): (HelloAnswer & { ok: false }) | undefined {
    if (!hello) return { ok: false, reason: 'invalid', message: 'That is no hello of Session Deck.' };
    const given = Buffer.from(hello.token);
    const wanted = Buffer.from(this.token);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
      return { ok: false, reason: 'unauthorized', message: 'The session service refused the token.' };
    }
    if (this.closing) return { ok: false, reason: 'busy', message: 'The session service is ending.' };
    if (hello.surface === 'handover') {
      if (this.options.handOver()) return undefined;
      return { ok: false, reason: 'busy', message: 'The session service is in use.' };
    }
    if (hello.protocol !== PROTOCOL_VERSION) {
      return {
        ok: false,
        reason: 'protocol_mismatch',
        message: `The session service speaks version ${PROTOCOL_VERSION} of the wire, not ${hello.protocol}.`,
      };
    }
    return undefined;
  }
}
