import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../protocol/errors.js';
import type { AgentConnection } from '../agents/agent_connection.js';
import type { AgentPool } from '../agents/agent_pool.js';
import { textOf } from '../agents/content.js';
import { isSubagentTool, type Subagent } from '../agents/subagent_update.js';
import { parseUpdate, type AgentUpdate, type ToolPatch } from '../agents/updates.js';
import type { LiveSession } from './live_session.js';
import { TAIL_BYTES } from './plain_output.js';
import type { RunningTask } from './running_task.js';
import type { Tasks } from './tasks.js';
import type { RunTiming } from './timing.js';

export interface AgentWorkParts {
  readonly tasks: Tasks;
  readonly agents: AgentPool;
  readonly timing: Pick<RunTiming, 'cancelMs'>;
}

/** A tool call that is work of its own, until it has ended. */
interface Call {
  title: string;
  output: string;
  task: RunningTask | undefined;
}

/** A child session that an agent told of. */
interface Child {
  title: string;
  canCancel: boolean;
  output: string;
  task: RunningTask | undefined;
}

interface SessionWork {
  readonly live: LiveSession;
  readonly subagents: Map<string, Call>;
  readonly commands: Map<string, Call>;
  readonly children: Map<string, Child>;
}

const ENDED_WITHOUT_WORD = 'The agent ended its turn without a word about this.';
/** An agent may tell that a call is over a little before it tells that its command is, in ms. */
const COMMAND_MS = 200;
/** Between two looks whether a sub-agent that was cancelled has ended, in ms. */
const LOOK_MS = 25;

/**
 * Work that agents do on their own and that can outlive a turn: sub-agents, and commands that they run themselves. It is
 * shown as background tasks.
 */
export class AgentWork {
  private readonly sessions = new Map<string, SessionWork>();

  constructor(private readonly parts: AgentWorkParts) {}

  /** The agent told something about a session. */
  heard(live: LiveSession, update: AgentUpdate): void {
    if (update.type === 'tool') this.tool(live, update.patch);
    else if (update.type === 'subagent') this.child(live, update.child);
  }

  /** A turn has ended: sub-agents that are nothing but one of its calls have ended with it. */
  turnEnded(sessionId: string, status: 'completed' | 'failed' | 'cancelled'): void {
    const work = this.sessions.get(sessionId);
    if (!work) return;
    for (const { task } of work.subagents.values())
      task?.end(status === 'cancelled' ? 'cancelled' : 'failed', ENDED_WITHOUT_WORD);
    work.subagents.clear();
  }

  private workOf(live: LiveSession): SessionWork {
    const known = this.sessions.get(live.sessionId);
    if (known?.live === live) return known;
    if (known) this.forget(known, 'The session was opened in another process of its agent.');
    const work: SessionWork = { live, subagents: new Map(), commands: new Map(), children: new Map() };
    this.sessions.set(live.sessionId, work);
    void live.connection.closed.then(() =>
      this.forget(work, `${live.connection.spec.title} ended while this was running.`),
    );
    return work;
  }

  private forget(work: SessionWork, reason: string): void {
    if (this.sessions.get(work.live.sessionId) === work) this.sessions.delete(work.live.sessionId);
    for (const known of [work.subagents, work.commands, work.children])
      for (const { task } of known.values()) task?.end('failed', reason);
  }

  private tool(live: LiveSession, patch: ToolPatch): void {
    const isSubagent = patch.name !== undefined && isSubagentTool(patch.name);
    const known = this.sessions.get(live.sessionId);
    if (!isSubagent && !patch.command && known?.live !== live) return;
    const work = this.workOf(live);
    if (patch.command) this.command(work, patch);
    else if (work.commands.has(patch.callId)) this.command(work, patch);
    else if (isSubagent || work.subagents.has(patch.callId)) this.subagentCall(work, patch);
  }

  private subagentCall(work: SessionWork, patch: ToolPatch): void {
    const { callId, title, status, output } = patch;
    const call = work.subagents.get(callId) ?? { title: title ?? 'Sub-agent', output: '', task: undefined };
    const isNew = !work.subagents.has(callId);
    const words = output ? textOf(output) : '';
    const isOver = status === 'completed' || status === 'failed';
    // An agent that tells of child sessions tells more about them than their calls do.
    if (isNew && (isOver || work.children.size > 0)) return;
    if (isNew) {
      call.task = this.begin(work.live, 'subagent', call.title, [callId], () => this.cannotStop(work.live));
      work.subagents.set(callId, call);
    } else if (title !== undefined && title !== call.title) {
      call.title = title;
      call.task?.rename(title);
    }
    if (words !== '') {
      call.output = words;
      call.task?.output(() => call.output);
    }
    if (!isOver) return;
    call.task?.end(status, words === '' ? undefined : words);
    work.subagents.delete(callId);
  }

  /** A command that goes on when its call is over is a background task. */
  private command(work: SessionWork, { callId, title, status, command }: ToolPatch): void {
    const call = work.commands.get(callId) ?? { title: title ?? 'Command', output: '', task: undefined };
    work.commands.set(callId, call);
    call.title = title ?? call.title;
    if (command?.output !== undefined) {
      call.output = (call.output + command.output).slice(-TAIL_BYTES);
      call.task?.output(() => call.output);
    }
    if (command?.exit) {
      const { exitCode } = command.exit;
      call.task?.end(
        exitCode === 0 || exitCode === null ? 'completed' : 'failed',
        exitCode === null ? undefined : `Exit code ${String(exitCode)}.`,
      );
      work.commands.delete(callId);
    } else if (status === 'failed') {
      work.commands.delete(callId);
    } else if (status === 'completed' && !call.task) {
      setTimeout(() => this.showCommand(work, callId, call), COMMAND_MS).unref();
    }
  }

  private showCommand(work: SessionWork, callId: string, call: Call): void {
    if (call.task || work.commands.get(callId) !== call || !work.live.connection.alive) return;
    call.task = this.begin(work.live, 'command', call.title, [callId], () => this.cannotStop(work.live));
    call.task.output(() => call.output);
  }

  private child(live: LiveSession, told: Subagent): void {
    const work = this.workOf(live);
    const { agentSessionId: id } = told;
    const child = work.children.get(id) ?? this.adopt(work, id);
    if (told.canCancel !== undefined) child.canCancel = told.canCancel;
    if (told.title !== undefined && told.title !== child.title) {
      child.title = told.title;
      child.task?.rename(told.title);
    }
    if (told.isWorking === true && !child.task) {
      child.output = '';
      child.task = this.begin(live, 'subagent', child.title, [id], () => this.cancelChild(live, id, child));
      child.task.output(() => child.output);
    } else if (told.isWorking === false && child.task) {
      child.task.end('completed', child.output === '' ? undefined : child.output);
      child.task = undefined;
    }
  }

  /** From now on the child's messages are heard, and what it asks is asked for its parent. */
  private adopt(work: SessionWork, id: string): Child {
    const child: Child = { title: 'Sub-agent', canCancel: false, output: '', task: undefined };
    const { live } = work;
    // The call that started it is the same work, and says less.
    const [call] = work.subagents.entries();
    if (call) {
      child.title = call[1].title;
      call[1].task?.end('completed', 'It goes on as a session of its own.');
      work.subagents.delete(call[0]);
    }
    work.children.set(id, child);
    live.connection.attach(id, {
      update: (raw) => {
        const update = parseUpdate(raw);
        if (update.type === 'subagent') this.child(live, update.child);
        if (update.type !== 'message' || update.role !== 'assistant') return;
        child.output = (child.output + textOf([update.content])).slice(-TAIL_BYTES);
        child.task?.output(() => child.output);
      },
      permission: (params, signal) => live.permission(params, signal),
      request: (method, params, signal) => live.request(method, params, signal),
      elicitationComplete: () => undefined,
      claudeMessage: () => undefined,
    });
    return child;
  }

  private begin(
    live: LiveSession,
    kind: 'subagent' | 'command',
    title: string,
    names: readonly string[],
    stop: () => Promise<boolean>,
  ): RunningTask {
    const letGo = this.parts.agents.hold(live.connection);
    const task = this.parts.tasks.start({ kind, title, sessionId: live.sessionId, names, stop });
    void task.over.then(letGo);
    return task;
  }

  private async cancelChild(live: LiveSession, id: string, child: Child): Promise<boolean> {
    if (!child.canCancel) return this.cannotStop(live);
    const { task } = child;
    await live.connection.notify('session/cancel', { sessionId: id });
    const end = Date.now() + this.parts.timing.cancelMs;
    while (child.task === task && live.connection.alive && Date.now() < end) await sleep(LOOK_MS);
    return child.task !== task;
  }

  private cannotStop({ sink, connection }: LiveSession): Promise<never> {
    const agent: AgentConnection['spec'] = connection.spec;
    const sentence = sink
      ? `${agent.title} cannot stop this alone. Cancel the turn to stop it.`
      : `${agent.title} offers no way to stop this.`;
    return Promise.reject(new DomainError('not_supported', sentence));
  }
}
