import { DomainError } from '../../protocol/errors.js';
import type { AgentRules } from '../parts.js';

const later = () => Promise.reject(new DomainError('not_supported', 'not there yet'));

/** The agents that a client can use: which there are, what they say of themselves, how to sign in to them. */
export class Agents implements AgentRules {
  list = () => ({ agents: [] });
  details = later;
  authenticate = later;
  discover = later;
}
