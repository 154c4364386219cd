import { DomainError } from '../../protocol/errors.js';
import type { TaskRules } from '../parts.js';

const later = () => Promise.reject(new DomainError('not_supported', 'not there yet'));

/** Work that outlives its turn: sub-agents, commands in terminals, jobs of the service. */
export class Tasks implements TaskRules {
  ofSession = later;
  stop = later;
  cancelSubagent = later;
  list = () => ({ tasks: [] });
}
