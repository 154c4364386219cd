import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../sessions/client.js';

/** The ACP clients that opened a session (new, load, resume, prompt) and so want to hear what its agent says. */
export class Audience {
  private readonly listeners = new Map<string, Set<Client>>();
  /** For each session what was told last of things that stay so, by kind. */
  private readonly told = new Map<string, Map<string, Record<string, unknown>>>();
  private readonly joinListeners: ((client: Client, sessionId: string) => void)[] = [];

  /** Calls the listener when a client opened a session that it had not opened before. */
  onJoin(listener: (client: Client, sessionId: string) => void): void {
    this.joinListeners.push(listener);
  }

  join(client: Client, sessionId: string): void {
    if (client.surface !== 'acp' || !client.connected || this.has(client, sessionId)) return;
    const known = this.listeners.get(sessionId) ?? new Set();
    known.add(client);
    this.listeners.set(sessionId, known);
    for (const listener of this.joinListeners) listener(client, sessionId);
  }

  leave(client: Client, sessionId?: string): void {
    const ids = sessionId === undefined ? [...this.listeners.keys()] : [sessionId];
    for (const id of ids) {
      const known = this.listeners.get(id);
      known?.delete(client);
      if (known?.size === 0) this.listeners.delete(id);
    }
  }

  has(client: Client, sessionId: string): boolean {
    return this.listeners.get(sessionId)?.has(client) ?? false;
  }

  of(sessionId: string): Iterable<Client> {
    return [...(this.listeners.get(sessionId) ?? [])];
  }

  /** Forwards an update as the agent gave it, to all but `except`. */
  forward(sessionId: string, update: Record<string, unknown>, except?: Client): void {
    const kind = update['sessionUpdate'];
    if (typeof kind === 'string' && standing.has(kind)) {
      const told = this.told.get(sessionId) ?? new Map<string, Record<string, unknown>>();
      this.told.set(sessionId, told.set(kind, update));
    }
    for (const client of this.listeners.get(sessionId) ?? [])
      if (client !== except) client.sessionUpdate(sessionId, update);
  }

  /** Forwards an update of something that stays so, unless all have been told just that. */
  forwardNews(sessionId: string, update: Record<string, unknown> & { readonly sessionUpdate: string }): void {
    if (!isDeepStrictEqual(this.last(sessionId, update.sessionUpdate), update))
      this.forward(sessionId, update);
  }

  /** The last update of a kind that stays so. */
  last(sessionId: string, kind: string): Record<string, unknown> | undefined {
    return this.told.get(sessionId)?.get(kind);
  }

  /** The session is closed in its agent. */
  forget(sessionId: string): void {
    this.told.delete(sessionId);
  }
}

/** Kinds of updates that hold until the next one. */
const standing = new Set([
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'usage_update',
]);
