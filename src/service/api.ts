import type * as z from 'zod';
import { DomainError } from '../protocol/errors.js';
import { methods, type ClientRequest } from '../protocol/methods.js';
import type { ClientRegistry } from './clients.js';
import { describeIssue } from './issues.js';
import type { Log } from './log.js';
import type { Rules, ServiceControl } from './parts.js';
import type { Client } from './sessions/client.js';

type Handler = (client: Client, rawParams: unknown, signal: AbortSignal) => Promise<unknown>;

export interface ApiParts extends Rules {
  readonly clients: ClientRegistry;
  readonly control: ServiceControl;
  readonly log: Log;
  /** Also parses results; a wrong one is a bug of ours and fails the request. For tests. */
  readonly checkResults: boolean;
}

/**
 * Scope and life of the service are decided where it was started: nothing that ACP's peers may change. Documents are an
 * editor's.
 */
const editorOnly = new Set<string>(['deck/configure', 'deck/service/stop', 'workspace/textDocumentContent']);

function parseParams<P extends z.ZodType>(schema: P, raw: unknown): z.output<P> {
  const parsed = schema.safeParse(raw ?? {});
  if (parsed.success) return parsed.data;
  const { field, text } = describeIssue(parsed.error);
  throw new DomainError('invalid_params', text, { field });
}

/** Every method of the contract, parsed, scoped and answered the same way whatever surface it came through. */
export class Api {
  private readonly handlers: Record<ClientRequest, Handler>;

  constructor(private readonly parts: ApiParts) {
    this.handlers = this.table();
  }

  /** Whether a peer on the surface may call a request of that (plain) name. */
  knows(method: string, surface: Client['surface']): method is ClientRequest {
    return Object.hasOwn(this.handlers, method) && !(surface === 'acp' && editorOnly.has(method));
  }

  /**
   * Answers a request. Throws `DomainError`: what the method's rules say, `invalid_params` naming the field, or
   * `cancelled` when `signal` was the reason that it ended.
   */
  async dispatch(
    method: ClientRequest,
    client: Client,
    rawParams: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    const answer = () => this.handlers[method](client, rawParams, signal);
    try {
      return await answer().catch(async (error: unknown) => {
        const isUnknown = error instanceof DomainError && error.code === 'session_unavailable';
        // A session that a tool left on disk may not have been seen yet when the service has just started.
        if (isUnknown && (await this.parts.sessions.firstLook())) return answer();
        throw error;
      });
    } catch (error) {
      if (error instanceof DomainError) throw error;
      if (signal.aborted) throw new DomainError('cancelled', 'The request was cancelled.');
      throw error;
    }
  }

  /** Handles a notification of a client; what cannot be done is logged, there is nobody to tell. */
  async notify(method: string, client: Client, rawParams: unknown): Promise<void> {
    if (method !== 'session/cancel') {
      this.parts.log.debug('ignored a notification', { method, surface: client.surface });
      return;
    }
    try {
      await this.parts.runs.cancel(client, parseParams(methods[method].params, rawParams));
    } catch (error) {
      this.parts.log.warn('could not cancel', error);
    }
  }

  private handle<P extends z.ZodType, R extends z.ZodType>(
    method: { readonly params: P; readonly result: R },
    run: (client: Client, params: z.output<P>, signal: AbortSignal) => Promise<z.output<R>> | z.output<R>,
  ): Handler {
    return async (client, raw, signal) => {
      const result = await run(client, parseParams(method.params, raw), signal);
      return this.parts.checkResults ? method.result.parse(result) : result;
    };
  }

  private table(): Record<ClientRequest, Handler> {
    const { sessions, runs, controls, inbox, tasks, agents, jobs, search, clients, control } = this.parts;
    return {
      'session/list': this.handle(methods['session/list'], (c, p, s) => sessions.acpList(c, p, s)),
      'session/new': this.handle(methods['session/new'], (c, p, s) => runs.newSession(c, p, s)),
      'session/load': this.handle(methods['session/load'], (c, p, s) => runs.load(c, p, s)),
      'session/resume': this.handle(methods['session/resume'], (c, p, s) => runs.resume(c, p, s)),
      'session/prompt': this.handle(methods['session/prompt'], (c, p, s) => runs.prompt(c, p, s)),
      'session/close': this.handle(methods['session/close'], (c, p, s) => runs.close(c, p, s)),
      'session/delete': this.handle(methods['session/delete'], async (c, p, s) => {
        await sessions.firstLook();
        try {
          const { cwd } = sessions.resolve(c, p.sessionId);
          await sessions.delete(c, { sessionId: p.sessionId, cwd }, s);
        } catch (error) {
          // The protocol wants silence here, and out of scope must look like unknown.
          if (!(error instanceof DomainError && error.code === 'session_unavailable')) throw error;
        }
        return {};
      }),
      'session/fork': this.handle(methods['session/fork'], (c, p, s) => sessions.forkHead(c, p, s)),
      'session/archive': this.handle(methods['session/archive'], (c, p) => sessions.archive(c, p, true)),
      'session/unarchive': this.handle(methods['session/unarchive'], (c, p) => sessions.archive(c, p, false)),
      'session/set_title': this.handle(methods['session/set_title'], (c, p, s) => sessions.setTitle(c, p, s)),
      'session/set_mode': this.handle(methods['session/set_mode'], (c, p, s) => controls.setMode(c, p, s)),
      'session/set_config_option': this.handle(methods['session/set_config_option'], (c, p, s) =>
        controls.setConfigOption(c, p, s),
      ),
      'aster/session/tooling/v1': this.handle(methods['aster/session/tooling/v1'], (c, p, s) =>
        controls.tooling(c, p, s),
      ),
      'aster/followup/generate': this.handle(methods['aster/followup/generate'], (c, p, s) =>
        jobs.followups(c, p, s),
      ),
      'aster/session/background-tasks/v1': this.handle(
        methods['aster/session/background-tasks/v1'],
        (c, p, s) => tasks.ofSession(c, p, s),
      ),
      'aster/session/background-tasks/stop/v1': this.handle(
        methods['aster/session/background-tasks/stop/v1'],
        (c, p, s) => tasks.stop(c, p, s),
      ),
      'aster/subagent/cancel': this.handle(methods['aster/subagent/cancel'], (c, p, s) =>
        tasks.cancelSubagent(c, p, s),
      ),
      'aster/workspace/search/v1': this.handle(methods['aster/workspace/search/v1'], (c, p, s) =>
        search.workspace(c, p, s),
      ),
      'deck/session/open': this.handle(methods['deck/session/open'], (c, p, s) => controls.open(c, p, s)),
      'deck/session/family': this.handle(methods['deck/session/family'], (c, p, s) =>
        sessions.family(c, p, s),
      ),
      'deck/inbox': this.handle(methods['deck/inbox'], (c, p, s) => inbox.list(c, p, s)),
      'deck/inbox/answer': this.handle(methods['deck/inbox/answer'], (c, p, s) => inbox.answer(c, p, s)),
      'deck/tasks': this.handle(methods['deck/tasks'], (c, p, s) => tasks.list(c, p, s)),
      'deck/agents': this.handle(methods['deck/agents'], (c, p, s) => agents.list(c, p, s)),
      'deck/agent/details': this.handle(methods['deck/agent/details'], (c, p, s) => agents.details(c, p, s)),
      'deck/agent/authenticate': this.handle(methods['deck/agent/authenticate'], (c, p, s) =>
        agents.authenticate(c, p, s),
      ),
      'deck/agent/discover': this.handle(methods['deck/agent/discover'], (c, p, s) =>
        agents.discover(c, p, s),
      ),
      'aster/session/list': this.handle(methods['aster/session/list'], (c, p, s) => sessions.list(c, p, s)),
      'aster/session/info': this.handle(methods['aster/session/info'], (c, p, s) => sessions.info(c, p, s)),
      'aster/session/delete': this.handle(methods['aster/session/delete'], (c, p, s) =>
        sessions.delete(c, p, s),
      ),
      'aster/session/transcript/page/v1': this.handle(
        methods['aster/session/transcript/page/v1'],
        (c, p, s) => sessions.page(c, p, s),
      ),
      'aster/session/fork/prefix/v1': this.handle(methods['aster/session/fork/prefix/v1'], (c, p, s) =>
        sessions.fork(c, p, s),
      ),
      'aster/interject': this.handle(methods['aster/interject'], (c, p, s) => runs.interject(c, p, s)),
      'aster/compact_conversation': this.handle(methods['aster/compact_conversation'], (c, p, s) =>
        runs.compact(c, p, s),
      ),
      'deck/status': this.handle(methods['deck/status'], (c) => sessions.status(c)),
      'deck/configure': this.handle(methods['deck/configure'], (c, p) => {
        clients.configure(c, p);
        return {};
      }),
      'deck/session/rename': this.handle(methods['deck/session/rename'], (c, p, s) =>
        sessions.rename(c, p, s),
      ),
      'deck/session/undo_delete': this.handle(methods['deck/session/undo_delete'], (c, p, s) =>
        sessions.undoDelete(c, p, s),
      ),
      'deck/session/deleted': this.handle(methods['deck/session/deleted'], (c) => sessions.deleted(c)),
      'deck/session/unwatch': this.handle(methods['deck/session/unwatch'], (c, p, s) =>
        sessions.unwatch(c, p, s),
      ),
      'deck/entry/content': this.handle(methods['deck/entry/content'], (c, p, s) =>
        sessions.entryContent(c, p, s),
      ),
      'workspace/textDocumentContent': this.handle(methods['workspace/textDocumentContent'], (c, p, s) =>
        sessions.text(c, p, s),
      ),
      'deck/turns': this.handle(methods['deck/turns'], (c, p, s) => sessions.turns(c, p, s)),
      'deck/fork/preview': this.handle(methods['deck/fork/preview'], (c, p, s) =>
        sessions.forkPreview(c, p, s),
      ),
      'deck/interjections': this.handle(methods['deck/interjections'], (c, p, s) =>
        runs.interjections(c, p, s),
      ),
      'deck/interjection/discard': this.handle(methods['deck/interjection/discard'], (c, p, s) =>
        runs.discardInterjection(c, p, s),
      ),
      'deck/service/stop': this.handle(methods['deck/service/stop'], (_c, p) => {
        const activeRuns = runs.activeCount;
        if (activeRuns > 0 && p.force !== true) return { stopping: false, activeRuns };
        control.stopSoon('a client asked for it');
        return { stopping: true, activeRuns };
      }),
    };
  }
}
