import * as path from 'node:path';
import * as vscode from 'vscode';
import {
  LanguageClient,
  State,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageTransports,
} from 'vscode-languageclient/node';
import type * as z from 'zod';
import { attachOrStart } from '../attach/attach.js';
import { defaultStoreDir } from '../attach/paths.js';
import { PermissionParams, type PermissionResult } from '../protocol/acp.js';
import type { ClientOptions } from '../protocol/deck.js';
import {
  methods,
  type ClientRequest,
  type Methods,
  type ParamsInput,
  type Result,
  type ServiceNotification,
} from '../protocol/methods.js';
import { messageOf, toServiceError } from './errors.js';

export type ServiceState = 'stopped' | 'starting' | 'ready' | 'failed';

const notifications = [
  'aster/session/transcript/update/v1',
  'deck/status/update',
  'deck/sessions/changed',
  'deck/interjection/update',
] as const satisfies readonly ServiceNotification[];

type Listener = (params: unknown) => void;
export type AskPermission = (
  params: PermissionParams,
  token: vscode.CancellationToken,
) => Promise<PermissionResult>;

type ParamsOf<M extends ServiceNotification> = z.output<Methods[M]['params']>;

/** Results and notifications are plain data: what fits the schema is the value itself. */
const isResult = <M extends ClientRequest>(method: M, value: unknown): value is Result<M> =>
  methods[method].result.safeParse(value).success;
const isParams = <M extends ServiceNotification>(method: M, value: unknown): value is ParamsOf<M> =>
  methods[method].params.safeParse(value).success;

/** The window's connection to the one session service of the user. Starts with the first request. */
export class ServiceClient implements vscode.Disposable {
  private readonly stateEmitter = new vscode.EventEmitter<ServiceState>();
  /** The state changed. `ready` after a lost connection means: ask for everything again. */
  readonly onDidChangeState = this.stateEmitter.event;
  private readonly listeners = new Map<string, Set<Listener>>();
  private client: LanguageClient | undefined;
  private starting: Promise<LanguageClient> | undefined;
  private currentState: ServiceState = 'stopped';
  private failure = '';
  private disposed = false;
  /** Answers `session/request_permission`; set once by the part that shows the question. */
  askPermission: AskPermission | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly version: string,
    private options: ClientOptions,
  ) {}

  get state(): ServiceState {
    return this.currentState;
  }

  /** Why the service did not start. */
  get failureMessage(): string {
    return this.failure;
  }

  /** Sends a request; starts the service first when it is not there. Throws `ServiceError` or `CancellationError`. */
  async request<M extends ClientRequest>(
    method: M,
    params: ParamsInput<M>,
    token?: vscode.CancellationToken,
  ): Promise<Result<M>> {
    try {
      const client = await this.start();
      const answer: unknown = await client.sendRequest(method, params, token ?? NEVER);
      if (isResult(method, answer)) return answer;
      throw new Error(`${method}: ${String(methods[method].result.safeParse(answer).error?.message)}`);
    } catch (error) {
      throw toServiceError(error);
    }
  }

  /** Cancels the active run of a session. */
  async cancelRun(sessionId: string): Promise<void> {
    const client = await this.start();
    await client.sendNotification('session/cancel', { sessionId });
  }

  /** Hears a notification of the service; one that does not fit its schema is logged and dropped. */
  on<M extends ServiceNotification>(method: M, listener: (params: ParamsOf<M>) => void): vscode.Disposable {
    const wrapped: Listener = (raw) => {
      if (isParams(method, raw)) listener(raw);
      else this.log.error(`${method}: ${String(methods[method].params.safeParse(raw).error?.message)}`);
    };
    const known = this.listeners.get(method) ?? new Set();
    this.listeners.set(method, known.add(wrapped));
    return new vscode.Disposable(() => known.delete(wrapped));
  }

  /** Tells the service about new folders, settings or trust. */
  async configure(options: ClientOptions): Promise<void> {
    this.options = options;
    if (this.currentState === 'ready') await this.request('deck/configure', options);
  }

  /** Connects, and starts the service when there is none. */
  start(): Promise<LanguageClient> {
    if (this.disposed) return Promise.reject(new vscode.CancellationError());
    this.starting ??= this.connect().catch((error: unknown) => {
      this.starting = undefined;
      void this.close();
      this.failure = messageOf(error);
      this.log.error(`The session service could not be reached: ${this.failure}`);
      this.setState('failed');
      throw error;
    });
    return this.starting;
  }

  /** Ends the connection and, with `stopService`, the service itself. */
  async restart(stopService: boolean): Promise<void> {
    if (stopService && this.currentState === 'ready') {
      try {
        await this.request('deck/service/stop', { force: true });
      } catch (error) {
        // It may end before its answer is out; what matters is that a new one starts.
        this.log.warn(`While stopping the service: ${messageOf(error)}`);
      }
    }
    await this.drop();
    await this.start();
  }

  async stop(): Promise<void> {
    this.disposed = true;
    await this.drop();
  }

  dispose(): void {
    void this.stop();
    this.stateEmitter.dispose();
  }

  private setState(state: ServiceState): void {
    if (this.currentState === state) return;
    this.currentState = state;
    if (!this.disposed) this.stateEmitter.fire(state);
  }

  private async drop(): Promise<void> {
    this.starting = undefined;
    this.setState('stopped');
    await this.close();
  }

  /** A client that failed can never be started again, so each connection has a new one. */
  private async close(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      this.log.debug(`While closing the connection: ${messageOf(error)}`);
    }
  }

  private async connect(): Promise<LanguageClient> {
    this.setState('starting');
    const client = new LanguageClient('sessionDeck', 'Session Deck', () => this.transports(), {
      documentSelector: [],
      outputChannel: this.log,
      initializationOptions: () => this.options,
      initializationFailedHandler: () => false,
      connectionOptions: { maxRestartCount: 4 },
    });
    this.client = client;
    client.onDidChangeState(({ newState }) => {
      if (this.client !== client) return;
      if (newState === State.Running) this.setState('ready');
      if (newState === State.Starting) this.setState('starting');
      if (newState === State.Stopped) {
        // The client's own policy starts it again a few times; after that the next request makes a new one.
        this.setState('stopped');
        this.starting = undefined;
      }
    });
    for (const method of notifications)
      client.onNotification(method, (params: unknown) => {
        for (const listener of this.listeners.get(method) ?? []) listener(params);
      });
    client.onRequest('session/request_permission', (params: unknown, token: vscode.CancellationToken) => {
      if (!this.askPermission) throw new Error('no permission dialog');
      return this.askPermission(PermissionParams.parse(params), token);
    });
    await client.start();
    this.setState('ready');
    return client;
  }

  private async transports(): Promise<MessageTransports> {
    const { socket, pid, version, started } = await attachOrStart({
      storeDir: defaultStoreDir(process.env),
      serviceScript: path.join(this.context.extensionPath, 'dist', 'service.js'),
      runtime: process.execPath,
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      hello: { surface: 'editor', version: this.version, client: this.options },
    });
    this.log.info(`${started ? 'Started' : 'Attached to'} session service ${version}, process ${pid}`);
    return {
      reader: new StreamMessageReader(socket),
      writer: new StreamMessageWriter(socket),
      detached: true,
    };
  }
}

const NEVER: vscode.CancellationToken = {
  isCancellationRequested: false,
  onCancellationRequested: () => new vscode.Disposable(() => undefined),
};
