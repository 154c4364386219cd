import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { DomainError } from '../../protocol/errors.js';
import type { AgentConnection } from '../agents/agent_connection.js';
import { specKey, type AgentPool } from '../agents/agent_pool.js';
import type { AgentSpec } from '../agents/agent_process.js';
import type { Log } from '../log.js';
import type { AgentLists, ListedSession } from '../sessions/agent_list.js';
import { AgentPages } from './agent_pages.js';

/** Milliseconds. */
export interface DiscoveryTiming {
  /** From the start of an agent until it is asked for its sessions: it was started for something else. */
  readonly afterStartMs: number;
  /** Between two listings of an agent that nobody asked for. */
  readonly everyMs: number;
}

const defaultTiming: DiscoveryTiming = { afterStartMs: 1500, everyMs: 5 * 60_000 };
/** For `session/delete`. */
const DELETE_MS = 30_000;

export interface DiscoveryParts {
  readonly agents: AgentPool;
  readonly lists: AgentLists;
  readonly log: Log;
  readonly timing?: Partial<DiscoveryTiming>;
}

/** What a listing came to. */
export interface Discovered {
  readonly listed: number;
  /** Of these, not known before. */
  readonly added: number;
  /** Why not all could be listed; sentences. */
  readonly warning?: string;
}

const text = z.string().nullish().catch(undefined);
const Row = z.looseObject({
  sessionId: z.string().min(1).max(400),
  cwd: z.string().refine((cwd) => isAbsolute(cwd) && !cwd.includes('\0')),
  title: text,
  updatedAt: text,
  archived: z.boolean().nullish().catch(undefined),
  additionalDirectories: z.array(z.string()).nullish().catch(undefined),
  _meta: z
    .looseObject({ messageCount: z.number().int().min(0).nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
});
const Info = z.looseObject({
  sessionUpdate: z.literal('session_info_update'),
  title: z.string().nullable().optional().catch(undefined),
  updatedAt: text,
});

/** Finds out which sessions agents have: when asked, and in the background when an agent was started anyway. */
export class Discovery {
  private readonly timing: DiscoveryTiming;
  private readonly lastAt = new Map<string, number>();
  private readonly going = new Map<AgentConnection, Promise<Discovered>>();
  private readonly running = new Set<AgentConnection>();

  constructor(private readonly parts: DiscoveryParts) {
    this.timing = { ...defaultTiming, ...parts.timing };
    parts.agents.onStart((connection) => this.started(connection));
    parts.lists.onToDelete = (agent) => {
      for (const connection of this.running)
        if (connection.spec.id === agent) void this.deleteGone(connection);
    };
  }

  /**
   * Starts the agent when it does not run, and takes its whole list in. Throws `agent_unavailable`, `agent_failed`, and
   * `not_supported` when the agent lists nothing.
   */
  async discover(spec: AgentSpec): Promise<Discovered> {
    const { connection, release } = await this.parts.agents.lease(spec);
    try {
      if (!connection.capabilities.list)
        throw new DomainError('not_supported', `${spec.title} cannot list its sessions.`);
      await this.deleteGone(connection);
      return await this.list(connection);
    } finally {
      release();
    }
  }

  private started(connection: AgentConnection): void {
    const agent = connection.spec.id;
    this.running.add(connection);
    void connection.closed.then(() => this.running.delete(connection));
    connection.onElsewhere = (agentSession, update) => {
      const info = Info.safeParse(update);
      if (!info.success) return;
      const { title, updatedAt } = info.data;
      this.parts.lists.renew(agent, agentSession, { title, updatedAt: timeOf(updatedAt) });
    };
    setTimeout(() => void this.inBackground(connection), this.timing.afterStartMs).unref();
  }

  private async inBackground(connection: AgentConnection): Promise<void> {
    const { spec, capabilities } = connection;
    const last = this.lastAt.get(specKey(spec)) ?? -Infinity;
    if (!connection.alive) return;
    try {
      await this.deleteGone(connection);
      if (capabilities.list && Date.now() - last >= this.timing.everyMs) await this.list(connection);
    } catch (error) {
      // An agent that wants a login first, or has gone: what it was started for tells that to the person.
      this.parts.log.info('the sessions of an agent could not be listed', {
        agent: spec.id,
        error: String(error),
      });
    }
  }

  /** One listing of a process at a time; who asks meanwhile gets its outcome. */
  private list(connection: AgentConnection): Promise<Discovered> {
    let going = this.going.get(connection);
    if (!going) {
      this.lastAt.set(specKey(connection.spec), Date.now());
      going = this.listNow(connection).finally(() => this.going.delete(connection));
      this.going.set(connection, going);
    }
    return going;
  }

  private async listNow(connection: AgentConnection): Promise<Discovered> {
    const { lists, log } = this.parts;
    const { spec } = connection;
    const pages = new AgentPages(connection);
    const seen = new Set<string>();
    let added = 0;
    let skipped = 0;
    for await (const rows of pages.read()) {
      const listed = rows.flatMap((row) => toListed(row) ?? []);
      skipped += rows.length - listed.length;
      for (const { agentSession } of listed) seen.add(agentSession);
      added += lists.takeIn(spec.id, listed);
    }
    const warning = [
      ...(pages.cutOff === undefined ? [] : [pages.cutOff]),
      ...(skipped === 0
        ? []
        : [`${String(skipped)} of its sessions are left out: they have no id or no absolute folder.`]),
    ].join(' ');
    if (warning !== '') log.warn('an agent did not list all of its sessions', { agent: spec.id, warning });
    return { listed: seen.size, added, ...(warning === '' ? {} : { warning }) };
  }

  /** Deletes in the agent what a person has deleted for good. What fails is not tried again: it stays hidden here. */
  private async deleteGone(connection: AgentConnection): Promise<void> {
    const { lists, log } = this.parts;
    const agent = connection.spec.id;
    if (!connection.capabilities.delete) return;
    for (const agentSession of lists.toDelete(agent)) {
      try {
        await connection.request('session/delete', { sessionId: agentSession }, DELETE_MS);
        log.info('an agent deleted a session that was deleted here', { agent });
      } catch (error) {
        if (!connection.alive) return;
        log.warn('an agent did not delete a session that was deleted here', { agent, error: String(error) });
      }
      lists.askedToDelete(agent, agentSession);
    }
  }
}

/** Undefined for a row that cannot be a session. */
function toListed(value: unknown): ListedSession | undefined {
  const row = Row.safeParse(value);
  if (!row.success) return undefined;
  const { sessionId, cwd, title, updatedAt, archived, additionalDirectories, _meta } = row.data;
  return {
    agentSession: sessionId,
    cwd,
    title: title ?? undefined,
    updatedAt: timeOf(updatedAt),
    archived: archived ?? undefined,
    directories: additionalDirectories?.filter((path) => isAbsolute(path)),
    messageCount: _meta?.messageCount ?? undefined,
  };
}

function timeOf(iso: string | null | undefined): number | undefined {
  const time = Date.parse(iso ?? '');
  return Number.isNaN(time) ? undefined : time;
}
