import * as z from 'zod';
import type { AgentCapabilities } from '../agents/capabilities.js';

/** An MCP server as a client gives it: everything in it goes to the agent as it came, secrets included. */
export type McpServer = Readonly<Record<string, unknown>>;

const Named = z.looseObject({ name: z.string() });
const Remote = z.looseObject({ type: z.enum(['http', 'sse', 'acp']) });

export function nameOf(server: McpServer): string {
  return Named.safeParse(server).data?.name ?? 'unnamed';
}

export function transportOf(server: McpServer): 'stdio' | 'http' | 'sse' | 'acp' {
  return Remote.safeParse(server).data?.type ?? 'stdio';
}

/** Whether the agent announced that it takes servers of that kind. */
export function isOffered(server: McpServer, { mcp }: Pick<AgentCapabilities, 'mcp'>): boolean {
  const transport = transportOf(server);
  return transport === 'stdio' || (transport !== 'acp' && mcp[transport]);
}

/**
 * The MCP servers that clients gave for their sessions, so that a session that is opened again gets the same. They may
 * hold secrets, so they are kept in memory only, and never logged.
 */
export class McpServers {
  private readonly given = new Map<string, readonly McpServer[]>();

  /** Those given last count; none given leaves what was given before. */
  give(sessionId: string, servers: readonly McpServer[]): void {
    if (servers.length > 0) this.given.set(sessionId, servers);
  }

  of(sessionId: string): readonly McpServer[] {
    return this.given.get(sessionId) ?? [];
  }

  forget(sessionId: string): void {
    this.given.delete(sessionId);
  }
}
