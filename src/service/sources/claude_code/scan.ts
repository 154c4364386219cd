import path from 'node:path';
import * as z from 'zod';
import { Fold, FoldState } from '../fold.js';
import { parseLine, type Line } from '../jsonl.js';
import type { Indexer } from '../run_scan.js';
import { bigLine, tornLine } from '../raw.js';
import type { InlineChild, Scan } from '../source.js';
import { Applier, countUsage, entriesIn, PendingCommand } from './apply.js';
import { Chain, ChainState } from './chain.js';
import { factOf, type Fact } from './facts.js';
import { SideChains } from './side_chains.js';
import { ClaudeRecord } from './schemas.js';

const State = z.object({
  fold: FoldState,
  chain: ChainState,
  pending: PendingCommand.exactOptional(),
  off: z.number(),
  /** Records of types that are not known, by type. They are no faults. */
  unknown: z.record(z.string(), z.number()),
});

const KNOWN_TYPES = new Set(
  (
    'user assistant system summary custom-title ai-title attachment progress file-history-snapshot ' +
    'file-history-delta queue-operation pr-link last-prompt tag agent-name agent-color agent-setting mode ' +
    'permission-mode worktree-state attribution-snapshot speculation-accept content-replacement'
  ).split(' '),
);

/**
 * Indexes a Claude Code transcript. From the start the records are collected first, since only the last one tells
 * which branch is the active one; going on, each is applied at once, and `take` says false when a record is on another
 * branch, on the side chain, or has a parent that is too far back.
 */
export class ClaudeIndexer implements Indexer {
  readonly #sessionId: string;
  /** A sub-agent's own file: there all records are on the side chain. */
  readonly #isSubagent: boolean;
  readonly #whole: boolean;
  readonly #applier: Applier;
  readonly #chain: Chain;
  readonly #facts: Fact[] = [];
  readonly #side: SideChains;
  readonly #unknown: Map<string, number>;
  #off: number;

  static make(file: string, state: unknown): ClaudeIndexer | undefined {
    if (state === undefined) return new ClaudeIndexer(file);
    const known = State.safeParse(state);
    return known.success ? new ClaudeIndexer(file, known.data) : undefined;
  }

  private constructor(file: string, state?: z.infer<typeof State>) {
    this.#sessionId = path.basename(file, '.jsonl');
    this.#isSubagent = this.#sessionId.startsWith('agent-');
    this.#whole = state === undefined;
    this.#applier = new Applier(new Fold(state?.fold), state?.pending);
    this.#chain = new Chain(state?.chain);
    this.#side = new SideChains(this.#sessionId);
    this.#unknown = new Map(Object.entries(state?.unknown ?? {}));
    this.#off = state?.off ?? 0;
  }

  take(line: Line): boolean {
    if (line.capped) return this.#accept(rawFact(bigLine(line)));
    for (const segment of parseLine(line)) {
      const parsed = segment.ok ? ClaudeRecord.safeParse(segment.value) : undefined;
      if (!parsed?.success) {
        if (!this.#accept(rawFact(tornLine(line, segment)))) return false;
        continue;
      }
      const record = parsed.data;
      if (!KNOWN_TYPES.has(record.type)) this.#count(record.type);
      const fact = factOf(record, segment.offset, segment.length);
      if (fact.side && !this.#isSubagent) {
        if (!this.#whole) return false;
        this.#side.add(fact, record.cwd);
        countUsage(this.#applier.fold, fact, false);
        continue;
      }
      if (!this.#accept(fact)) return false;
    }
    return true;
  }

  outcome(mtimeMs: number, nowMs: number): Omit<Scan, 'mode' | 'offset'> {
    if (this.#whole) this.#applyKept();
    const { fold, pending } = this.#applier;
    const children: InlineChild[] = this.#side.outcome(mtimeMs, nowMs);
    return {
      ...fold.outcome(mtimeMs, nowMs),
      children,
      totals: fold.totals(this.#off),
      state: {
        fold: fold.state(),
        chain: this.#chain.state(),
        ...(pending && { pending }),
        off: this.#off,
        unknown: Object.fromEntries(this.#unknown),
      },
    };
  }

  #accept(fact: Fact): boolean {
    const place = this.#chain.add(fact);
    if (place === 'duplicate') return true;
    if (this.#whole) {
      this.#facts.push(fact);
      return true;
    }
    if (place === 'again') return false;
    const { act } = fact;
    // A summary names this session only when its leaf is in this file; the window may not tell.
    if (act.do === 'title' && act.leaf !== undefined && !this.#chain.has(act.leaf)) return false;
    if (place === 'off') this.#drop(fact);
    else this.#applier.apply(fact);
    return true;
  }

  #applyKept(): void {
    const kept = this.#chain.settle();
    for (const fact of this.#facts) {
      const { act } = fact;
      if (act.do === 'title' && act.leaf !== undefined && !this.#chain.has(act.leaf)) continue;
      if (kept(fact.uuid)) this.#applier.apply(fact);
      else this.#drop(fact);
    }
    this.#facts.length = 0;
  }

  #drop(fact: Fact): void {
    this.#off += entriesIn(fact);
    countUsage(this.#applier.fold, fact, false);
  }

  #count(type: string): void {
    if (this.#unknown.size < 50 || this.#unknown.has(type)) {
      this.#unknown.set(type, (this.#unknown.get(type) ?? 0) + 1);
    }
  }
}

function rawFact(raw: { offset: number; length: number; id: string; preview: string }): Fact {
  return {
    offset: raw.offset,
    length: raw.length,
    uuid: undefined,
    parent: undefined,
    side: false,
    at: undefined,
    act: { do: 'raw', id: raw.id, preview: raw.preview },
    agentId: undefined,
    headless: false,
  };
}
