import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { v7 as uuid } from 'uuid';
import * as z from 'zod';
import type {
  ControlsResult,
  LoadParams,
  NewParams,
  NewResult,
  PromptParams,
  SessionIdParams,
  StopReason,
} from '../../protocol/acp.js';
import type { CompactParams, CompactResult, InterjectParams, InterjectResult } from '../../protocol/aster.js';
import type { DiscardInterjectionParams, Interjection } from '../../protocol/deck.js';
import { DomainError } from '../../protocol/errors.js';
import type { ActiveRun, SourceKind } from '../../protocol/session.js';
import type { AgentPool } from '../agents/agent_pool.js';
import type { AgentSpec } from '../agents/agent_process.js';
import { toContentBlock } from '../agents/content.js';
import type { Log } from '../log.js';
import type { Client, Clients } from '../sessions/client.js';
import { isUnread } from '../sessions/imported.js';
import type { RunControl } from '../sessions/run_control.js';
import { requireDirectories } from '../sessions/directories.js';
import { requireFolder, scopeOf } from '../sessions/scope.js';
import { requireTrustForServers } from '../sessions/trust.js';
import { AgentWork } from './agent_work.js';
import { AgentHost } from './agent_host.js';
import { agentForNew, agentForSession } from './agent_choice.js';
import { Audience } from './audience.js';
import { Compactions } from './compaction.js';
import { Controls } from './controls.js';
import { Elicitations } from './elicitations.js';
import { HostFiles } from './host_files.js';
import { Imports } from './import.js';
import { Interjections } from './interjections.js';
import { LiveSessions } from './live_sessions.js';
import { type McpServer, McpServers } from './mcp_servers.js';
import { Inbox } from './inbox.js';
import { Questions } from './questions.js';
import type { RunRow, RunSession, RunSessions, RunStore, TurnListener } from './ports.js';
import { closeEntries, endOpenRun, recoverRuns } from './recovery.js';
import { Run, type RunInput, type RunOutcome, type RunParts } from './run.js';
import { Tasks } from './tasks.js';
import { Terminals } from './terminals.js';
import { defaultTiming, type RunTiming } from './timing.js';
import { ToolingBook } from './tooling_book.js';

export interface RunsParts {
  readonly store: RunStore;
  readonly sessions: RunSessions;
  readonly agents: AgentPool;
  readonly clients: Clients;
  readonly log: Log;
  readonly timing?: Partial<RunTiming>;
}

/** Milliseconds that cancelled runs get when the service ends. */
const STOP_MS = 2000;
/** How long after a failure the end of a run is written again, in ms. */
const END_AGAIN_MS = 5000;
const UNENDED = 'The end of this turn could not be saved when it ended. What came before is kept.';

const NewMeta = z.looseObject({ agent: z.string().optional() }).nullish().catch(undefined);

/** The runs of all sessions, at most one each: prompts, interjections, compactions, permissions. */
export class Runs implements RunControl {
  private readonly active = new Map<string, Run>();
  /** What waits for a person. */
  readonly inbox: Inbox;
  /** What can be chosen in the agents. */
  readonly controls: Controls;
  private readonly book: ToolingBook;
  private readonly mcpServers = new McpServers();
  private readonly audience = new Audience();
  private readonly live: LiveSessions;
  readonly tasks: Tasks;
  private readonly terminals: Terminals;
  private readonly work: AgentWork;
  private readonly imports: Imports;
  private readonly interjectionsOf: Interjections;
  private readonly compactions: Compactions;
  private readonly runParts: RunParts;
  private readonly turnListeners: TurnListener[] = [];
  private stopping = false;
  private endingAgain: NodeJS.Timeout | undefined;
  /** Settles when everything that a dead service left open is ended. Never rejects. */
  recovered: Promise<void> = Promise.resolve();

  constructor(private readonly parts: RunsParts) {
    const { store, sessions, agents, clients, log } = parts;
    const timing = { ...defaultTiming, ...parts.timing };
    this.tasks = new Tasks({ store, sessions, clients, log });
    this.terminals = new Terminals({ sessions, agents, tasks: this.tasks, log });
    const sees = (client: Client, sessionId: string) => this.sees(client, sessionId);
    const desk = new Questions({ clients, audience: this.audience, sees, log });
    this.inbox = new Inbox({ desk, store, clients, sees });
    const host = new AgentHost({
      files: new HostFiles(),
      terminals: this.terminals,
      elicitations: new Elicitations(desk, this.audience),
    });
    this.book = new ToolingBook({
      store,
      log,
      announce: (sessionId, tooling) => this.controls.announce(sessionId, tooling),
    });
    this.work = new AgentWork({ tasks: this.tasks, agents, timing });
    const live = new LiveSessions({
      work: this.work,
      sessions,
      mcpServers: this.mcpServers,
      remembered: (sessionId) => this.book.current(sessionId),
      announced: (session) => this.book.note(session.sessionId, () => session.catalogue()),
      agents,
      log,
      host,
      timing,
      forward: (sessionId, raw) => {
        const update = z.record(z.string(), z.unknown()).safeParse(raw);
        if (update.success) this.audience.forward(sessionId, update.data);
      },
    });
    const activeRun = (sessionId: string) => this.active.get(sessionId);
    this.live = live;
    this.imports = new Imports({ sessions, agents, live });
    this.controls = new Controls({
      sessions,
      live,
      book: this.book,
      audience: this.audience,
      clients,
      timing,
      activeTurn: (sessionId) => this.activeRun(sessionId)?.turnId,
      sees,
    });
    this.runParts = {
      store,
      sessions,
      live,
      desk,
      audience: this.audience,
      log,
      timing,
      terminals: this.terminals,
    };
    this.interjectionsOf = new Interjections({
      store,
      activeRun,
      runQueued: (sessionId) => this.runQueued(sessionId),
      announce: (interjection) => this.announce(interjection),
    });
    this.compactions = new Compactions({
      store,
      live,
      timing,
      activeRun,
      startRun: (input) => this.start(input),
    });
    clients.onDetach((client) => this.audience.leave(client));
  }

  /** Runs that are going on, compactions included. */
  get activeCount(): number {
    return this.active.size;
  }

  /**
   * Ends what a service that died left open. Call once, before anything else. Marking single entries as ended goes on
   * in the background, until `recovered`.
   */
  recover(): Promise<void> {
    const runs = recoverRuns(this.parts.store, this.parts.sessions, this.parts.log);
    this.tasks.recover();
    this.recovered = this.closeEntries(runs);
    return Promise.resolve();
  }

  private async closeEntries(runs: readonly RunRow[]): Promise<void> {
    for (const run of runs) {
      if (this.stopping) return;
      try {
        await closeEntries(this.parts.sessions, run);
      } catch (error) {
        this.parts.log.error('entries of a dead run could not be marked as ended', error);
      }
    }
  }

  activeRun(sessionId: string): ActiveRun | undefined {
    return this.active.get(sessionId)?.active;
  }

  /** Whether an agent could take a prompt or a compaction for that client, and if not, what to do about it. */
  can(
    client: Client,
    session: { readonly id: string; readonly source: SourceKind; readonly agent?: string | undefined },
  ): { prompt: boolean; compact: boolean; reason?: string } {
    try {
      agentForSession(client.options, session);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { prompt: false, compact: false, reason: error.message };
    }
    const commands = this.live.get(session.id)?.commands;
    const compact =
      !this.active.has(session.id) && (commands?.some(({ name }) => name === 'compact') ?? true);
    return { prompt: true, compact };
  }

  /** Begins a session in its agent and then creates ours, so that an agent that cannot work is told at once. */
  async newSession(client: Client, params: NewParams): Promise<NewResult> {
    if (!scopeOf(client).has({ cwd: requireFolder(params.cwd), source: 'deck' }))
      throw new DomainError('forbidden', 'This folder is outside of those that were opened here.', {
        field: 'cwd',
      });
    const directories = requireDirectories(client, params.additionalDirectories);
    const spec = agentForNew(client.options, NewMeta.parse(params._meta)?.agent);
    const sessionId = await this.live.begin(
      spec,
      { cwd: params.cwd, directories },
      params.mcpServers,
      ({ agentSession, model }) => {
        const session = {
          cwd: params.cwd,
          agent: spec.id,
          agentSession,
          kind: 'build',
          headless: false,
        } as const;
        const { id } = this.parts.sessions.create(session);
        this.parts.sessions.update(id, { directories, ...(model === undefined ? {} : { model }) });
        return id;
      },
    );
    // What is known goes into the answer: the client does not know the session before.
    const known = this.controls.known(sessionId);
    this.audience.join(client, sessionId);
    return { sessionId, ...known };
  }

  /**
   * Checks and attaches the client; the surface replays the transcript. Launches nothing, unless the history is still
   * with the agent that listed the session: what can be chosen is told as the agent told it last.
   */
  async load(client: Client, params: LoadParams): Promise<ControlsResult> {
    const session = this.parts.sessions.resolve(client, params.sessionId, params.cwd);
    await this.fetchHistory(client, session);
    return this.resume(client, params);
  }

  /** Fetches the history of a session that its agent listed; see `Imports.ensure`. */
  async fetchHistory(client: Client, session: RunSession): Promise<void> {
    if (isUnread(session)) await this.imports.ensure(session, agentForSession(client.options, session));
  }

  /** Checks and attaches the client without replay; else like `load`. */
  resume(client: Client, params: LoadParams): ControlsResult {
    const session = this.parts.sessions.resolve(client, params.sessionId, params.cwd);
    requireTrustForServers(client, params.mcpServers);
    const directories = requireDirectories(client, params.additionalDirectories);
    if (!isDeepStrictEqual(directories, session.directories ?? []))
      this.parts.sessions.update(session.id, { directories });
    this.mcpServers.give(session.id, params.mcpServers);
    const known = this.controls.known(session.id);
    this.audience.join(client, session.id);
    return known;
  }

  /**
   * Runs a turn and answers when it ended. The run goes on when the client leaves; `signal` cancels it while the client
   * is there. Throws `turn_in_progress`, `forbidden`, `agent_unavailable`, `agent_failed`, `not_supported`.
   */
  async prompt(
    client: Client,
    params: PromptParams,
    signal: AbortSignal,
  ): Promise<{ stopReason: StopReason }> {
    let session: RunSession = this.parts.sessions.resolve(client, params.sessionId);
    // A cancel right behind the prompt must find the run, so nothing is waited for that is there.
    if (isUnread(session)) session = await this.readable(client, params.sessionId);
    if (signal.aborted) return { stopReason: 'cancelled' };
    this.refuseDuringRun(session.id);
    const spec = agentForSession(client.options, session);
    this.audience.join(client, session.id);
    const run = this.start({
      session,
      spec,
      kind: 'prompt',
      owner: client,
      blocks: params.prompt,
      first: {
        id: uuid(),
        kind: 'user',
        at: new Date().toISOString(),
        content: params.prompt.map(toContentBlock),
      },
    });
    for (const content of params.prompt)
      this.audience.forward(session.id, { sessionUpdate: 'user_message_chunk', content }, client);
    const onAbort = () => {
      if (client.connected) run.cancel();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const outcome = await run.ended;
    signal.removeEventListener('abort', onAbort);
    if (outcome.error) throw outcome.error;
    return { stopReason: outcome.stopReason ?? 'cancelled' };
  }

  /** The client has opened the session and hears of it from now on. Returns the updates that hold now. */
  attend(client: Client, params: SessionIdParams): Record<string, unknown>[] {
    const { id } = this.parts.sessions.resolve(client, params.sessionId);
    const { commands } = this.book.current(id);
    this.audience.join(client, id);
    const usage = this.audience.last(id, 'usage_update');
    return [
      ...(commands.length > 0
        ? [{ sessionUpdate: 'available_commands_update', availableCommands: commands }]
        : []),
      ...(usage ? [usage] : []),
    ];
  }

  /** A fork begins with what was chosen in its parent, in the same agent. Returns what can be chosen. */
  forked(parent: RunSession, fork: RunSession, mcpServers: readonly McpServer[] = []): ControlsResult {
    this.mcpServers.give(fork.id, mcpServers.length > 0 ? mcpServers : this.mcpServers.of(parent.id));
    if (fork.agent === (parent.agent ?? parent.source)) this.book.inherit(parent.id, fork.id);
    return this.controls.known(fork.id);
  }

  /** The session with its history here: what is appended comes behind it. */
  private async readable(client: Client, sessionId: string): Promise<RunSession> {
    const session = this.parts.sessions.resolve(client, sessionId);
    if (!isUnread(session)) return session;
    await this.fetchHistory(client, session);
    return this.parts.sessions.resolve(client, sessionId);
  }

  /** Cancels the active run, if there is one. Throws `session_unavailable`. */
  cancel(client: Client, params: SessionIdParams): void {
    const session = this.parts.sessions.resolve(client, params.sessionId);
    this.active.get(session.id)?.cancel();
  }

  /** Cancels the run, waits for its end, and frees what the agent holds. The session stays. */
  async close(client: Client, params: SessionIdParams): Promise<Record<string, never>> {
    const session = this.parts.sessions.resolve(client, params.sessionId);
    await this.stop(session.id);
    this.audience.leave(client, session.id);
    return {};
  }

  /** Cancels the run of a session, waits until it ended, and closes the session in its agent. */
  async stop(sessionId: string): Promise<void> {
    const run = this.active.get(sessionId);
    run?.cancel();
    await run?.ended;
    await this.terminals.endSession(sessionId);
    await this.live.close(sessionId);
    this.audience.forget(sessionId);
  }

  gone(session: RunSession): void {
    this.tell(() => {
      this.inbox.sessionGone(session);
      this.tasks.sessionGone(session);
    });
  }

  back(sessionId: string): void {
    this.tell(() => {
      this.inbox.sessionBack(sessionId);
      this.tasks.sessionBack(sessionId);
    });
  }

  /** What cannot be told must not undo what was done. */
  private tell(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.parts.log.error('what waits in a session could not be announced', error);
    }
  }

  /** Adds text to the active run; see `Interjections.add`. */
  async interject(client: Client, params: InterjectParams): Promise<InterjectResult> {
    const session = this.parts.sessions.resolve(client, params.sessionId);
    return this.interjectionsOf.add(client, session, params);
  }

  interjections(client: Client, params: { sessionId: string }): { interjections: Interjection[] } {
    const session = this.parts.sessions.resolve(client, params.sessionId);
    return { interjections: this.interjectionsOf.list(session.id) };
  }

  discardInterjection(client: Client, params: DiscardInterjectionParams): Record<string, never> {
    const session = this.parts.sessions.resolve(client, params.sessionId);
    this.interjectionsOf.discard(session.id, params.interjectionId);
    return {};
  }

  /** Replaces the model's context by a summary; see `Compactions.compact`. */
  async compact(client: Client, params: CompactParams, signal: AbortSignal): Promise<CompactResult> {
    const session = await this.readable(client, params.sessionId);
    const spec = agentForSession(client.options, session);
    return this.compactions.compact(client, session, spec, params, signal);
  }

  /** Cancels all runs, waits a little for them, and ends all agents and so the rest. Nothing can be started afterwards. */
  async stopAll(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.endingAgain);
    const runs = [...this.active.values()];
    for (const run of runs) run.cancel();
    const ended = Promise.all(runs.map((run) => run.ended));
    await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })]);
    await this.terminals.close();
    this.book.settleAll();
    await this.parts.agents.close();
    await ended;
  }

  /** From now on the listener hears of every turn. */
  onTurn(listener: TurnListener): void {
    this.turnListeners.push(listener);
  }

  private start(input: RunInput): Run {
    if (this.stopping) throw new DomainError('agent_unavailable', 'The session service is about to end.');
    if (this.endingAgain) this.endUnended();
    const run = new Run(this.runParts, input);
    this.active.set(run.sessionId, run);
    for (const listener of this.turnListeners) listener.began(run.sessionId);
    void run.ended.then((outcome) => this.ended(run, outcome));
    return run;
  }

  private ended(run: Run, outcome: RunOutcome): void {
    this.active.delete(run.sessionId);
    this.work.turnEnded(run.sessionId, outcome.status);
    const { kind, owner } = run.input;
    for (const listener of this.turnListeners)
      listener.ended(run.sessionId, { status: outcome.status, kind, owner });
    if (run.isUnended) this.endSoon();
    try {
      if (outcome.status === 'completed') this.inbox.runCompleted(run.sessionId);
      else if (outcome.status === 'failed' && !run.isUnended) this.inbox.runFailed(run.id);
      if (outcome.status === 'completed' && !this.stopping) this.runQueued(run.sessionId, run.input.spec);
      else this.interjectionsOf.returnQueued(run.sessionId);
    } catch (error) {
      // What waits stays in the store; the next start of the service hands it back.
      this.parts.log.error('what waited for the end of a run could not be dealt with', error);
    }
  }

  private endSoon(): void {
    clearTimeout(this.endingAgain);
    this.endingAgain = setTimeout(() => this.endUnended(), END_AGAIN_MS).unref();
  }

  /** Writes the end of runs that the store could not take when they ended, e.g. on a full disk; tries until it can. */
  private endUnended(): void {
    const { store, sessions, log } = this.parts;
    const isOver = ({ id, sessionId }: RunRow) => this.active.get(sessionId)?.id !== id;
    clearTimeout(this.endingAgain);
    this.endingAgain = undefined;
    try {
      const over = store.openRuns().filter(isOver);
      for (const run of over)
        endOpenRun(store, sessions, run, UNENDED, (what, work) => {
          try {
            work();
          } catch (error) {
            // What is only damaged does not get better by waiting.
            if (error instanceof DomainError && error.code.startsWith('store_')) throw error;
            log.error(`could not end ${what}`, error);
          }
        });
      for (const { id } of over) this.inbox.runFailed(id);
      void this.closeEntries(over);
    } catch (error) {
      log.debug('the end of a run could still not be written', error);
      this.endSoon();
    }
  }

  /** Starts the next queued interjection as a turn of its own. */
  private runQueued(sessionId: string, lastSpec?: AgentSpec): void {
    if (this.active.has(sessionId)) return;
    const queued = this.interjectionsOf.next(sessionId);
    if (!queued) return;
    const { row, owner } = queued;
    if (!owner) {
      this.interjectionsOf.returnQueued(sessionId);
      return;
    }
    try {
      const session: RunSession = this.parts.sessions.resolve(owner, sessionId);
      const run = this.start({
        session,
        spec: lastSpec ?? agentForSession(owner.options, session),
        kind: 'interjection',
        owner,
        blocks: [{ type: 'text', text: row.text }],
        first: {
          id: uuid(),
          kind: 'user',
          at: new Date().toISOString(),
          content: [{ type: 'text', text: row.text }],
        },
      });
      this.interjectionsOf.sent(row, run.id);
    } catch (error) {
      this.parts.log.warn('a queued interjection could not be sent', { sessionId, error: String(error) });
      this.interjectionsOf.returnQueued(sessionId);
    }
  }

  private refuseDuringRun(sessionId: string): void {
    if (this.active.has(sessionId) || this.compactions.isRunning(sessionId))
      throw new DomainError(
        'turn_in_progress',
        'A turn is running in this session. Interject, or wait for its end.',
      );
  }

  private announce(interjection: Interjection): void {
    for (const client of this.parts.clients)
      if (this.sees(client, interjection.sessionId)) client.notify('deck/interjection/update', interjection);
  }

  private sees(client: Client, sessionId: string): boolean {
    try {
      this.parts.sessions.resolve(client, sessionId);
      return true;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'session_unavailable') return false;
      throw error;
    }
  }
}
