import { v7 as uuid } from 'uuid';
import * as z from 'zod';
import type { PermissionParams, PermissionResult, StopReason } from '../../protocol/acp.js';
import type { ElicitationAnswer, ElicitationParams } from '../../protocol/elicitation.js';
import { DomainError } from '../../protocol/errors.js';
import type { Usage } from '../../protocol/entry.js';
import type { ActiveRun } from '../../protocol/session.js';
import type { AgentSpec } from '../agents/agent_process.js';
import { fitBlocks } from '../agents/prompt_blocks.js';
import { readTurnEnd, type TurnEnd } from '../agents/turn_end.js';
import type { AgentUpdate } from '../agents/updates.js';
import type { Log } from '../log.js';
import type { Client } from '../sessions/client.js';
import type { EntryDraft } from '../sessions/transcript.js';
import { unlessAborted } from '../abort.js';
import { CompactionNews } from './compaction_news.js';
import type { Audience } from './audience.js';
import type { LiveSession, UpdateSink } from './live_session.js';
import type { LiveSessions } from './live_sessions.js';
import type { RunKind, RunSession, RunSessions, RunStore } from './ports.js';
import type { Questions } from './questions.js';
import { RunQuestions } from './run_questions.js';
import { RunTerminals } from './run_terminals.js';
import type { Terminals } from './terminals.js';
import type { RunTiming } from './timing.js';
import { TurnEntries } from './turn_entries.js';

/** What all runs share. */
export interface RunParts {
  readonly store: RunStore;
  readonly sessions: RunSessions;
  readonly live: LiveSessions;
  readonly desk: Questions;
  readonly terminals: Terminals;
  readonly audience: Audience;
  readonly log: Log;
  readonly timing: RunTiming;
}

/** What one run is about. */
export interface RunInput {
  readonly session: RunSession;
  readonly spec: AgentSpec;
  readonly kind: RunKind;
  /** Who is asked first what the agent asks. */
  readonly owner: Client;
  /** Content blocks of the Agent Client Protocol, as the agent gets them. */
  readonly blocks: readonly unknown[];
  /** The turn's first entry: what the person typed, or the compaction. */
  readonly first: EntryDraft;
}

export interface RunOutcome {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly stopReason?: StopReason;
  readonly error?: DomainError;
}

const SteeringAnswer = z.looseObject({ outcome: z.enum(['injected', 'startedNewTurn']) });

/** Updates are held back no longer than this, in ms, and no more than so many. */
const MAX_HOLD_MS = 1000;
const MAX_HELD = 500;

/** So much waits at most before it is written at once, whatever the clock says. */
const MAX_PENDING_CHARACTERS = 1024 * 1024;
const MAX_PENDING_UPDATES = 2000;

/** One turn, from the prompt to its end. It goes on whoever leaves, and always ends. */
export class Run implements UpdateSink {
  readonly id = uuid();
  /** Never rejects. */
  readonly ended: Promise<RunOutcome>;
  readonly sessionId: string;
  private readonly turnId: string;
  private readonly startedAt = Date.now();
  private readonly entries: TurnEntries;
  private readonly questions: RunQuestions;
  private readonly terminals: RunTerminals;
  private readonly cancelling = new AbortController();
  /** Aborts when the turn has ended: an agent may end it without waiting for the answer to its own question. */
  private readonly over = new AbortController();
  private readonly rawUpdates: Record<string, unknown>[] = [];
  private readonly compactionNews: CompactionNews | undefined;
  /** Updates that came while the agent was asked to take text in; undefined when nobody asks. */
  private held: { readonly update: AgentUpdate; readonly raw: unknown }[] | undefined;
  private holders = 0;
  private live: LiveSession | undefined;
  private prompting = false;
  private unended = false;
  private flushTimer: NodeJS.Timeout | undefined;
  private writeError: unknown;
  private tokensBefore: number | undefined;
  private tokensAfter: number | undefined;

  /**
   * Opens the turn durably and starts. Throws `turn_in_progress` when the session has an open turn, and what the store
   * throws; then nothing was started.
   */
  constructor(
    private readonly parts: RunParts,
    readonly input: RunInput,
  ) {
    this.sessionId = input.session.id;
    this.entries = new TurnEntries(input.first);
    this.questions = new RunQuestions({
      ...parts,
      runId: this.id,
      sessionId: this.sessionId,
      owner: input.owner,
      entries: this.entries,
      signals: [this.cancelling.signal, this.over.signal],
      isPrompting: () => this.prompting,
      flush: () => this.flush(),
    });
    this.terminals = new RunTerminals({
      ...parts,
      sessionId: this.sessionId,
      entries: this.entries,
      tell: (update) => this.rawUpdates.push(update),
      flushSoon: () => this.flushSoon(),
      writeLate: (entry) => this.writeLate(entry),
    });
    this.turnId = parts.sessions.writer.beginTurn(this.sessionId, input.first).turnId;
    try {
      parts.store.addRun({
        id: this.id,
        sessionId: this.sessionId,
        turnId: this.turnId,
        kind: input.kind,
        agent: input.spec.id,
        startedAt: this.startedAt,
      });
      parts.sessions.update(this.sessionId, { state: 'running' });
    } catch (error) {
      parts.sessions.writer.endTurn(this.sessionId, this.turnId, { status: 'failed' });
      throw error;
    }
    if (input.kind === 'compaction') {
      this.compactionNews = new CompactionNews(input.first.id);
      this.rawUpdates.push(this.compactionNews.began());
      this.flushSoon();
    }
    this.ended = this.execute();
  }

  get active(): ActiveRun {
    return {
      runId: this.id,
      kind: this.input.kind,
      state: this.questions.open > 0 ? 'needs_input' : 'running',
      startedAt: new Date(this.startedAt).toISOString(),
      turnId: this.turnId,
    };
  }

  get runId(): string {
    return this.id;
  }

  get owner(): Client {
    return this.input.owner;
  }

  get cancelled(): boolean {
    return this.cancelling.signal.aborted;
  }

  /** Tokens before and after, where the agent told them. */
  get tokens(): { tokensBefore?: number; tokensAfter?: number } {
    return {
      ...(this.tokensBefore === undefined ? {} : { tokensBefore: this.tokensBefore }),
      ...(this.tokensAfter === undefined ? {} : { tokensAfter: this.tokensAfter }),
    };
  }

  /** Asks the agent to stop; ends its process when it does not. */
  cancel(): void {
    this.cancelling.abort();
  }

  /**
   * Gives text to the agent for the turn that runs, and shows it there. False when the agent did not take it.
   * What the agent says meanwhile is held back for a moment, because it can answer the text before it answers us.
   */
  async steer(text: string): Promise<boolean> {
    const live = this.live;
    if (!live?.connection.capabilities.steering || !this.prompting || this.cancelled) return false;
    if (this.input.kind === 'compaction') return false;
    this.held ??= [];
    this.holders += 1;
    const tooLong = setTimeout(() => this.releaseHeld(), MAX_HOLD_MS);
    try {
      const taken = await this.askToSteer(live, text);
      if (!taken || this.over.signal.aborted) return false;
      this.entries.interjected(text);
      this.rawUpdates.push({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text } });
      return true;
    } finally {
      clearTimeout(tooLong);
      this.holders -= 1;
      if (this.holders === 0) this.releaseHeld();
      this.flush();
    }
  }

  private async askToSteer(live: LiveSession, text: string): Promise<boolean> {
    try {
      const answer = await live.connection.request(
        '_session/steering',
        {
          sessionId: live.agentSessionId,
          prompt: [{ type: 'text', text }],
          _meta: { steering: { idleBehavior: 'promptRequired' } },
        },
        this.parts.timing.steeringMs,
      );
      return SteeringAnswer.safeParse(answer).success;
    } catch (error) {
      this.parts.log.info('an agent did not take an interjection', {
        sessionId: this.sessionId,
        error: String(error),
      });
      return false;
    }
  }

  private releaseHeld(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const { update, raw } of held) this.update(update, raw);
  }

  update(update: AgentUpdate, raw: unknown): void {
    if (this.held) {
      this.held.push({ update, raw });
      if (this.held.length > MAX_HELD) this.releaseHeld();
      return;
    }
    if (update.type === 'usage') this.tokensAfter = update.used;
    this.entries.apply(update, raw);
    const forwarded = z.record(z.string(), z.unknown()).safeParse(raw);
    // Titles are announced by the sessions, which know whether the agent's counts.
    if (forwarded.success && update.type !== 'info' && update.type !== 'subagent') {
      const { data } = forwarded;
      const told = this.compactionNews ? this.compactionNews.said(update, data) : data;
      if (told) this.rawUpdates.push(told);
    }
    if (update.type === 'tool' && this.live) this.terminals.heard(this.live, update.patch);
    if (
      this.entries.pendingCharacters > MAX_PENDING_CHARACTERS ||
      this.rawUpdates.length > MAX_PENDING_UPDATES
    )
      this.flush();
    else this.flushSoon();
  }

  permission(params: PermissionParams, agentSignal: AbortSignal): Promise<PermissionResult> {
    return this.questions.permission(params, agentSignal);
  }

  elicitation(id: string, params: ElicitationParams, agentSignal: AbortSignal): Promise<ElicitationAnswer> {
    return this.questions.elicitation(id, params, agentSignal);
  }

  /** Whether the run is over and the store has not taken that in. */
  get isUnended(): boolean {
    return this.unended;
  }

  private async execute(): Promise<RunOutcome> {
    let outcome: RunOutcome;
    let usage: Usage | undefined;
    try {
      const answer = await this.prompt();
      usage = answer.usage;
      const cancelled =
        answer.stopReason === 'cancelled' || (this.cancelled && this.input.kind === 'compaction');
      outcome = { status: cancelled ? 'cancelled' : 'completed', stopReason: answer.stopReason };
    } catch (error) {
      outcome = this.cancelled
        ? { status: 'cancelled', stopReason: 'cancelled' }
        : { status: 'failed', error: toDomainError(error) };
    }
    if (this.writeError !== undefined) outcome = { status: 'failed', error: toDomainError(this.writeError) };
    try {
      this.finish(outcome, usage);
    } catch (error) {
      this.parts.log.error('the end of a run could not be written', error);
      this.unended = true;
      outcome = { status: 'failed', error: toDomainError(error) };
    }
    return outcome;
  }

  private async prompt(): Promise<TurnEnd> {
    const opening = this.parts.live.open(this.input.session, this.input.spec, this.turnId);
    const opened = await unlessAborted(opening, this.cancelling.signal, ({ release }) => release());
    const { live } = opened;
    if (this.cancelled) {
      opened.release();
      throw new DomainError('cancelled', 'The run was cancelled.');
    }
    this.live = live;
    live.sink = this;
    live.workspace = this.input.session;
    this.tokensBefore = live.usedTokens;
    const onCancel = () => void this.askToStop(live);
    try {
      const handover = live.handover === undefined ? [] : [{ type: 'text', text: live.handover }];
      this.tellHandover(live);
      this.cancelling.signal.addEventListener('abort', onCancel, { once: true });
      this.prompting = true;
      const answer = await live.connection.request('session/prompt', {
        sessionId: live.agentSessionId,
        prompt: [...handover, ...fitBlocks(this.input.blocks, live.connection.capabilities.prompt)],
      });
      live.handover = undefined;
      return readTurnEnd(answer, this.input.spec.title);
    } finally {
      this.prompting = false;
      this.cancelling.signal.removeEventListener('abort', onCancel);
      if (live.sink === this) live.sink = undefined;
      opened.release();
    }
  }

  /** Says in the turn that the agent was handed the conversation, the first time that it is prompted with it. */
  private tellHandover(live: LiveSession): void {
    const notice = live.handoverNotice;
    if (!notice) return;
    live.handoverNotice = undefined;
    this.entries.notice(notice.severity, notice.text);
    this.flush();
  }

  /** Cancels in the agent; after the grace period its process is ended, which ends the prompt. */
  private async askToStop(live: LiveSession): Promise<void> {
    void live.connection.notify('session/cancel', { sessionId: live.agentSessionId });
    const grace = new Promise<'late'>((resolve) => {
      setTimeout(() => resolve('late'), this.parts.timing.cancelMs).unref();
    });
    if ((await Promise.race([this.ended, grace])) !== 'late') return;
    const { title } = this.input.spec;
    this.parts.log.warn('an agent did not stop a cancelled turn; it is ended', { agent: this.input.spec.id });
    await live.connection.close(`${title} was ended because it did not stop a cancelled turn of a session.`);
  }

  private finish(outcome: RunOutcome, usage: Usage | undefined): void {
    const endedAt = Date.now();
    const { entries, sessionId, turnId } = this;
    const { store, sessions } = this.parts;
    this.writeError = undefined;
    this.releaseHeld();
    this.over.abort();
    this.terminals.finish();
    entries.finish(outcome.status);
    entries.compacted(outcome.status, {
      ...this.tokens,
      ...(outcome.error ? { error: outcome.error.message } : {}),
    });
    if (outcome.status === 'failed' && outcome.error && this.input.kind !== 'compaction')
      entries.notice('error', outcome.error.message);
    if (this.compactionNews)
      this.rawUpdates.push(
        this.compactionNews.ended(outcome.status, entries.summary, outcome.error?.message),
      );
    this.flush();
    sessions.writer.endTurn(sessionId, turnId, {
      status: outcome.status,
      ...(outcome.stopReason ? { stopReason: outcome.stopReason } : {}),
      ...(usage ? { usage } : {}),
    });
    store.endRun(this.id, {
      status: outcome.status,
      endedAt,
      ...(outcome.stopReason ? { stopReason: outcome.stopReason } : {}),
      ...(outcome.error ? { error: outcome.error.message } : {}),
    });
    if (usage)
      store.addUsage({
        sessionId,
        messageId: this.id,
        agent: this.input.spec.id,
        model: this.live?.model,
        at: endedAt,
        usage,
        elapsedMs: endedAt - this.startedAt,
      });
    const failed = outcome.status === 'failed' && this.input.kind !== 'compaction';
    sessions.update(sessionId, { state: failed ? 'failed' : 'idle' });
  }

  private flushSoon(): void {
    if (this.flushTimer !== undefined) return;
    // A long message is written as a whole each time, so it is written less often.
    const delay = this.parts.timing.flushMs + Math.min(950, this.entries.growingCharacters / 256);
    this.flushTimer = setTimeout(() => this.flush(), delay);
  }

  private writeLate(entry: EntryDraft): void {
    try {
      this.parts.sessions.writer.write(this.sessionId, this.turnId, [entry]);
    } catch (error) {
      this.parts.log.warn('the last output of a command could not be written', error);
    }
  }

  /** Writes what changed, then tells those who listen. A failure to write fails the run. */
  private flush(): void {
    clearTimeout(this.flushTimer);
    this.flushTimer = undefined;
    const raws = this.rawUpdates.splice(0);
    if (this.writeError !== undefined) return;
    try {
      const drafts = this.entries.take();
      if (drafts.length > 0) this.parts.sessions.writer.write(this.sessionId, this.turnId, drafts);
    } catch (error) {
      this.parts.log.error('entries of a run could not be written', error);
      this.writeError = error;
      this.cancel();
      return;
    }
    for (const raw of raws) this.terminals.forward(raw);
  }
}

function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  return new DomainError('agent_failed', error instanceof Error ? error.message : String(error));
}
