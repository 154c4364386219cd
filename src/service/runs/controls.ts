import { DomainError } from '../../protocol/errors.js';
import type { ControlRules } from '../parts.js';

const later = () => Promise.reject(new DomainError('not_supported', 'not there yet'));

/** What a person can choose in the agent of a session: modes, options and commands, and its catalogue of tools. */
export class Controls implements ControlRules {
  tooling = later;
  open = later;
  setMode = later;
  setConfigOption = later;
}
