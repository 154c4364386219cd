import {
  client,
  PROTOCOL_VERSION,
  RequestError,
  type ClientConnection,
  type SendRequestOptions,
} from '@agentclientprotocol/sdk';
import * as z from 'zod';
import type { PermissionParams, PermissionResult } from '../../protocol/acp.js';
import { ElicitationComplete } from '../../protocol/elicitation.js';
import type { Log } from '../log.js';
import { agentAnsweredError, agentEnded, agentSilent, cannotStart } from './agent_errors.js';
import { AgentProcess, type AgentExit, type AgentSpec } from './agent_process.js';
import { agentStream } from './agent_stream.js';
import { withStartLine } from './programs.js';
import { parseCapabilities, type AgentCapabilities } from './capabilities.js';
import { CLIENT_CAPABILITIES } from './client_capabilities.js';

/** Who hears what an agent says about one of its sessions. */
export interface AgentSessionListener {
  /** The `update` of a `session/update`, as it came. Called in the order of the wire, before the turn's answer. */
  update(update: unknown): void;
  /** The agent asks for a permission; `signal` aborts when the agent takes the question back or is gone. */
  permission(params: PermissionParams, signal: AbortSignal): Promise<PermissionResult>;
  /**
   * The agent asks its client for something else about the session (`hostMethods`). `params` are as they came; the
   * answer goes out as it is. A `RequestError` goes out with its code, any other error as an internal one.
   */
  request(method: HostMethod, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** `elicitation/complete`, which names no session: each of them hears it. */
  elicitationComplete(elicitationId: string): void;
  /** A message of Claude Code itself, which its adapter passes on when it was asked to. */
  claudeMessage(message: unknown): void;
}

/** What an agent may ask of its client besides permissions. */
export const hostMethods = [
  'fs/read_text_file',
  'fs/write_text_file',
  'terminal/create',
  'terminal/output',
  'terminal/wait_for_exit',
  'terminal/kill',
  'terminal/release',
  'elicitation/create',
] as const;
export type HostMethod = (typeof hostMethods)[number];

/** Updates kept for a session whose id is not known here yet: they can precede the answer to `session/new`. */
const MAX_EARLY_UPDATES = 64;
const MAX_EARLY_SESSIONS = 16;

/** Kinds of options that a newer agent might invent are refusals, unless their name says otherwise. */
const optionKind = z
  .enum(['allow_once', 'allow_always', 'reject_once', 'reject_always'])
  .or(z.unknown().transform((kind) => (String(kind).startsWith('allow') ? 'allow_once' : 'reject_once')));
const PermissionRequest = z.object({
  sessionId: z.string(),
  toolCall: z.looseObject({ toolCallId: z.string(), title: z.string().nullish() }),
  options: z.array(z.object({ optionId: z.string(), name: z.string(), kind: optionKind })),
});
const ClaudeMessage = z.object({ sessionId: z.string(), message: z.unknown() });
const UpdateParams = z.object({ sessionId: z.string(), update: z.unknown() });

/** An agent that is running and has answered `initialize`. Serves any number of sessions. */
export class AgentConnection {
  /** Settles when the process is gone. Never rejects. */
  readonly closed: Promise<AgentExit>;
  private readonly listeners = new Map<string, AgentSessionListener>();
  private readonly early = new Map<string, unknown[]>();
  /** Hears what the agent tells of sessions that are not open here, e.g. their new titles. */
  onElsewhere: (agentSessionId: string, update: unknown) => void = () => undefined;
  private ending = false;
  private served = false;
  private endReason: string | undefined;
  private exit: AgentExit | undefined;
  private garbageLines = 0;
  private orphanUpdates = 0;

  private constructor(
    readonly spec: AgentSpec,
    readonly capabilities: AgentCapabilities,
    private readonly wire: Wire,
    private readonly log: Log,
  ) {
    this.closed = wire.process.exited;
    void this.closed.then((exit) => {
      this.exit = exit;
    });
    wire.handlers.update = (params) => this.receive(params);
    wire.handlers.garbage = (bytes) => this.receiveGarbage(bytes);
    wire.handlers.permission = (params, signal) => this.ask(params, signal);
    wire.handlers.request = (method, params, signal) => this.answer(method, params, signal);
    wire.handlers.elicitationComplete = (id) => {
      for (const listener of this.listeners.values()) listener.elicitationComplete(id);
    };
    wire.handlers.claudeMessage = ({ sessionId, message }) =>
      this.listeners.get(sessionId)?.claudeMessage(message);
  }

  /**
   * Starts the process and initializes it. Throws `agent_unavailable` when it cannot be started, ends, answers
   * nonsense or nothing within `timeoutMs`.
   */
  static async start(
    spec: AgentSpec,
    version: string,
    log: Log,
    timeoutMs: number,
  ): Promise<AgentConnection> {
    const started = await withStartLine(spec);
    const wire = openWire(started);
    try {
      const result = await withTimeout(timeoutMs, (signal) =>
        wire.connection.agent.request(
          'initialize',
          {
            protocolVersion: PROTOCOL_VERSION,
            clientInfo: { name: 'session-deck', title: 'Session Deck', version },
            clientCapabilities: CLIENT_CAPABILITIES,
          },
          cancellable(signal),
        ),
      );
      const capabilities = parseCapabilities(result);
      if (capabilities.protocolVersion !== PROTOCOL_VERSION)
        throw new Error(`it speaks version ${String(capabilities.protocolVersion)} of the protocol, not 1`);
      return new AgentConnection(spec, capabilities, wire, log);
    } catch (error) {
      const early = await exitWithin(wire.process, error instanceof RequestError ? 0 : 200);
      const exit = early ?? (await wire.process.end());
      throw cannotStart(started, startFailure(error, early, timeoutMs), {
        stderrTail: exit.stderrTail,
        ended: early !== undefined && early.spawnError === undefined,
      });
    }
  }

  /** False once the process has gone or is being ended. */
  get alive(): boolean {
    return this.exit === undefined && !this.wire.connection.signal.aborted;
  }

  /** Whether the service ended it, or began to. */
  get isEnding(): boolean {
    return this.ending;
  }

  /** Whether it has answered anything after `initialize`. */
  get hasServed(): boolean {
    return this.served;
  }

  get pid(): number | undefined {
    return this.wire.process.pid;
  }

  /** How many lines were no messages, and how many updates were of no known session. */
  get counters(): { readonly garbageLines: number; readonly orphanUpdates: number } {
    return { garbageLines: this.garbageLines, orphanUpdates: this.orphanUpdates };
  }

  /** Agent sessions that are listened to. */
  get sessionCount(): number {
    return this.listeners.size;
  }

  /** From now on `listener` hears about the agent's session, first what came before anybody listened. */
  attach(agentSessionId: string, listener: AgentSessionListener): void {
    this.listeners.set(agentSessionId, listener);
    const early = this.early.get(agentSessionId) ?? [];
    this.early.delete(agentSessionId);
    for (const update of early) this.deliver(listener, update);
  }

  detach(agentSessionId: string, listener: AgentSessionListener): void {
    if (this.listeners.get(agentSessionId) === listener) this.listeners.delete(agentSessionId);
  }

  /**
   * Asks the agent and returns its answer unparsed. `timeoutMs` absent: waits as long as the process lives.
   * Throws `agent_failed` (an error answered, the process ended, no answer in time).
   */
  async request(method: string, params: unknown, timeoutMs?: number): Promise<unknown> {
    try {
      const answer = await withTimeout(timeoutMs, (signal) =>
        this.wire.connection.agent.request(method, params, cancellable(signal)),
      );
      this.served = true;
      return answer;
    } catch (error) {
      if (error instanceof TimedOut) throw agentSilent(this.spec, method, error.ms);
      if (error instanceof RequestError && !this.wire.connection.signal.aborted)
        throw agentAnsweredError(this.spec, error, this.capabilities.authMethods);
      // The pipe closed. What the process said when it ended is the reason that helps.
      const exit = (await exitWithin(this.wire.process, 1000)) ?? (await this.wire.process.end());
      throw agentEnded(this.spec, exit, this.endReason);
    }
  }

  /** Sends a notification; a broken pipe is told by `closed`. */
  async notify(method: string, params: unknown): Promise<void> {
    try {
      await this.wire.connection.agent.notify(method, params);
    } catch (error) {
      this.log.warn('agent notification not sent', { agent: this.spec.id, method, error: String(error) });
    }
  }

  /** Ends the process and all of its descendants. `reason`, a sentence, is what those who wait for an answer get. */
  async close(reason?: string): Promise<AgentExit> {
    this.ending = true;
    this.endReason ??= reason;
    const exit = await this.wire.process.end();
    this.wire.connection.close();
    return exit;
  }

  private receive(params: unknown): void {
    const parsed = UpdateParams.safeParse(params);
    if (!parsed.success) {
      this.receiveGarbage(0);
      return;
    }
    const { sessionId, update } = parsed.data;
    const listener = this.listeners.get(sessionId);
    if (listener) {
      this.deliver(listener, update);
      return;
    }
    this.onElsewhere(sessionId, update);
    const early = this.early.get(sessionId) ?? [];
    if (early.length >= MAX_EARLY_UPDATES || (early.length === 0 && this.early.size >= MAX_EARLY_SESSIONS)) {
      this.orphanUpdates += 1;
      return;
    }
    early.push(update);
    this.early.set(sessionId, early);
  }

  /** A listener that fails must not end the connection that other sessions share. */
  private deliver(listener: AgentSessionListener, update: unknown): void {
    try {
      listener.update(update);
    } catch (error) {
      this.log.error('an update of an agent could not be taken in', error);
    }
  }

  private receiveGarbage(bytes: number): void {
    this.garbageLines += 1;
    // Powers of ten: a flood of garbage must not flood the log.
    if (Number.isInteger(Math.log10(this.garbageLines)))
      this.log.warn('agent wrote what is no message', {
        agent: this.spec.id,
        lines: this.garbageLines,
        bytes,
      });
  }

  private async ask(params: PermissionParams, signal: AbortSignal): Promise<PermissionResult> {
    const listener = this.listeners.get(params.sessionId);
    if (!listener) throw RequestError.sessionNotFound(params.sessionId);
    return listener.permission(params, signal);
  }

  private async answer(method: HostMethod, params: unknown, signal: AbortSignal): Promise<unknown> {
    const parsed = OfSession.safeParse(params);
    // Asked while somebody signs in, say: it belongs to no transcript in which a person would see it.
    if (!parsed.success && method === 'elicitation/create') return { action: 'cancel' };
    if (!parsed.success) throw RequestError.invalidParams(undefined, 'sessionId is missing');
    const listener = this.listeners.get(parsed.data.sessionId);
    if (!listener) throw RequestError.sessionNotFound(parsed.data.sessionId);
    return listener.request(method, params, signal);
  }
}

const OfSession = z.looseObject({ sessionId: z.string() });

interface Handlers {
  update(params: unknown): void;
  garbage(bytes: number): void;
  permission(params: PermissionParams, signal: AbortSignal): Promise<PermissionResult>;
  request(method: HostMethod, params: unknown, signal: AbortSignal): Promise<unknown>;
  elicitationComplete(id: string): void;
  claudeMessage(params: z.output<typeof ClaudeMessage>): void;
}

interface Wire {
  readonly process: AgentProcess;
  readonly connection: ClientConnection;
  /** Replaced once the agent is initialized. */
  readonly handlers: Handlers;
}

function openWire(spec: AgentSpec): Wire {
  const process = AgentProcess.start(spec);
  const handlers: Handlers = {
    update: () => undefined,
    garbage: () => undefined,
    permission: () => Promise.reject(RequestError.invalidRequest(undefined, 'initialize comes first')),
    request: () => Promise.reject(RequestError.invalidRequest(undefined, 'initialize comes first')),
    elicitationComplete: () => undefined,
    claudeMessage: () => undefined,
  };
  const app = client({ name: 'session-deck' });
  for (const method of hostMethods)
    app.onRequest(method, z.unknown(), ({ params, signal }) => handlers.request(method, params, signal));
  const connection = app
    .onRequest('session/request_permission', PermissionRequest, ({ params, signal }) =>
      handlers.permission(params, signal),
    )
    .onNotification('elicitation/complete', ElicitationComplete, ({ params }) =>
      handlers.elicitationComplete(params.elicitationId),
    )
    .onNotification('_claude/sdkMessage', ClaudeMessage, ({ params }) => handlers.claudeMessage(params))
    .onNotification('*', () => undefined)
    .connect(
      agentStream(process.stdin, process.stdout, {
        update: (params) => handlers.update(params),
        garbage: (bytes) => handlers.garbage(bytes),
      }),
    );
  void process.exited.then(() => connection.close());
  return { process, connection, handlers };
}

function startFailure(error: unknown, early: AgentExit | undefined, timeoutMs: number): string {
  if (early?.spawnError !== undefined) return early.spawnError;
  if (early)
    return early.signal === null
      ? `it ended with exit code ${String(early.code)}`
      : `it was ended by ${early.signal}`;
  if (error instanceof TimedOut) return `it did not answer within ${String(Math.ceil(timeoutMs / 1000))} s`;
  if (error instanceof z.ZodError) return 'its answer to initialize is not understood';
  return error instanceof Error ? error.message : String(error);
}

function cancellable(signal: AbortSignal | undefined): SendRequestOptions {
  return signal ? { cancellationSignal: signal, stopWaitingOnCancel: true } : {};
}

class TimedOut extends Error {
  constructor(readonly ms: number) {
    super(`no answer within ${String(ms)} ms`);
  }
}

async function withTimeout<T>(
  ms: number | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (ms === undefined) return work(undefined);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  try {
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? new TimedOut(ms) : error;
  } finally {
    clearTimeout(timer);
  }
}

async function exitWithin(process: AgentProcess, ms: number): Promise<AgentExit | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  const exit = await Promise.race([process.exited, late]);
  clearTimeout(timer);
  return exit;
}
