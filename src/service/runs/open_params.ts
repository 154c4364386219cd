import { CLAUDE_TELL_TOOLS } from '../agents/announced.js';
import type { AgentCapabilities } from '../agents/capabilities.js';
import { isOffered, type McpServer } from './mcp_servers.js';

/** Where a session works. */
export interface Place {
  /** Absolute. */
  readonly cwd: string;
  /** Further roots of its workspace, absolute. */
  readonly directories?: readonly string[] | undefined;
}

/** What `session/new`, `load`, `resume` and `fork` have in common, without what the agent did not announce. */
export function openParams(
  { cwd, directories = [] }: Place,
  capabilities: AgentCapabilities,
  servers: readonly McpServer[],
): Record<string, unknown> {
  return {
    cwd,
    mcpServers: servers.filter((server) => isOffered(server, capabilities)),
    ...(capabilities.additionalDirectories && directories.length > 0
      ? { additionalDirectories: directories }
      : {}),
    ...(capabilities.claudeCode ? { _meta: CLAUDE_TELL_TOOLS } : {}),
  };
}
