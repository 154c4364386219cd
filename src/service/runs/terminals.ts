import { RequestError } from '@agentclientprotocol/sdk';
import type { LiveSession } from './live_session.js';

/** Commands that agents run through their client: by the one that owns the turn where it can, else here. */
export class Terminals {
  answer(_session: LiveSession, method: string, _params: unknown, _signal: AbortSignal): Promise<unknown> {
    return Promise.reject(RequestError.methodNotFound(method));
  }
}
