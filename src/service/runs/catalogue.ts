import { createHash } from 'node:crypto';
import type { Tooling } from '../../protocol/controls.js';
import { optionsOf, type Announced } from '../agents/announced.js';
import type { AgentCapabilities } from '../agents/capabilities.js';
import { CLIENT_CAPABILITIES } from '../agents/client_capabilities.js';
import { isOffered, nameOf, transportOf, type McpServer } from './mcp_servers.js';

/** A catalogue of tools without the number and the name that it gets when it is kept. */
export type Catalogue = Omit<Tooling, 'generation' | 'catalog' | 'live'>;

type Tool = Tooling['tools'][number];
type Mcp = Tooling['mcp'][number];

/** What the service does for agents, as it announces it to them. */
const hostTools: readonly Tool[] = [
  hostTool('fs', 'Files', 'Reads and writes text files.', CLIENT_CAPABILITIES.fs.readTextFile),
  hostTool('terminal', 'Terminal', 'Runs commands.', CLIENT_CAPABILITIES.terminal),
  hostTool('elicitation', 'Questions', 'Asks a person.', 'form' in CLIENT_CAPABILITIES.elicitation),
];

function hostTool(name: string, title: string, description: string, available: boolean): Tool {
  return { name, title, description, origin: 'host', available };
}

/** Of a session that no agent has said anything about. */
export const EMPTY_CATALOGUE: Catalogue = { tools: [...hostTools], mcp: [], commands: [], configOptions: [] };

/** The catalogue of a session that is open in an agent. */
export function catalogueOf(facts: {
  readonly announced: Announced;
  readonly capabilities: AgentCapabilities;
  readonly agentTitle: string;
  readonly mcpServers: readonly McpServer[];
}): Catalogue {
  const { announced, capabilities } = facts;
  const mcp = mcpStates(facts);
  const tools = (announced.tools ?? []).map(({ name, server }): Tool => {
    if (server === undefined) return { name, origin: 'agent', available: true };
    const state = mcp.find((each) => each.server === server);
    return {
      name,
      origin: `mcp:${server}`,
      available: state?.available ?? true,
      ...(state?.available === false && state.reason !== undefined ? { reason: state.reason } : {}),
    };
  });
  return {
    tools: [...tools, ...hostTools],
    mcp,
    commands: [...(announced.commands ?? [])],
    ...(announced.modes ? { modes: announced.modes } : {}),
    configOptions: [...optionsOf(announced)],
    prompt: capabilities.prompt,
  };
}

/** The servers that were given first, then those that the agent has of itself. */
function mcpStates({
  announced,
  capabilities,
  agentTitle,
  mcpServers,
}: Parameters<typeof catalogueOf>[0]): Mcp[] {
  const said = announced.mcp ?? {};
  const given = mcpServers.map((server): Mcp => {
    const name = nameOf(server);
    if (!isOffered(server, capabilities))
      return {
        server: name,
        available: false,
        reason: `${agentTitle} takes no MCP servers over ${transportOf(server).toUpperCase()}.`,
      };
    if (Object.hasOwn(said, name)) return { server: name, ...said[name], available: !!said[name]?.available };
    return { server: name, available: true, reason: `${agentTitle} has not said whether it runs.` };
  });
  const names = new Set(given.map(({ server }) => server));
  const own = Object.entries(said).flatMap(([server, state]): Mcp[] =>
    names.has(server) ? [] : [{ server, ...state }],
  );
  return [...given, ...own];
}

/** Names a catalogue by its content. */
export function catalogueId(catalogue: Catalogue): string {
  return createHash('sha256').update(JSON.stringify(catalogue)).digest('base64url').slice(0, 22);
}
