import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { agent, PROTOCOL_VERSION, RequestError, type InitializeRequest } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { SessionIdParams, type StopReason } from '../../protocol/acp.js';
import type { ClientOptions } from '../../protocol/deck.js';
import { DomainError } from '../../protocol/errors.js';
import { methods, type ClientRequest } from '../../protocol/methods.js';
import { AcpClient } from './acp_client.js';
import { AcpOpener } from './acp_opener.js';
import { acpStream } from './acp_stream.js';
import { plainName } from './names.js';
import { SessionOrder } from './session_order.js';
import { withSuitableOptions } from './suitable.js';
import type { SurfaceParts } from './surface.js';
import { methodNotFound, wireError, type WireError } from './wire_error.js';

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

/** What can be done with sessions beyond the protocol's baseline. */
const sessionCapabilities = {
  list: {},
  delete: {},
  resume: {},
  close: {},
  fork: {},
  archive: {},
  title: {},
  additionalDirectories: {},
};

/** They prepare a session for what is asked next. A turn and what is said into one follow; the rest needs no order. */
const preparing = new Set<string>([
  'session/load',
  'session/resume',
  'session/set_mode',
  'session/set_config_option',
  'session/set_title',
  'session/close',
  'session/delete',
  'session/archive',
  'session/unarchive',
  'deck/session/open',
] satisfies ClientRequest[]);
const following = new Set<string>([
  'session/prompt',
  'session/fork',
  'aster/interject',
  'aster/compact_conversation',
] satisfies ClientRequest[]);
/** After these the client is told what holds of the session. */
const opening = new Set<string>([
  'session/new',
  'session/load',
  'session/resume',
  'session/fork',
] satisfies ClientRequest[]);

const Opened = z.object({ sessionId: z.string() });

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
  const opener = new AcpOpener(client, parts);
  const order = new SessionOrder();
  /** Turns that this client has asked for, also those that have not begun. */
  const turns = new Map<string, Set<AbortController>>();
  let initialized = false;

  /** A client that says it again has its new capabilities from then on. */
  function initialize({ clientCapabilities }: InitializeRequest) {
    client.announce(clientCapabilities);
    if (!initialized) clients.attach(client);
    initialized = true;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'session-deck', title: 'Session Deck', version: parts.version },
      authMethods: [],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        sessionCapabilities,
        _meta: { sessionDeck: { version: parts.version, methods: extensions } },
      },
    };
  }

  async function answer(method: string, params: unknown, cancelled: AbortSignal): Promise<unknown> {
    const { name, underscored } = plainName(method);
    if (!api.knows(name, 'acp')) throw toRequestError(methodNotFound(method));
    client.use(name, !underscored);
    const asked = SessionIdParams.safeParse(params).data?.sessionId;
    const cancelling = requestCancelling(cancelled);
    const { signal } = cancelling;
    try {
      const work = inOrder(name, asked, params, signal);
      const isTurn = name === 'session/prompt' && asked !== undefined;
      const result = withSuitableOptions(
        await (isTurn ? asTurn(asked, cancelling, work) : work),
        client.features,
      );
      if (opening.has(name)) greet(Opened.safeParse(result).data?.sessionId ?? asked);
      return result;
    } catch (error) {
      throw toRequestError(wireError(error, name, 'acp', log));
    }
  }

  function inOrder(
    name: ClientRequest,
    session: string | undefined,
    params: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    const work = () => {
      if (signal.aborted) throw new DomainError('cancelled', 'The request was cancelled.');
      return api.dispatch(name, client, params, signal);
    };
    if (session === undefined) return work();
    if (name === 'session/load')
      return order.prepare(session, () => opener.load(session, async () => work(), signal));
    if (preparing.has(name)) return order.prepare(session, async () => work());
    if (!following.has(name)) return work();
    return order.follow(session, async () => work());
  }

  /** A turn that is cancelled before it began has ended like any other that is cancelled. */
  async function asTurn(session: string, cancelling: AbortController, work: Promise<unknown>) {
    const own = turns.get(session) ?? new Set();
    turns.set(session, own.add(cancelling));
    const stopReason: StopReason = 'cancelled';
    try {
      return await work;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'cancelled') return { stopReason };
      throw error;
    } finally {
      own.delete(cancelling);
      if (own.size === 0) turns.delete(session);
    }
  }

  function greet(sessionId: string | undefined): void {
    // After the answer has been handed over.
    if (sessionId !== undefined) setImmediate(() => opener.greet(sessionId));
  }

  /** A request is cancelled by its peer's word only: what was asked for goes on when the peer has gone. */
  function requestCancelling(cancelled: AbortSignal): AbortController {
    const controller = new AbortController();
    cancelled.addEventListener('abort', () => {
      if (!connection.signal.aborted) controller.abort();
    });
    return controller;
  }

  async function hear(method: string, params: unknown): Promise<void> {
    if (!initialized) return;
    const { name, underscored } = plainName(method);
    client.use(name, !underscored);
    const session = SessionIdParams.safeParse(params).data?.sessionId;
    if (name === 'session/cancel' && session !== undefined)
      for (const turn of turns.get(session) ?? []) turn.abort();
    await api.notify(name, client, params);
  }

  socket.on('error', (error) => log.debug('an ACP socket failed', error));
  socket.once('close', () => connection.close());
  void connection.closed.then(() => {
    clients.detach(client);
    socket.destroySoon();
  });
}
