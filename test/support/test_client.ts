import { PermissionParams, type PermissionResult } from '../../src/protocol/acp.js';
import type { ClientOptions } from '../../src/protocol/deck.js';
import type { Client, ClientAbilities, Clients } from '../../src/service/sessions/client.js';
import { NO_ABILITIES } from '../../src/service/surfaces/abilities.js';

type Notify = Client['notify'];

/** A peer of the service that records what it hears and answers permissions as the test says. */
export class TestClient implements Client {
  connected = true;
  readonly notifications: { method: string; params: unknown }[] = [];
  readonly updates: { sessionId: string; update: Record<string, unknown> }[] = [];
  /** Permissions that were asked, with the signal that withdraws them. */
  readonly asked: { params: PermissionParams; signal: AbortSignal }[] = [];
  /** How it answers; by default it never does. */
  answer: (params: PermissionParams, signal: AbortSignal) => Promise<PermissionResult> = () =>
    new Promise(() => undefined);

  constructor(
    readonly id: string,
    public options: ClientOptions,
    readonly surface: 'editor' | 'acp' = 'editor',
  ) {
    this.abilities = { ...NO_ABILITIES, permission: surface === 'acp' };
  }

  notify: Notify = (method, params) => {
    this.notifications.push({ method, params });
  };

  sessionUpdate(sessionId: string, update: Record<string, unknown>): void {
    this.updates.push({ sessionId, update });
  }

  abilities: ClientAbilities;
  /** Other requests that it was asked, and how it answers them. */
  readonly requests: { method: string; params: unknown }[] = [];
  reply: (method: string, params: unknown, signal: AbortSignal) => Promise<unknown> = (method) =>
    Promise.reject(new Error(`nobody answers ${method}`));

  ask(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    if (method !== 'session/request_permission') {
      this.requests.push({ method, params });
      return this.reply(method, params, signal);
    }
    const permission = PermissionParams.parse(params);
    this.asked.push({ params: permission, signal });
    return this.answer(permission, signal);
  }

  /** Notifications of one method. */
  heard(method: string): unknown[] {
    return this.notifications.filter((item) => item.method === method).map(({ params }) => params);
  }
}

export const allow = (optionId: string): Promise<PermissionResult> =>
  Promise.resolve({ outcome: { outcome: 'selected', optionId } });

/** Attached peers, by hand. */
export class TestClients implements Clients {
  private readonly clients = new Set<Client>();
  private readonly attachListeners: ((client: Client) => void)[] = [];
  private readonly detachListeners: ((client: Client) => void)[] = [];

  get size(): number {
    return this.clients.size;
  }
  [Symbol.iterator](): Iterator<Client> {
    return [...this.clients][Symbol.iterator]();
  }
  onAttach(listener: (client: Client) => void): void {
    this.attachListeners.push(listener);
  }
  onDetach(listener: (client: Client) => void): void {
    this.detachListeners.push(listener);
  }
  attach(client: Client): void {
    this.clients.add(client);
    for (const listener of this.attachListeners) listener(client);
  }
  detach(client: TestClient): void {
    client.connected = false;
    this.clients.delete(client);
    for (const listener of this.detachListeners) listener(client);
  }
}
