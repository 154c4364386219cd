import { DomainError } from '../../protocol/errors.js';
import type { SearchRules } from '../parts.js';

/** Finds places in the working directory of a session. */
export class WorkspaceSearch implements SearchRules {
  workspace = () => Promise.reject(new DomainError('not_supported', 'not there yet'));
}
