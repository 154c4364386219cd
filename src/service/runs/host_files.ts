import { RequestError } from '@agentclientprotocol/sdk';
import type { LiveSession } from './live_session.js';

/** Reads and writes files for agents: by the client that owns the turn where it can, else here. */
export class HostFiles {
  read(_session: LiveSession, _params: unknown, _signal: AbortSignal): Promise<unknown> {
    return Promise.reject(RequestError.methodNotFound('fs/read_text_file'));
  }

  write(_session: LiveSession, _params: unknown, _signal: AbortSignal): Promise<unknown> {
    return Promise.reject(RequestError.methodNotFound('fs/write_text_file'));
  }
}
