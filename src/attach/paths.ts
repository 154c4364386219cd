import envPaths from 'env-paths';
import path from 'node:path';

/** The folder of the store when none is named: `SESSION_DECK_STORE`, else the platform's data folder. */
export function defaultStoreDir(env: NodeJS.ProcessEnv): string {
  const named = env['SESSION_DECK_STORE'];
  return named ? path.resolve(named) : envPaths('session-deck', { suffix: '' }).data;
}

/** Where the owner of a store says how it is reached (schema `Endpoint`). */
export function endpointFile(storeDir: string): string {
  return path.join(storeDir, 'service.json');
}

/** The folder of the service's logs. */
export function logDir(storeDir: string): string {
  return path.join(storeDir, 'logs');
}

/** What a service writes to stdout and stderr: its reason when it cannot start, and crashes. */
export function startLogFile(storeDir: string): string {
  return path.join(logDir(storeDir), 'start.log');
}
