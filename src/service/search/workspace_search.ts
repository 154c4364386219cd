import { MAX_SEARCH_RESULTS, type SearchRoute, type WorkspaceSearchResult } from '../../protocol/aster.js';
import { DomainError } from '../../protocol/errors.js';
import { chunksOf, excerptOf, snippetOf, type Chunk } from './chunks.js';
import type { Embed } from './embeddings.js';
import { defaultFinderLimits, type Finder, type FinderLimits } from './finder.js';
import { fuse } from './fusion.js';
import { byMeaning } from './meaning.js';
import { byNames } from './names.js';
import { Place } from './place.js';
import { findWith } from './programs.js';
import { queryTerms } from './terms.js';
import { byWords, type WordResult } from './words.js';

export interface SearchOptions {
  /** Programs to try for finding files, the wanted one first; when none works the folder is walked. */
  readonly ripgrep: readonly string[];
  /** For the route by meaning; absent: that route is not used. */
  readonly embed?: Embed;
  readonly limits?: Partial<SearchLimits>;
}

export interface SearchLimits extends FinderLimits {
  /** For finding files by words and names, in ms. What was found until then counts. */
  readonly ms: number;
}

export interface Found {
  readonly results: WorkspaceSearchResult['results'];
  /** Routes that failed, and why. */
  readonly failed: WorkspaceSearchResult['failed'];
}

const DEFAULT_MS = 5000;
/** Files by name that are opened, until enough of them are text. */
const MAX_NAMED = 30;
/** Bytes of a file that say what it is about. */
const HEAD_BYTES = 4096;
/** Chunks that are compared by meaning: the best by words, then beginnings of files. */
const MAX_CHUNKS = 200;
const MAX_WORD_CHUNKS = 120;
const CHUNKS_A_FILE = 3;

/**
 * The places of a folder that fit a query, best first, at most eight, one a file. Words, names and, where it can,
 * meaning are ranked each on their own and merged. Throws `not_supported` with the reasons when no route works, and the
 * reason of `signal` when that aborts.
 */
export async function searchWorkspace(
  cwd: string,
  query: string,
  options: SearchOptions,
  signal: AbortSignal,
): Promise<Found> {
  const { ms = DEFAULT_MS, ...finderLimits } = options.limits ?? {};
  const limits = { ...defaultFinderLimits, ...finderLimits };
  const time = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  const routes = new Routes();
  const place = await Place.at(cwd).catch((error: unknown) => {
    throw nothingWorks([{ route: 'words', reason: `The folder cannot be entered: ${messageOf(error)}` }]);
  });
  const search = await findWith(place, options.ripgrep, limits, time);
  const [words = [], names = { paths: [], heads: new Map<string, Chunk>() }] = await Promise.all([
    routes.run('words', () => search((finder) => byWords(place, finder, query, time))),
    routes.run('names', () => search((finder) => named(place, finder, query, time))),
  ]);
  signal.throwIfAborted();
  const { embed } = options;
  const nearest = embed
    ? ((await routes.run('meaning', async () =>
        byMeaning(embed, await toCompare(place, words, names), query, signal),
      )) ?? [])
    : [];
  signal.throwIfAborted();
  if (routes.worked === 0) throw nothingWorks(routes.failed);

  const inWords = new Map(words.map((result) => [result.path, result] as const));
  const inMeaning = new Map(nearest.map((result) => [result.path, result] as const));
  const shown = (path: string) => {
    const word = inWords.get(path);
    if (word) return { line: word.line, snippet: word.snippet };
    const chunk = inMeaning.get(path)?.chunk;
    if (chunk) return excerptOf(chunk, new Map(queryTerms(query).map((term) => [term, 1])));
    return { snippet: snippetOf(names.heads.get(path)?.lines ?? []) };
  };
  const fused = fuse<SearchRoute>([
    { route: 'words', keys: words.map(({ path }) => path) },
    { route: 'names', keys: names.paths.filter((path) => names.heads.has(path)) },
    { route: 'meaning', keys: nearest.map(({ path }) => path) },
  ]);
  return {
    results: fused
      .slice(0, MAX_SEARCH_RESULTS)
      .map(({ key: path, score, routes: by }) => ({ path, ...shown(path), score, routes: [...by] })),
    failed: routes.failed,
  };
}

/** Runs routes, and keeps why one failed. */
class Routes {
  readonly failed: WorkspaceSearchResult['failed'] = [];
  worked = 0;

  async run<T>(route: SearchRoute, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      this.worked += 1;
      return result;
    } catch (error) {
      this.failed.push({ route, reason: messageOf(error) });
      return undefined;
    }
  }
}

interface Named {
  /** All files: those that fit by name first, best first, then the others. */
  readonly paths: readonly string[];
  /** Beginnings of the files that fit and are text. */
  readonly heads: ReadonlyMap<string, Chunk>;
}

async function named(place: Place, finder: Finder, query: string, signal: AbortSignal): Promise<Named> {
  const all = await finder.list(signal);
  const fitting = await byNames(all, query, signal);
  const heads = new Map<string, Chunk>();
  for (const path of fitting.slice(0, MAX_NAMED)) {
    const text = await place.read(path, HEAD_BYTES);
    if (text !== undefined) heads.set(path, headOf(path, text));
  }
  return { paths: [...new Set([...fitting, ...all])], heads };
}

const headOf = (path: string, text: string): Chunk => chunksOf(path, text)[0] ?? { path, line: 1, lines: [] };

/** What is compared by meaning: never all of the folder. */
async function toCompare(place: Place, words: readonly WordResult[], names: Named): Promise<Chunk[]> {
  const chunks = words.flatMap((result) => result.chunks.slice(0, CHUNKS_A_FILE)).slice(0, MAX_WORD_CHUNKS);
  const known = new Set(chunks.map(({ path }) => path));
  for (const path of names.paths) {
    if (chunks.length >= MAX_CHUNKS) break;
    if (known.has(path)) continue;
    const head = names.heads.get(path);
    const text = head ? undefined : await place.read(path, HEAD_BYTES);
    const chunk = head ?? (text === undefined ? undefined : headOf(path, text));
    if (chunk && chunk.lines.length > 0) chunks.push(chunk);
  }
  return chunks;
}

function nothingWorks(failed: WorkspaceSearchResult['failed']): DomainError {
  const reasons = [...new Set(failed.map(({ reason }) => reason))].join(' ');
  return new DomainError('not_supported', `This folder cannot be searched. ${reasons}`, { failed });
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
