import { NO_ABILITIES } from '../../src/service/surfaces/abilities.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { PREFIX_FORK_SCHEMA, TRANSCRIPT_PAGE_SCHEMA } from '../../src/protocol/aster.js';
import { ClientRegistry, type AttachedClient } from '../../src/service/clients.js';
import { compose } from '../../src/service/compose.js';
import type { Log } from '../../src/service/log.js';
import { everything } from '../support/service.js';
import type { Facts } from './corpus.js';
import { timed } from './stats.js';

/** Times of the rules themselves in this process, without socket and framing, in ms. */
export interface RuleFigures {
  readonly list: readonly number[];
  readonly search: readonly number[];
  readonly pages: readonly number[];
  readonly fork: number;
  readonly forkedEntries: number;
  readonly delete: number;
  readonly undo: number;
}

const log: Log = {
  error: (message, details) => console.error(message, details),
  warn: (message, details) => console.error(message, details),
  info: () => undefined,
  debug: () => undefined,
};

const client: AttachedClient = {
  id: 'bench',
  surface: 'editor',
  options: everything,
  connected: true,
  notify: () => undefined,
  sessionUpdate: () => undefined,
  abilities: NO_ABILITIES,
  ask: () => Promise.reject(new Error('nobody is here')),
  configure: () => undefined,
  end: () => undefined,
};

/** Works on a store whose index is complete. The huge session is forked, then deleted and brought back. */
export async function ruleFigures(
  storeDir: string,
  env: NodeJS.ProcessEnv,
  { huge }: Facts,
  samples: number,
): Promise<RuleFigures> {
  const clients = new ClientRegistry();
  clients.attach(client);
  const composition = await compose({ storeDir, version: '0.0.0', env, clients, log });
  const { sessions } = composition;
  const { signal } = new AbortController();
  let operations = 0;
  const operationId = () => `bench-${String((operations += 1))}`;
  const { sessionId, cwd } = huge;
  const page = (more: object) =>
    sessions.page(
      client,
      { schema: TRANSCRIPT_PAGE_SCHEMA, operationId: operationId(), sessionId, cwd, limit: 50, ...more },
      signal,
    );
  try {
    composition.start();
    while (!(await sessions.status(client)).listReady) await sleep(50);
    const list: number[] = [];
    const search: number[] = [];
    const pages: number[] = [];
    let cursor: string | undefined;
    for (let n = 0; n < samples; n += 1) {
      const listed = await timed(() =>
        sessions.list(client, { limit: 50, ...(cursor === undefined ? {} : { cursor }) }, signal),
      );
      list.push(listed.ms);
      cursor = listed.value.nextCursor;
      search.push((await timed(() => sessions.list(client, { limit: 50, query: 'invoices 7' }, signal))).ms);
      const ordinal = Math.floor(((n * 7919) % samples) * ((huge.entries - 50) / samples));
      pages.push((await timed(() => page({ anchor: { ordinal }, direction: 'newer' }))).ms);
    }

    const info = await sessions.info(client, { sessionId }, signal);
    const { turns } = await sessions.turns(client, { sessionId, from: -20, limit: 20 }, signal);
    const boundary = turns.findLast(({ boundaryEntryId }) => boundaryEntryId !== undefined)?.boundaryEntryId;
    if (boundary === undefined) throw new Error('the huge session has no completed turn at its end');
    const fork = await timed(() =>
      sessions.fork(
        client,
        {
          schema: PREFIX_FORK_SCHEMA,
          sessionId,
          operationId: operationId(),
          request: {
            boundary_entry_id: boundary,
            expected_cut: info.cut,
            target_session_id: `bench-fork-${String(Date.now())}`,
            expected_workspace: { cwd },
          },
        },
        signal,
      ),
    );
    const deletion = await timed(() => sessions.delete(client, { sessionId, cwd }, signal));
    const undo = await timed(() => sessions.undoDelete(client, { sessionId }, signal));
    return {
      list,
      search,
      pages,
      fork: fork.ms,
      forkedEntries: fork.value.entryCount,
      delete: deletion.ms,
      undo: undo.ms,
    };
  } finally {
    await composition.close();
  }
}
