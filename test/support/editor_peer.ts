import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import type { ClientOptions } from '../../src/protocol/deck.js';
import { methods, type ClientRequest, type ParamsInput, type Result } from '../../src/protocol/methods.js';
import { everything, type ServicePlace } from './service.js';

/** An editor window's end of the connection. */
export class EditorPeer {
  private constructor(
    readonly connection: MessageConnection,
    readonly pid: number,
    readonly socket: Awaited<ReturnType<ServicePlace['attach']>>['socket'],
  ) {}

  /** Attaches; `initialize` false leaves the handshake to the caller. */
  static async open(
    place: ServicePlace,
    client: Partial<ClientOptions> = {},
    initialize = true,
  ): Promise<EditorPeer> {
    const { socket, pid } = await place.attach({ client });
    const connection = createMessageConnection(
      new StreamMessageReader(socket),
      new StreamMessageWriter(socket),
    );
    connection.onError(() => undefined);
    connection.listen();
    const peer = new EditorPeer(connection, pid, socket);
    if (initialize) await peer.initialize({ ...everything, ...client });
    return peer;
  }

  async initialize(initializationOptions: unknown): Promise<unknown> {
    const result: unknown = await this.connection.sendRequest('initialize', { initializationOptions });
    await this.connection.sendNotification('initialized', {});
    return result;
  }

  async request<M extends ClientRequest>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  async request(method: ClientRequest, params: unknown): Promise<unknown> {
    return methods[method].result.parse(await this.connection.sendRequest(method, params));
  }

  /** Sends a request as it is and gives its error; a result is a failure. */
  async refused(method: string, params?: unknown): Promise<{ code: number; message: string; data: unknown }> {
    try {
      await this.connection.sendRequest(method, params);
    } catch (error) {
      if (error instanceof Error && 'code' in error && typeof error.code === 'number') {
        return { code: error.code, message: error.message, data: 'data' in error ? error.data : undefined };
      }
      throw error;
    }
    throw new Error(`${method} was not refused`);
  }

  close(): void {
    this.connection.dispose();
    this.socket.destroy();
  }
}
