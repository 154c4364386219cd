import type * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  State,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageTransports,
} from 'vscode-languageclient/node';
import { attachOrStart } from '../attach/attach.js';
import { defaultStoreDir } from '../attach/paths.js';
import { CompleteParams, type ClientOptions, type CompleteResult } from '../protocol/deck.js';
import type { ServiceNotification } from '../protocol/methods.js';

// This module is heavy; it is loaded with the first connection, not with the extension.

const notifications = [
  'aster/session/transcript/update/v1',
  'deck/status/update',
  'deck/sessions/changed',
  'deck/interjection/update',
  'deck/inbox/changed',
  'deck/tasks/changed',
  'aster/session/tooling/update',
] as const satisfies readonly ServiceNotification[];
const TOLERATED_ERRORS = 3;

/** What a connection needs, and whom it tells what comes in. */
export interface Wiring {
  readonly log: vscode.LogOutputChannel;
  /** Version of the extension, semver. */
  readonly version: string;
  /** Path of `dist/service.js`. */
  readonly serviceScript: string;
  readonly signal: AbortSignal;
  options(): ClientOptions;
  hear(method: ServiceNotification, params: unknown): void;
  complete(params: CompleteParams, token: vscode.CancellationToken): Promise<CompleteResult>;
  /** The connection ended after it stood, and not by `dispose`. */
  lost(client: LanguageClient): void;
}

async function transports(wiring: Wiring): Promise<MessageTransports> {
  const { log, version, serviceScript, signal } = wiring;
  const attached = await attachOrStart({
    storeDir: defaultStoreDir(process.env),
    serviceScript,
    runtime: process.execPath,
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
    hello: { surface: 'editor', version, client: wiring.options() },
    signal,
  });
  const how = attached.started ? 'Started' : 'Attached to';
  log.info(`${how} session service ${attached.version}, process ${String(attached.pid)}`);
  return {
    reader: new StreamMessageReader(attached.socket),
    writer: new StreamMessageWriter(attached.socket),
    detached: true,
  };
}

/** Attaches to the service, which is started when there is none. A connection that was lost is not used again. */
export async function connect(wiring: Wiring): Promise<LanguageClient> {
  const { log } = wiring;
  const streams = await transports(wiring);
  const client = new LanguageClient('sessionDeck', 'Session Deck', () => Promise.resolve(streams), {
    documentSelector: [],
    outputChannel: log,
    initializationOptions: () => wiring.options(),
    initializationFailedHandler: () => false,
    errorHandler: {
      error: (error, _message, count) => {
        log.warn(`The connection to the service: ${error.message}`);
        const action = (count ?? 0) <= TOLERATED_ERRORS ? ErrorAction.Continue : ErrorAction.Shutdown;
        return { action, handled: true };
      },
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
  });
  for (const method of notifications)
    client.onNotification(method, (params: unknown) => wiring.hear(method, params));
  client.onRequest('deck/model/complete', (params: unknown, token: vscode.CancellationToken) =>
    wiring.complete(CompleteParams.parse(params), token),
  );
  try {
    await client.start();
  } catch (error) {
    client.dispose().catch((reason: unknown) => log.debug(`While closing the connection: ${String(reason)}`));
    throw error;
  }
  client.onDidChangeState(({ newState }) => {
    if (newState === State.Stopped) wiring.lost(client);
  });
  return client;
}
