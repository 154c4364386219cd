import type { JobRules } from '../parts.js';

/** Small jobs for a model: follow-ups and titles. */
export class Jobs implements JobRules {
  followups = () => Promise.resolve({ suggestions: [] });
}
