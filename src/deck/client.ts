import * as path from 'node:path';
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type * as z from 'zod';
import type { ClientOptions, CompleteParams, CompleteResult } from '../protocol/deck.js';
import {
  methods,
  type ClientRequest,
  type Methods,
  type ParamsInput,
  type Result,
  type ServiceNotification,
} from '../protocol/methods.js';
import { messageOf, toServiceError } from './errors.js';
import { RestartPolicy } from './restart_policy.js';

export type ServiceState = 'stopped' | 'starting' | 'ready' | 'failed';

type Listener = (params: unknown) => void;
export type Complete = (params: CompleteParams, token: vscode.CancellationToken) => Promise<CompleteResult>;

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
  /** Grows whenever what is under way does not count any more. */
  private attempt = 0;
  private currentState: ServiceState = 'stopped';
  private failure = '';
  private readonly abort = new AbortController();
  private readonly policy = new RestartPolicy();
  /** Answers `deck/model/complete`; set once by the part that has the window's models. */
  complete: Complete | undefined;

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
    if (this.abort.signal.aborted) return Promise.reject(new vscode.CancellationError());
    const { attempt } = this;
    this.starting ??= this.connect().catch((error: unknown) => {
      if (attempt === this.attempt) {
        this.starting = undefined;
        this.fail(messageOf(error));
      }
      throw error;
    });
    return this.starting;
  }

  /** Ends the service, for all windows, and starts a new one. */
  async restart(): Promise<void> {
    const { client } = this;
    this.forget();
    if (client) {
      try {
        await client.sendRequest('deck/service/stop', { force: true }, NEVER);
      } catch (error) {
        // It may end before its answer is out; what matters is that a new one starts.
        this.log.warn(`While stopping the service: ${messageOf(error)}`);
      }
    }
    await this.close(client);
    this.policy.reset();
    await this.start();
  }

  async stop(): Promise<void> {
    this.abort.abort(new vscode.CancellationError());
    const { client } = this;
    this.forget();
    await this.close(client);
  }

  dispose(): void {
    void this.stop();
    this.stateEmitter.dispose();
  }

  private setState(state: ServiceState): void {
    if (this.currentState === state) return;
    this.currentState = state;
    if (!this.abort.signal.aborted) this.stateEmitter.fire(state);
  }

  private forget(): void {
    this.attempt += 1;
    this.client = undefined;
    this.starting = undefined;
    this.setState('stopped');
  }

  private fail(reason: string): void {
    this.failure = reason;
    this.log.error(`The session service could not be reached: ${reason}`);
    this.setState('failed');
  }

  private async close(client: LanguageClient | undefined): Promise<void> {
    try {
      await client?.dispose();
    } catch (error) {
      this.log.debug(`While closing the connection: ${messageOf(error)}`);
    }
  }

  private async connect(): Promise<LanguageClient> {
    const { attempt } = this;
    this.setState('starting');
    const { connect } = await import('./connection.js');
    const client = await connect({
      log: this.log,
      version: this.version,
      serviceScript: path.join(this.context.extensionPath, 'dist', 'service.js'),
      signal: this.abort.signal,
      options: () => this.options,
      hear: (method, params) => {
        for (const listener of this.listeners.get(method) ?? []) listener(params);
      },
      complete: (params, token) => {
        if (!this.complete) throw new Error('this window has no language model');
        return this.complete(params, token);
      },
      lost: (lost) => {
        if (this.client === lost) this.connectAgain(lost);
      },
    });
    // Somebody stopped or restarted meanwhile.
    if (attempt !== this.attempt) {
      void this.close(client);
      throw new vscode.CancellationError();
    }
    this.client = client;
    this.setState('ready');
    return client;
  }

  /** The service ended or hung up: connects again, unless that happened too often of late. */
  private connectAgain(client: LanguageClient): void {
    this.forget();
    void this.close(client);
    const delay = this.policy.next(Date.now());
    if (delay === undefined) {
      this.fail(vscode.l10n.t('The session service ended again and again.'));
      return;
    }
    this.log.warn(`The connection to the session service was lost; connects again in ${String(delay)} ms`);
    setTimeout(() => {
      // A failure is told by the state.
      this.start().catch((error: unknown) => this.log.debug(messageOf(error)));
    }, delay);
  }
}

const NEVER: vscode.CancellationToken = {
  isCancellationRequested: false,
  onCancellationRequested: () => new vscode.Disposable(() => undefined),
};
