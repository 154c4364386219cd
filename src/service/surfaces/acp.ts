import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { agent, PROTOCOL_VERSION, RequestError, type InitializeRequest } from '@agentclientprotocol/sdk';
import { SessionIdParams } from '../../protocol/acp.js';
import type { ClientOptions } from '../../protocol/deck.js';
import { DomainError } from '../../protocol/errors.js';
import { methods } from '../../protocol/methods.js';
import { AcpClient } from './acp_client.js';
import { entryUpdates } from './acp_replay.js';
import { acpStream } from './acp_stream.js';
import { plainName } from './names.js';
import type { SurfaceParts } from './surface.js';
import { methodNotFound, wireError, type WireError } from './wire_error.js';

/** Larger images are named in a replay, not sent. */
const MAX_IMAGE_BYTES = 4 * 1024 * 1024;

/** A peer that has said its last word still gets the answers that come within this time. */
const LAST_ANSWERS_MS = 5_000;

/** Requests that are being answered. */
class Pending {
  private readonly answers = new Set<Promise<unknown>>();

  track(method: string, answer: Promise<unknown>): Promise<unknown> {
    // A turn may take hours; a client that closes its end does not wait for it.
    if (method === 'session/prompt') return answer;
    const settled = answer.then(
      () => undefined,
      () => undefined,
    );
    this.answers.add(settled);
    void settled.then(() => this.answers.delete(settled));
    return answer;
  }

  async settled(): Promise<void> {
    // What was read last has to reach its handler first.
    await sleep(20);
    await Promise.race([Promise.all(this.answers), sleep(LAST_ANSWERS_MS, undefined, { ref: false })]);
    await sleep(20);
  }
}

const extensions = Object.keys(methods).filter((name) => plainName(`_${name}`).underscored);

function toRequestError({ code, message, data }: WireError): RequestError {
  return new RequestError(code, message, data);
}

/** Serves an ACP client on a socket that has said hello, as an agent. Its end ends nothing but this connection. */
export function serveAcp(socket: Socket, options: ClientOptions, parts: SurfaceParts): void {
  const { api, clients, log } = parts;
  const app = agent({ name: 'session-deck' })
    .onRequest('initialize', ({ params }) => initialize(params))
    .onRequest('*', ({ method, params, signal }) => pending.track(method, answer(method, params, signal)))
    .onNotification('*', ({ method, params }) => hear(method, params));
  const pending = new Pending();
  const connection = app.connect(acpStream(socket, () => pending.settled()));
  const client = new AcpClient(options, connection, (reason) => {
    if (reason) log.warn('an ACP connection is closed', reason);
    socket.destroySoon();
    connection.close(reason);
  });
  /** Work on a session that later requests on it must wait for. */
  const opening = new Map<string, Promise<unknown>>();

  function initialize({ clientCapabilities }: InitializeRequest) {
    client.features = {
      compaction: Boolean(clientCapabilities?.session?.compaction),
      notices: Boolean(clientCapabilities?.session?.notices),
    };
    clients.attach(client);
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'session-deck', title: 'Session Deck', version: parts.version },
      authMethods: [],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {} },
        _meta: { sessionDeck: { version: parts.version, methods: extensions } },
      },
    };
  }

  async function answer(method: string, params: unknown, cancelled: AbortSignal): Promise<unknown> {
    const { name, underscored } = plainName(method);
    if (!api.knows(name, 'acp')) throw toRequestError(methodNotFound(method));
    client.use(name, !underscored);
    const session = SessionIdParams.safeParse(params).data?.sessionId;
    try {
      if (session !== undefined) await opening.get(session);
      const work = () => api.dispatch(name, client, params, requestSignal(cancelled));
      switch (name) {
        case 'session/load':
          return await open(session, work, true);
        case 'session/resume':
          return await open(session, work, false);
        default:
          return await work();
      }
    } catch (error) {
      throw toRequestError(wireError(error, name, 'acp', log));
    }
  }

  /** A request is cancelled by its peer's word only: what was asked for goes on when the peer has gone. */
  function requestSignal(cancelled: AbortSignal): AbortSignal {
    const controller = new AbortController();
    cancelled.addEventListener('abort', () => {
      if (!connection.signal.aborted) controller.abort();
    });
    return controller.signal;
  }

  async function open(
    sessionId: string | undefined,
    work: () => Promise<unknown>,
    withReplay: boolean,
  ): Promise<unknown> {
    if (sessionId === undefined) return work();
    const run = (async () => {
      if (withReplay) client.hold(sessionId);
      try {
        const result = await work();
        if (withReplay) await replay(sessionId);
        return result;
      } finally {
        if (withReplay) client.release(sessionId);
      }
    })();
    const settled = run.then(
      () => undefined,
      () => undefined,
    );
    opening.set(sessionId, settled);
    try {
      return await run;
    } finally {
      if (opening.get(sessionId) === settled) opening.delete(sessionId);
    }
  }

  async function replay(sessionId: string): Promise<void> {
    const readImage = (ref: string) => imageData(sessionId, ref);
    for await (const batch of parts.sessions.replay(sessionId)) {
      client.forgetHeld(sessionId);
      for (const entry of batch) {
        for (const update of await entryUpdates(entry, client.features, readImage)) {
          await client.replay(sessionId, update);
        }
      }
      if (!client.connected) return;
    }
  }

  async function imageData(sessionId: string, ref: string): Promise<string | undefined> {
    try {
      const { encoding, data, nextOffset } = await parts.sessions.entryContent(
        client,
        { sessionId, ref, limit: MAX_IMAGE_BYTES },
        connection.signal,
      );
      return encoding === 'base64' && nextOffset === undefined ? data : undefined;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      log.warn('an image is left out of a replay', error);
      return undefined;
    }
  }

  async function hear(method: string, params: unknown): Promise<void> {
    const { name, underscored } = plainName(method);
    client.use(name, !underscored);
    await api.notify(name, client, params);
  }

  socket.on('error', (error) => log.debug('an ACP socket failed', error));
  socket.once('close', () => connection.close());
  void connection.closed.then(() => {
    clients.detach(client);
    socket.destroySoon();
  });
}
