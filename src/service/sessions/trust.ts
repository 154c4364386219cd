import { DomainError } from '../../protocol/errors.js';
import type { Client } from './client.js';

/** Throws `forbidden` in a restricted window: whatever makes an agent act comes from trusted ones only. */
export function requireTrust(client: Client): void {
  if (!client.options.trusted)
    throw new DomainError('forbidden', 'In a restricted window agents are not let act.');
}

/** MCP servers name commands that the agent will run. Throws `forbidden` in a restricted window that gives some. */
export function requireTrustForServers(client: Client, servers: readonly unknown[]): void {
  if (servers.length > 0) requireTrust(client);
}
