import type { Api } from '../api.js';
import type { ClientRegistry } from '../clients.js';
import type { FileLog } from '../file_log.js';
import type { RunRules, SessionRules } from '../parts.js';

/** What a surface is given to serve a connection. */
export interface SurfaceParts {
  readonly api: Api;
  readonly clients: ClientRegistry;
  readonly sessions: SessionRules;
  readonly runs: RunRules;
  readonly log: FileLog;
  /** Of the service. */
  readonly version: string;
}
