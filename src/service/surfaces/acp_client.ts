import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { AgentConnection, ClientCapabilities } from '@agentclientprotocol/sdk';
import type * as z from 'zod';
import { SessionIdParams } from '../../protocol/acp.js';
import type { ClientOptions } from '../../protocol/deck.js';
import type { Methods, ServiceNotification } from '../../protocol/methods.js';
import type { AttachedClient } from '../clients.js';
import type { ClientAbilities } from '../sessions/client.js';
import { abilitiesOf, featuresOf } from './abilities.js';
import type { AcpClientFeatures, SessionUpdate } from './acp_replay.js';
import { isExtension } from './names.js';
import { MAX_PENDING_BYTES, Outbox } from './outbox.js';
import { isOfTranscript, suitableUpdates } from './suitable.js';
import { weigh } from './weight.js';

/** A peer that speaks ACP. */
export class AcpClient implements AttachedClient {
  readonly id = randomUUID();
  readonly surface = 'acp';
  private announced: ClientCapabilities | undefined;
  /** Families (`aster/`, `deck/`) that the peer has used, and whether by their plain names. */
  private readonly used = new Map<string, { plain: boolean }>();
  /** Updates of live turns that wait until the replay of their session is through. */
  private readonly held = new Map<string, SessionUpdate[]>();
  private heldBytes = 0;
  /** Called when the next replay is through. */
  private readonly releases: (() => void)[] = [];
  private readonly outbox: Outbox;

  constructor(
    readonly options: ClientOptions,
    private readonly connection: AgentConnection,
    private readonly close: (reason?: Error) => void,
  ) {
    this.outbox = new Outbox(
      (method, params) => this.connection.client.notify(method, params),
      () => this.close(new Error('the client does not read what it is sent')),
    );
  }

  /** What the peer can do, as it says in `initialize`. */
  announce(capabilities: ClientCapabilities | undefined): void {
    this.announced = capabilities;
  }

  get abilities(): ClientAbilities {
    return abilitiesOf(this.announced);
  }

  get features(): AcpClientFeatures {
    return featuresOf(this.announced);
  }

  get connected(): boolean {
    return !this.connection.signal.aborted;
  }

  configure(): void {
    // The command line decided; see `editorOnly`.
  }

  end(): void {
    this.close();
  }

  /** The peer has called a method of a family, by its plain or its underscored name. */
  use(name: string, plain: boolean): void {
    if (!isExtension(name)) return;
    const family = name.slice(0, name.indexOf('/') + 1);
    this.used.set(family, { plain: plain || this.used.get(family)?.plain === true });
  }

  notify<M extends ServiceNotification>(method: M, params: z.output<Methods[M]['params']>): void;
  notify(method: ServiceNotification, params: unknown): void {
    if (!this.connected) return;
    const family = method.slice(0, method.indexOf('/') + 1);
    const used = this.used.get(family);
    // Peers that have never heard of our own family would only be confused by it.
    if (used === undefined && family === 'deck/') return;
    const plain = used?.plain === true || !isExtension(method);
    this.outbox.send(plain ? method : `_${method}`, params);
  }

  sessionUpdate(sessionId: string, update: SessionUpdate): void {
    if (!this.connected) return;
    const held = this.held.get(sessionId);
    if (!held || update['sessionUpdate'] === 'session_info_update') {
      this.send(sessionId, update);
      return;
    }
    held.push(update);
    this.heldBytes += weigh([update]) - weigh([]);
    if (this.heldBytes > MAX_PENDING_BYTES) this.close(new Error('the client does not read a replay'));
  }

  async ask(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    // Not before the peer knows the session: its replay and the answer that follows it go first.
    const session = SessionIdParams.safeParse(params).data?.sessionId;
    while (session !== undefined && this.held.has(session)) await this.nextRelease();
    await setImmediate();
    signal.throwIfAborted();
    const answer: unknown = await this.connection.client.request(method, params, {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    });
    return answer;
  }

  /** Sends an update of a replay; settles when the peer has room for more. */
  async replay(sessionId: string, update: SessionUpdate): Promise<void> {
    await this.connection.client.notify('session/update', { sessionId, update });
  }

  /** From now on live updates of the session wait, until `release`. */
  hold(sessionId: string): void {
    this.held.set(sessionId, []);
  }

  /** What has been held so far of the transcript is part of what is replayed. */
  forgetHeld(sessionId: string): void {
    const held = this.held.get(sessionId);
    if (!held) return;
    const kept = held.filter((update) => !isOfTranscript(update));
    this.held.set(sessionId, kept);
    this.heldBytes += weigh(kept) - weigh(held);
  }

  release(sessionId: string): void {
    const held = this.held.get(sessionId) ?? [];
    this.held.delete(sessionId);
    this.heldBytes -= weigh(held);
    for (const update of held) this.send(sessionId, update);
    for (const resolve of this.releases.splice(0)) resolve();
  }

  private nextRelease(): Promise<void> {
    return new Promise((resolve) => this.releases.push(resolve));
  }

  private send(sessionId: string, update: SessionUpdate): void {
    for (const one of suitableUpdates(update, this.features))
      this.outbox.send('session/update', { sessionId, update: one });
  }
}
