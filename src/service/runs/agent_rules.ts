import type { AgentParams } from '../../protocol/agents.js';
import { DomainError } from '../../protocol/errors.js';
import type { AgentRules } from '../parts.js';
import type { Client } from '../sessions/client.js';
import { agentForNew } from './agent_choice.js';
import type { Discovered, Discovery } from './discovery.js';

const later = () => Promise.reject(new DomainError('not_supported', 'not there yet'));

/** The agents that a client can use: which there are, what they say of themselves, how to sign in to them. */
export class Agents implements AgentRules {
  list = () => ({ agents: [] });
  details = later;
  authenticate = later;

  constructor(private readonly parts: { readonly discovery: Discovery }) {}

  /** Throws `forbidden` (restricted window), `invalid_params` (no such agent), and what `Discovery.discover` throws. */
  async discover(client: Client, { agent }: AgentParams): Promise<Discovered> {
    return this.parts.discovery.discover(agentForNew(client.options, agent));
  }
}
