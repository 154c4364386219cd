import * as z from 'zod';
import { DomainError } from '../../protocol/errors.js';
import type { AgentConnection } from '../agents/agent_connection.js';

/** A list that goes on beyond one of these is cut off. */
const MAX_PAGES = 200;
const MAX_ROWS = 20_000;
const MAX_MS = 60_000;

const Page = z.looseObject({
  sessions: z.array(z.unknown()),
  nextCursor: z.string().nullish().catch(undefined),
});

/** The pages of an agent's `session/list`, with an end whatever the agent does. Cursors are never kept. */
export class AgentPages {
  private reason: string | undefined;

  constructor(private readonly connection: AgentConnection) {}

  /** Why not all was read, a sentence; undefined when all was. */
  get cutOff(): string | undefined {
    return this.reason;
  }

  /**
   * The rows as they came, page by page. Throws `agent_failed` when there is not even a first page; an error behind it
   * cuts the list off.
   */
  async *read(): AsyncGenerator<unknown[]> {
    const { title } = this.connection.spec;
    const end = Date.now() + MAX_MS;
    const cursors = new Set<string>();
    let rows = 0;
    let cursor: string | undefined;
    const cut = (why: string) => {
      this.reason = `${title} ${why}, so its list was cut off after ${String(rows)} sessions.`;
    };
    for (let pages = 1; ; pages += 1) {
      let page: z.infer<typeof Page>;
      try {
        page = await this.page(cursor, Math.max(1000, end - Date.now()));
      } catch (error) {
        if (pages === 1 || !(error instanceof DomainError)) throw error;
        cut(`could not list them all (${error.message})`);
        return;
      }
      const { sessions, nextCursor } = page;
      const taken = sessions.slice(0, MAX_ROWS - rows);
      rows += taken.length;
      yield taken;
      if (taken.length < sessions.length) {
        cut('lists more sessions than are taken in');
        return;
      }
      if (nextCursor === undefined || nextCursor === null || nextCursor === '') return;
      if (cursors.has(nextCursor)) cut('gave the same cursor twice');
      else if (pages >= MAX_PAGES || rows >= MAX_ROWS || Date.now() >= end) cut('does not end its list');
      if (this.reason !== undefined) return;
      cursors.add(nextCursor);
      cursor = nextCursor;
    }
  }

  private async page(cursor: string | undefined, timeoutMs: number): Promise<z.infer<typeof Page>> {
    const params = cursor === undefined ? {} : { cursor };
    const page = Page.safeParse(await this.connection.request('session/list', params, timeoutMs));
    if (page.success) return page.data;
    const { title } = this.connection.spec;
    throw new DomainError('agent_failed', `${title} answered session/list with something else than a list.`);
  }
}
