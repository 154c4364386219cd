import type { LiveSession } from './live_session.js';

/** Questions that agents put to the person: forms and addresses to visit. */
export class Elicitations {
  create(_session: LiveSession, _params: unknown, _signal: AbortSignal): Promise<unknown> {
    return Promise.resolve({ action: 'cancel' });
  }
}
