import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { TRANSCRIPT_PAGE_SCHEMA } from '../../src/protocol/aster.js';
import { EditorPeer } from '../support/editor_peer.js';
import { isAlive, ServicePlace, until } from '../support/service.js';
import type { Facts } from './corpus.js';
import { memoryOf } from './process.js';
import { median, timed } from './stats.js';

const LIST_EVERY_MS = 100;
/** Longer than the service keeps idle workers. */
const SETTLE_MS = 30_000;
const INDEX_LIMIT_MS = 30 * 60_000;

/** What the real service did, all times in ms as its client saw them, memory in bytes. */
export interface ServiceFigures {
  /** From the start of the process until the first page of the list is here. */
  readonly firstListEmpty: number;
  readonly firstListWarm: number;
  /** The same with a service that runs: attach, initialize, list. */
  readonly attachAndList: number;
  /** From an empty store until the last page of the huge session is here. */
  readonly lastPageCold: number;
  /** From the start of the process until all is in the index. */
  readonly indexing: number;
  readonly listWhileIndexing: readonly number[];
  readonly listWhenIdle: readonly number[];
  readonly pages: readonly number[];
  readonly memory: {
    readonly start: number;
    readonly indexed: number;
    readonly settled: number;
    readonly peak: number;
  };
}

/** A service of its own store that sees the corpus. */
export function benchPlace(home: string): ServicePlace {
  const place = new ServicePlace();
  place.env = {
    ...place.env,
    SESSION_DECK_CHECK_RESULTS: '0',
    HOME: home,
    CLAUDE_CONFIG_DIR: `${home}/.claude`,
    CODEX_HOME: `${home}/.codex`,
    SESSION_DECK_IDLE_MS: '600000',
  };
  return place;
}

const list = (peer: EditorPeer) => peer.request('aster/session/list', { limit: 50 });

function pageAt(peer: EditorPeer, { sessionId, cwd }: Facts['huge'], ordinal?: number) {
  return peer.request('aster/session/transcript/page/v1', {
    schema: TRANSCRIPT_PAGE_SCHEMA,
    operationId: `page-${String(performance.now())}`,
    sessionId,
    cwd,
    limit: 50,
    ...(ordinal === undefined ? {} : { anchor: { ordinal }, direction: 'newer' as const }),
  });
}

async function firstList(place: ServicePlace): Promise<{ ms: number; peer: EditorPeer }> {
  const { ms, value } = await timed(async () => {
    const peer = await EditorPeer.open(place);
    const { sessions } = await list(peer);
    if (sessions.length !== 50) throw new Error(`the first page has ${String(sessions.length)} rows`);
    return peer;
  });
  return { ms, peer: value };
}

async function end(peer: EditorPeer): Promise<void> {
  const { pid } = peer;
  peer.close();
  process.kill(pid, 'SIGTERM');
  await until(() => !isAlive(pid), 'the service ends', 30_000);
}

/** Asks for the last page until it is that of the whole session. */
async function newestPage(peer: EditorPeer, huge: Facts['huge']): Promise<void> {
  for (let total = 0; total < huge.entries;) {
    total = (await pageAt(peer, huge)).total;
    if (total < huge.entries) await sleep(LIST_EVERY_MS);
  }
}

/** A service on an empty store: the list, then the end of the huge session. */
async function coldFigures(home: string, huge: Facts['huge'], runs: number) {
  const lists: number[] = [];
  const pages: number[] = [];
  for (let n = 0; n < runs; n += 1) {
    const place = benchPlace(home);
    try {
      const { ms, peer } = await firstList(place);
      lists.push(ms);
      const page = await timed(() => newestPage(peer, huge));
      pages.push(page.ms);
      peer.close();
    } finally {
      await place.dispose();
    }
  }
  return { firstListEmpty: median(lists), lastPageCold: median(pages) };
}

async function whileIndexing(peer: EditorPeer): Promise<number[]> {
  const samples: number[] = [];
  const limit = performance.now() + INDEX_LIMIT_MS;
  for (;;) {
    samples.push((await timed(() => list(peer))).ms);
    const { listReady, indexing } = await peer.request('deck/status', {});
    if (listReady && !indexing.active) return samples;
    if (performance.now() > limit) throw new Error('the index did not get ready');
    await sleep(LIST_EVERY_MS);
  }
}

/** Drives the real service over its socket. `place` is left with a full index and without a service. */
export async function serviceFigures(
  place: ServicePlace,
  facts: Facts & { home: string },
  options: { runs: number; samples: number },
): Promise<ServiceFigures> {
  const { huge, home } = facts;
  const cold = await coldFigures(home, huge, options.runs);

  const start = performance.now();
  const first = await firstList(place);
  const atStart = memoryOf(first.peer.pid).now;
  const listWhileIndexing = await whileIndexing(first.peer);
  const indexing = performance.now() - start;
  const indexed = memoryOf(first.peer.pid).now;
  await sleep(SETTLE_MS);
  const { now: settled, peak } = memoryOf(first.peer.pid);

  const listWhenIdle: number[] = [];
  const pages: number[] = [];
  for (let n = 0; n < options.samples; n += 1) {
    listWhenIdle.push((await timed(() => list(first.peer))).ms);
    const ordinal = Math.floor(((n * 7919) % options.samples) * ((huge.entries - 50) / options.samples));
    pages.push((await timed(() => pageAt(first.peer, huge, ordinal))).ms);
  }
  const attached: number[] = [];
  for (let n = 0; n < options.runs; n += 1) {
    const { ms, peer } = await firstList(place);
    attached.push(ms);
    peer.close();
  }
  await end(first.peer);

  const warm: number[] = [];
  for (let n = 0; n < options.runs; n += 1) {
    const { ms, peer } = await firstList(place);
    warm.push(ms);
    await end(peer);
  }
  return {
    ...cold,
    firstListWarm: median(warm),
    attachAndList: median(attached),
    indexing,
    listWhileIndexing,
    listWhenIdle,
    pages,
    memory: { start: atStart, indexed, settled, peak },
  };
}
