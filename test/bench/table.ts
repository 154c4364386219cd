import type { Facts } from './corpus.js';
import type { SizeFigures } from './package_bench.js';
import type { RawReading } from './raw.js';
import type { Line } from './report.js';
import type { RuleFigures } from './rules_bench.js';
import type { ServiceFigures } from './service_bench.js';
import type { SqliteFigures } from './sqlite_bench.js';
import { mb, median, ms, quantile, times } from './stats.js';

export interface Figures {
  readonly corpus: Facts;
  readonly raw: RawReading;
  /** Reading the huge file and parsing its lines, ms. */
  readonly parsed: number;
  readonly service: ServiceFigures;
  readonly rules: RuleFigures;
  readonly sqlite: SqliteFigures | undefined;
  readonly sizes: SizeFigures;
}

const p50p99 = (samples: readonly number[]) =>
  `p50 ${ms(median(samples))}, p99 ${ms(quantile(samples, 0.99))}`;
const within = (value: number, limit: number) => Number.isFinite(value) && value < limit;

/** The lines of the table, the budgets of the design beside what was measured. */
export function tableOf(figures: Figures): Line[] {
  return [
    ...lists(figures),
    ...transcripts(figures),
    ...stored(figures),
    ...indexing(figures),
    ...sizes(figures),
  ];
}

function lists({ raw, service, rules, sqlite }: Figures): Line[] {
  return [
    {
      what: 'first list page from the start of the process, empty store',
      measured: ms(service.firstListEmpty),
      beside: `stat of all files ${ms(raw.stat)}, heads and tails ${ms(raw.headsAndTails)}`,
      budget: '< 2 s',
      met: within(service.firstListEmpty, 2000),
    },
    {
      what: 'first list page from the start of the process, known store',
      measured: ms(service.firstListWarm),
      beside: `${times(service.firstListWarm / raw.stat)} the stat of all files`,
    },
    {
      what: 'attach a window to a running service and list',
      measured: ms(service.attachAndList),
      budget: '< 100 ms',
      met: within(service.attachAndList, 100),
    },
    {
      what: 'list page of 50, in the service',
      measured: p50p99(rules.list),
      budget: 'p50 < 2 ms',
      met: within(median(rules.list), 2),
    },
    { what: 'list page of 50, over the socket', measured: p50p99(service.listWhenIdle) },
    { what: 'list page of 50 with two words to search for, in the service', measured: p50p99(rules.search) },
    ...(sqlite ? [against('the same list as an SQL query, without an index', sqlite.list)] : []),
  ];
}

function transcripts({ corpus, parsed, service, rules, sqlite }: Figures): Line[] {
  return [
    {
      what: `transcript page of 50 anywhere in ${String(corpus.huge.entries)} entries, in the service`,
      measured: p50p99(rules.pages),
      budget: 'p50 < 5 ms',
      met: within(median(rules.pages), 5),
    },
    { what: 'the same page over the socket', measured: p50p99(service.pages) },
    ...(sqlite ? [against('the rows of such a page as an SQL query', sqlite.page)] : []),
    {
      what: 'last page of the huge session, nothing indexed before',
      measured: ms(service.lastPageCold),
      beside: `reading the file and JSON.parse of its lines ${ms(parsed)}: ${times(service.lastPageCold / parsed)}`,
    },
    {
      what: `fork of ${String(rules.forkedEntries)} entries`,
      measured: ms(rules.fork),
    },
    { what: 'delete of the huge session, and undo', measured: `${ms(rules.delete)}, ${ms(rules.undo)}` },
  ];
}

function stored({ sqlite }: Figures): Line[] {
  if (!sqlite)
    return [{ what: 'durable append', measured: 'n/a', beside: 'better-sqlite3 could not be built' }];
  const [ours, theirs] = sqlite.append;
  return [
    {
      ...against('durable append (WAL, FULL)', sqlite.append),
      budget: 'p50 < 2x',
      met: within(median(ours) / median(theirs), 2),
    },
  ];
}

function indexing({ corpus, raw, service }: Figures): Line[] {
  const { listWhileIndexing: waits, memory } = service;
  const seconds = service.indexing / 1000;
  return [
    {
      what: 'index of the whole corpus',
      measured: `${ms(service.indexing)}, ${(corpus.bytes / 1e6 / seconds).toFixed(1)} MB/s, ${String(Math.round(corpus.entries / seconds))} entries/s`,
      beside: `reading all bytes ${ms(raw.all)}`,
    },
    {
      what: 'list page over the socket while indexing',
      measured: `${p50p99(waits)}, max ${ms(Math.max(...waits))}`,
      beside: `${String(waits.length)} requests`,
    },
    {
      what: 'memory of the service (RSS) when all is indexed and idle',
      measured: mb(memory.settled),
      beside: `first list ${mb(memory.start)}, right after indexing ${mb(memory.indexed)}, peak ${mb(memory.peak)}`,
      budget: '< 200 MB',
      met: within(memory.settled, 200e6),
    },
  ];
}

function sizes({ sizes: { vsix, webview } }: Figures): Line[] {
  return [
    {
      what: 'package (vsix)',
      measured: vsix === undefined ? 'not built' : mb(vsix),
      budget: '< 2 MB',
      ...(vsix === undefined ? {} : { met: within(vsix, 2e6) }),
    },
    {
      what: 'bundle of the transcript page',
      measured: webview ? `${mb(webview.bytes)}, ${mb(webview.gzip)} gzipped` : 'not built',
    },
  ];
}

function against(what: string, [ours, theirs]: readonly [readonly number[], readonly number[]]): Line {
  return {
    what,
    measured: p50p99(ours),
    beside: `better-sqlite3 ${p50p99(theirs)}: ${times(median(ours) / median(theirs))} at p50`,
  };
}
