import type { ClientOptions } from '../protocol/deck.js';
import type { Client, Clients } from './sessions/client.js';

/** A client as its surface offers it to the service. */
export interface AttachedClient extends Client {
  /** Replaces the options. */
  configure(options: ClientOptions): void;
  /** Ends the connection once what was sent has gone out. */
  end(): void;
}

type Listener = (client: Client) => void;

/** The peers that are attached now, in the order in which they came. */
export class ClientRegistry implements Clients {
  private readonly attached = new Map<string, AttachedClient>();
  private readonly attachListeners: Listener[] = [];
  private readonly detachListeners: Listener[] = [];

  get size(): number {
    return this.attached.size;
  }

  [Symbol.iterator](): Iterator<Client> {
    return [...this.attached.values()][Symbol.iterator]();
  }

  onAttach(listener: Listener): void {
    this.attachListeners.push(listener);
  }

  onDetach(listener: Listener): void {
    this.detachListeners.push(listener);
  }

  attach(client: AttachedClient): void {
    this.attached.set(client.id, client);
    for (const listener of this.attachListeners) listener(client);
  }

  detach(client: Client): void {
    if (!this.attached.delete(client.id)) return;
    for (const listener of this.detachListeners) listener(client);
  }

  configure(client: Client, options: ClientOptions): void {
    this.attached.get(client.id)?.configure(options);
  }

  endAll(): void {
    for (const client of this.attached.values()) client.end();
  }
}
