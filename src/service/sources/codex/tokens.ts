import * as z from 'zod';
import type { Usage } from '../../../protocol/entry.js';
import type { UsageRecord } from '../source.js';
import type { Payload, TokenUsage } from './schemas.js';

/** A fork begins with a copy of its source, written in one go: what is younger than this is such a copy. */
const REPLAY_MS = 1000;

const Totals = z.object({ input: z.number(), cached: z.number(), output: z.number(), reasoning: z.number() });
type Totals = z.infer<typeof Totals>;

export const TokenState = z.object({
  totals: Totals.exactOptional(),
  startedAt: z.number().exactOptional(),
  /** More than one meta data record: the file begins with the history of another session. */
  forked: z.boolean(),
});

/**
 * Usage of each response, once. Counts come as totals of the session together with those of the last response; they
 * are repeated whenever rate limits are reported, and their input includes what came from the cache.
 */
export class TokenCounter {
  readonly #sessionId: string;
  #totals: Totals | undefined;
  #startedAt: number | undefined;
  #forked: boolean;

  constructor(sessionId: string, state?: z.infer<typeof TokenState>) {
    this.#sessionId = sessionId;
    this.#totals = state?.totals;
    this.#startedAt = state?.startedAt;
    this.#forked = state?.forked ?? false;
  }

  /** Takes note of a meta data record. */
  meta(at: number): void {
    if (this.#startedAt === undefined) this.#startedAt = at;
    else this.#forked = true;
  }

  /** What the response used; undefined when the record tells nothing new. */
  count({ info }: Payload, place: { readonly offset: number; readonly at: number }): UsageRecord | undefined {
    const before = this.#totals;
    const totals = info?.total_token_usage && totalsOf(info.total_token_usage);
    const last = info?.last_token_usage && totalsOf(info.last_token_usage);
    if (!totals && !last) return undefined;
    if (totals) {
      if (before && same(before, totals)) return undefined;
      this.#totals = totals;
    }
    if (this.#forked && place.at <= (this.#startedAt ?? 0) + REPLAY_MS) return undefined;
    const used = last ?? (totals && difference(totals, before));
    if (!used || used.input + used.output === 0) return undefined;
    const messageId = `${this.#sessionId}:o${place.offset.toString(36)}`;
    return { messageId, at: place.at, usage: usageOf(used) };
  }

  state(): z.infer<typeof TokenState> {
    return {
      ...(this.#totals && { totals: this.#totals }),
      ...(this.#startedAt !== undefined && { startedAt: this.#startedAt }),
      forked: this.#forked,
    };
  }
}

function totalsOf(usage: NonNullable<TokenUsage>): Totals {
  return {
    input: usage.input_tokens ?? 0,
    cached: usage.cached_input_tokens ?? 0,
    output: usage.output_tokens ?? 0,
    reasoning: usage.reasoning_output_tokens ?? 0,
  };
}

function same(a: Totals, b: Totals): boolean {
  return a.input === b.input && a.cached === b.cached && a.output === b.output && a.reasoning === b.reasoning;
}

/** Totals that shrink have begun anew. */
function difference(now: Totals, before: Totals | undefined): Totals {
  if (!before || now.input < before.input || now.output < before.output) return now;
  return {
    input: now.input - before.input,
    cached: Math.max(0, now.cached - before.cached),
    output: now.output - before.output,
    reasoning: Math.max(0, now.reasoning - before.reasoning),
  };
}

function usageOf(totals: Totals): Usage {
  return {
    input: Math.max(0, totals.input - totals.cached),
    cacheRead: totals.cached,
    output: totals.output,
    reasoning: totals.reasoning,
  };
}
