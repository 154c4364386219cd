import { DomainError } from '../../protocol/errors.js';
import type { InboxRules } from '../parts.js';

/** Everything that waits for a person, and its answers. */
export class Inbox implements InboxRules {
  list = () => ({ items: [] });
  answer = () => Promise.reject(new DomainError('task_unavailable', 'This item is not known.'));
}
