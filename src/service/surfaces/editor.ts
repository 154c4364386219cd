import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  CancellationTokenSource,
  createMessageConnection,
  ResponseError,
  StreamMessageWriter,
  type CancellationToken,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import type * as z from 'zod';
import { ClientOptions } from '../../protocol/deck.js';
import { PROTOCOL_VERSION } from '../../protocol/hello.js';
import { methods, type Methods, type ServiceNotification } from '../../protocol/methods.js';
import type { AttachedClient } from '../clients.js';
import type { ClientAbilities } from '../sessions/client.js';
import { NO_ABILITIES } from './abilities.js';
import type { LogLevel } from '../file_log.js';
import { LspReader } from './lsp_reader.js';
import { plainName } from './names.js';
import { Outbox } from './outbox.js';
import type { SurfaceParts } from './surface.js';
import { methodNotFound, SERVER_NOT_INITIALIZED, wireError, type WireError } from './wire_error.js';

/** LSP's `MessageType`. */
const messageTypes: Partial<Record<LogLevel, number>> = { error: 1, warn: 2 };

/** An editor window. */
class EditorClient implements AttachedClient {
  readonly id = randomUUID();
  readonly surface = 'editor';
  private readonly outbox: Outbox;

  constructor(
    private current: ClientOptions,
    private readonly connection: MessageConnection,
    private readonly socket: Socket,
  ) {
    this.outbox = new Outbox(
      (method, params) => this.connection.sendNotification(method, params),
      () => this.socket.destroy(new Error('the window does not read what it is sent')),
    );
  }

  get options(): ClientOptions {
    return this.current;
  }

  get connected(): boolean {
    return !this.socket.destroyed;
  }

  configure(options: ClientOptions): void {
    this.current = options;
  }

  notify<M extends ServiceNotification>(method: M, params: z.output<Methods[M]['params']>): void {
    if (this.connected) this.outbox.send(method, params);
  }

  sessionUpdate(): void {
    // The window follows transcripts through the aster family.
  }

  log(level: LogLevel, message: string): void {
    const type = messageTypes[level];
    if (type !== undefined && this.connected) this.outbox.send('window/logMessage', { type, message });
  }

  get abilities(): ClientAbilities {
    return { ...NO_ABILITIES, model: this.current.hasModel === true };
  }

  async ask(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const source = new CancellationTokenSource();
    const cancel = () => source.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await this.connection.sendRequest(method, params, source.token);
    } finally {
      signal.removeEventListener('abort', cancel);
      source.dispose();
    }
  }

  end(): void {
    this.socket.destroySoon();
  }
}

function abortSignalOf(token: CancellationToken): AbortSignal {
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  else token.onCancellationRequested(() => controller.abort());
  return controller.signal;
}

function toResponseError({ code, message, data }: WireError): ResponseError<unknown> {
  return new ResponseError(code, message, data);
}

/**
 * Serves an editor window on a socket that has said hello: LSP's framing and life cycle around the methods of the
 * contract. Everything that goes wrong here ends this connection only.
 */
export function serveEditor(socket: Socket, options: ClientOptions, parts: SurfaceParts): void {
  const { api, clients, log } = parts;
  const connection = createMessageConnection(new LspReader(socket), new StreamMessageWriter(socket), {
    error: (message) => log.warn('editor connection', message),
    warn: (message) => log.debug('editor connection', message),
    info: (message) => log.debug('editor connection', message),
    log: (message) => log.debug('editor connection', message),
  });
  const client = new EditorClient(options, connection, socket);
  let state: 'new' | 'initialized' | 'shutdown' = 'new';
  const unlisten = log.listen((level, text) => {
    if (state === 'initialized') client.log(level, text);
  });

  const initialize = (params: unknown): unknown => {
    const sent = ClientOptions.safeParse(
      typeof params === 'object' && params !== null && 'initializationOptions' in params
        ? params.initializationOptions
        : undefined,
    );
    if (sent.success) client.configure(sent.data);
    state = 'initialized';
    return {
      serverInfo: { name: 'session-deck', version: parts.version },
      capabilities: {
        experimental: {
          sessionDeck: {
            protocol: PROTOCOL_VERSION,
            version: parts.version,
            methods: Object.keys(methods),
          },
        },
      },
    };
  };

  connection.onRequest(async (method, params, token) => {
    if (method === 'initialize') return initialize(params);
    if (state !== 'initialized') {
      throw new ResponseError(SERVER_NOT_INITIALIZED, 'The connection must be initialized first.');
    }
    if (method === 'shutdown') {
      state = 'shutdown';
      return null;
    }
    const { name } = plainName(method);
    if (!api.knows(name, 'editor')) throw toResponseError(methodNotFound(method));
    try {
      return await api.dispatch(name, client, params, abortSignalOf(token));
    } catch (error) {
      throw toResponseError(wireError(error, name, 'editor', log));
    }
  });

  connection.onNotification((method, params) => {
    if (method === 'exit') client.end();
    else if (method === 'initialized' && state === 'initialized') clients.attach(client);
    else if (state === 'initialized') void api.notify(plainName(method).name, client, params);
  });

  connection.onError(([error]) => {
    log.warn('an editor connection is closed', error);
    socket.destroy();
  });
  socket.on('error', (error) => log.debug('an editor socket failed', error));
  socket.once('end', () => socket.destroySoon());
  socket.once('close', () => {
    unlisten();
    connection.dispose();
    clients.detach(client);
  });
  connection.listen();
}
