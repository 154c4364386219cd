import type { AgentDetails, AgentParams, AuthenticateParams, KnownAgent } from '../../protocol/agents.js';
import { DomainError } from '../../protocol/errors.js';
import type { AgentPool } from '../agents/agent_pool.js';
import type { AgentSpec } from '../agents/agent_process.js';
import { capabilityWords } from '../agents/capabilities.js';
import { commandLine, isInstalled, withStartLine } from '../agents/programs.js';
import { agentPresets, presetOf, titleOf, type AgentPreset } from '../agents/registry.js';
import type { AgentRules } from '../parts.js';
import type { Client } from '../sessions/client.js';
import { unlessAborted } from '../abort.js';
import { agentNamed, specOf } from './agent_choice.js';
import type { Discovered, Discovery } from './discovery.js';

/** For `authenticate`, in ms: a person may have to find a password. */
const SIGN_IN_MS = 10 * 60_000;

export interface AgentsParts {
  readonly agents: AgentPool;
  readonly discovery: Discovery;
}

/** The agents that a client can use: which there are, what they say of themselves, how to sign in to them. */
export class Agents implements AgentRules {
  constructor(private readonly parts: AgentsParts) {}

  /** Those of the client's settings in their order, then those that are known beforehand. Starts nothing. */
  async list(client: Client): Promise<{ agents: KnownAgent[] }> {
    const ids = Object.keys(client.options.config.agents ?? {});
    const configured = await Promise.all(ids.map((id) => this.configured(client, id)));
    const taken = new Set(ids.flatMap((id) => presetOf(id) ?? []));
    const known = agentPresets.filter((preset) => !taken.has(preset)).map((preset) => this.known(preset));
    return { agents: [...configured, ...(await Promise.all(known))] };
  }

  /** Starts the agent. Throws `forbidden`, `invalid_params` (not set) and `agent_unavailable`. */
  async details(client: Client, { agent }: AgentParams): Promise<AgentDetails> {
    const spec = agentNamed(client.options, agent, 'agent');
    const lease = await this.parts.agents.lease(spec);
    try {
      const { capabilities } = lease.connection;
      const { command, args, env } = await withStartLine(spec);
      return {
        id: spec.id,
        ...(capabilities.agentName === undefined ? {} : { name: capabilities.agentName }),
        ...(capabilities.agentVersion === undefined ? {} : { version: capabilities.agentVersion }),
        protocolVersion: capabilities.protocolVersion,
        capabilities: capabilityWords(capabilities),
        authMethods: capabilities.authMethods.map(({ terminal, ...method }) => ({
          ...method,
          ...(terminal
            ? { terminal: { command, args: [...args, ...terminal.args], env: { ...env, ...terminal.env } } }
            : {}),
        })),
      };
    } finally {
      lease.release();
    }
  }

  /** Throws like `details`; `invalid_params` (no such method), `agent_failed` with the agent's own words, `cancelled`. */
  async authenticate(
    client: Client,
    { agent, methodId }: AuthenticateParams,
    signal: AbortSignal,
  ): Promise<Record<string, never>> {
    const spec = agentNamed(client.options, agent, 'agent');
    const lease = await this.parts.agents.lease(spec);
    try {
      const { authMethods } = lease.connection.capabilities;
      if (!authMethods.some(({ id }) => id === methodId))
        throw new DomainError(
          'invalid_params',
          `${spec.title} offers no way to sign in named "${methodId}".`,
          {
            field: 'methodId',
          },
        );
      const signingIn = lease.connection.request('authenticate', { methodId }, SIGN_IN_MS);
      await unlessAborted(signingIn, signal, () => undefined);
      return {};
    } finally {
      lease.release();
    }
  }

  /** Throws `forbidden` (restricted window), `invalid_params` (no such agent), and what `Discovery.discover` throws. */
  async discover(client: Client, { agent }: AgentParams): Promise<Discovered> {
    return this.parts.discovery.discover(agentNamed(client.options, agent, 'agent'));
  }

  private async configured(client: Client, id: string): Promise<KnownAgent> {
    const { agents = {}, defaultAgent } = client.options.config;
    const isDefault = defaultAgent ? defaultAgent === id : Object.keys(agents).length === 1;
    const common = { id, configured: true, default: isDefault };
    let spec: AgentSpec | undefined;
    try {
      spec = specOf(client.options, id);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const title = titleOf(id, agents[id]);
      return { ...common, title, installed: false, running: false, commandLine: '', hint: error.message };
    }
    if (!spec) throw new Error(`the agent ${id} is not set after all`);
    const start = await withStartLine(spec);
    const installed = await isInstalled(start.command, { ...process.env, ...start.env });
    const preset = presetOf(id);
    const missing = `The program "${start.command}" is not on the PATH of this machine.`;
    const hint = installed
      ? preset?.signIn
      : preset
        ? `${missing} ${preset.install} ${preset.signIn}`
        : missing;
    return {
      ...common,
      title: spec.title,
      installed,
      commandLine: commandLine(start),
      ...(hint === undefined ? {} : { hint }),
      running: this.parts.agents.isRunning(spec),
    };
  }

  private async known(preset: AgentPreset): Promise<KnownAgent> {
    const { id, title, start, preferred, needs = [], install, signIn } = preset;
    const ready = preferred !== undefined && (await isInstalled(preferred.command));
    const programs = ready ? [preferred.command] : [start.command, ...needs];
    const found = await Promise.all(programs.map((program) => isInstalled(program)));
    const installed = found.every(Boolean);
    return {
      id,
      title,
      configured: false,
      default: false,
      installed,
      commandLine: commandLine(ready ? preferred : start),
      hint: installed ? signIn : `${install} ${signIn}`,
      running: false,
    };
  }
}
