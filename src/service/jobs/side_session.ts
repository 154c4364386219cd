import { RequestError } from '@agentclientprotocol/sdk';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { PermissionParams, PermissionResult } from '../../protocol/acp.js';
import { DomainError } from '../../protocol/errors.js';
import type { AgentConnection, AgentSessionListener } from '../agents/agent_connection.js';
import type { AgentPool } from '../agents/agent_pool.js';
import type { AgentSpec } from '../agents/agent_process.js';
import { textOf } from '../agents/content.js';
import { parseUpdate } from '../agents/updates.js';
import type { Log } from '../log.js';
import { unlessAborted } from '../abort.js';

export interface SideSessionParts {
  readonly agents: AgentPool;
  readonly log: Log;
  /** The agent's session is nobody's to see. Durable when it returns. */
  hide(agent: string, agentSession: string): void;
}

/** For each request to the agent besides the prompt, in ms. */
const REQUEST_MS = 30_000;
/** An agent that was told to stop gets this long before its session is closed under it, in ms. */
const CANCEL_MS = 3000;
/** More than a small job can need. In characters. */
const MAX_TEXT = 100_000;

const SessionAnswer = z.looseObject({ sessionId: z.string().min(1) });

/** Asks an agent something in a session of its own that is closed afterwards and never shown. */
export class SideSessions {
  constructor(private readonly parts: SideSessionParts) {}

  /**
   * The agent's answer to one prompt. It may use none of this side's files, terminals and permissions. Throws
   * `agent_unavailable`, `agent_failed`, and `cancelled` when `signal` aborts.
   */
  async ask(spec: AgentSpec, cwd: string, prompt: string, signal: AbortSignal): Promise<string> {
    const leasing = this.parts.agents.lease(spec);
    const { connection, release } = await unlessAborted(leasing, signal, (late) => late.release());
    try {
      const answer = await connection.request('session/new', { cwd, mcpServers: [] }, REQUEST_MS);
      const begun = SessionAnswer.safeParse(answer);
      if (!begun.success)
        throw new DomainError('agent_failed', `${spec.title} answered session/new without a session.`);
      const { sessionId } = begun.data;
      this.parts.hide(spec.id, sessionId);
      return await this.prompt(connection, sessionId, prompt, signal);
    } finally {
      release();
    }
  }

  private async prompt(
    connection: AgentConnection,
    sessionId: string,
    prompt: string,
    signal: AbortSignal,
  ): Promise<string> {
    const listener = new Collector();
    connection.attach(sessionId, listener);
    const answering = connection.request('session/prompt', {
      sessionId,
      prompt: [{ type: 'text', text: prompt }],
    });
    try {
      await unlessAborted(answering, signal, () => undefined);
      return listener.text;
    } catch (error) {
      if (signal.aborted) {
        await connection.notify('session/cancel', { sessionId });
        await Promise.race([answering.catch(() => undefined), sleep(CANCEL_MS)]);
      }
      throw error;
    } finally {
      connection.detach(sessionId, listener);
      await this.leave(connection, sessionId);
    }
  }

  /** Closes the session and has the agent forget it, as far as it can. */
  private async leave(connection: AgentConnection, sessionId: string): Promise<void> {
    const { close, delete: canDelete } = connection.capabilities;
    if (!connection.alive) return;
    try {
      if (close) await connection.request('session/close', { sessionId }, REQUEST_MS);
      if (canDelete) await connection.request('session/delete', { sessionId }, REQUEST_MS);
    } catch (error) {
      // It stays in the agent, hidden here.
      this.parts.log.info('an agent kept a session of a small job', {
        agent: connection.spec.id,
        error: String(error),
      });
    }
  }
}

/** Collects what the agent says, and refuses whatever it wants. */
class Collector implements AgentSessionListener {
  text = '';

  update(raw: unknown): void {
    const update = parseUpdate(raw);
    if (update.type !== 'message' || update.role !== 'assistant' || this.text.length > MAX_TEXT) return;
    this.text += textOf([update.content]);
  }

  permission({ options }: PermissionParams): Promise<PermissionResult> {
    const refusal = options.find(({ kind }) => kind === 'reject_once' || kind === 'reject_always');
    return Promise.resolve({
      outcome: refusal ? { outcome: 'selected', optionId: refusal.optionId } : { outcome: 'cancelled' },
    });
  }

  request(): Promise<unknown> {
    return Promise.reject(RequestError.invalidRequest(undefined, 'This session may not use the client.'));
  }

  elicitationComplete(): void {
    // Nothing was asked.
  }

  claudeMessage(): void {
    // Only the answer counts.
  }
}
