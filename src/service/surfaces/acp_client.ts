import { randomUUID } from 'node:crypto';
import type { AgentConnection } from '@agentclientprotocol/sdk';
import type * as z from 'zod';
import type { ClientOptions } from '../../protocol/deck.js';
import type { Methods, ServiceNotification } from '../../protocol/methods.js';
import type { AttachedClient } from '../clients.js';
import type { ClientAbilities } from '../sessions/client.js';
import { NO_ABILITIES } from './abilities.js';
import type { AcpClientFeatures, SessionUpdate } from './acp_replay.js';
import { isExtension } from './names.js';
import { Outbox } from './outbox.js';

/** A peer that speaks ACP. */
export class AcpClient implements AttachedClient {
  readonly id = randomUUID();
  readonly surface = 'acp';
  features: AcpClientFeatures = { compaction: false, notices: false };
  abilities: ClientAbilities = { ...NO_ABILITIES, permission: true };
  /** Families (`aster/`, `deck/`) that the peer has used, and whether by their plain names. */
  private readonly used = new Map<string, { plain: boolean }>();
  /** Updates of live turns that wait until the replay of their session is through. */
  private readonly held = new Map<string, SessionUpdate[]>();
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
    this.outbox.send(used?.plain === true ? method : `_${method}`, params);
  }

  sessionUpdate(sessionId: string, update: SessionUpdate): void {
    if (!this.connected) return;
    const held = this.held.get(sessionId);
    // What is told about the session is no part of its transcript.
    if (held && update['sessionUpdate'] !== 'session_info_update') held.push(update);
    else
      for (const one of this.suitable(update)) this.outbox.send('session/update', { sessionId, update: one });
  }

  async ask(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
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

  /** What has been held so far is part of what is replayed. */
  forgetHeld(sessionId: string): void {
    if (this.held.has(sessionId)) this.held.set(sessionId, []);
  }

  release(sessionId: string): void {
    const held = this.held.get(sessionId) ?? [];
    this.held.delete(sessionId);
    for (const update of held) this.sessionUpdate(sessionId, update);
  }

  /** What the peer can take of an update: kinds that it did not announce become text, or nothing. */
  private suitable(update: SessionUpdate): SessionUpdate[] {
    switch (update['sessionUpdate']) {
      case 'notice':
        return this.features.notices ? [update] : [];
      case 'compaction_summary_chunk':
        return this.features.compaction ? [update] : [];
      case 'compaction_update': {
        if (this.features.compaction) return [update];
        if (update['status'] !== 'completed') return [];
        const content = { type: 'text', text: '[The context was compacted]\n\n' };
        return [{ sessionUpdate: 'agent_message_chunk', content }];
      }
      default:
        return [update];
    }
  }
}
