import * as z from 'zod';
import type { Fact } from './facts.js';

/** So many of the newest records can be gone on from; an older parent makes a scan start again. */
const WINDOW = 256;
const WINDOW_MESSAGES = 64;

export const ChainState = z.object({
  /** `[uuid, index of its parent in this list or -1, firm, kept]` */
  nodes: z.array(z.tuple([z.string(), z.number(), z.boolean(), z.boolean()])),
  leaf: z.number(),
  aliases: z.array(z.string()),
  messages: z.array(z.string()),
  talked: z.boolean(),
});
export type ChainState = z.infer<typeof ChainState>;

/**
 * Where a record belongs. `kept`: on the active branch or beside it; `off`: on an abandoned one; `again`: only a look
 * at the whole file tells; `duplicate`: it was there before.
 */
export type Place = 'kept' | 'off' | 'again' | 'duplicate';

/**
 * The tree that `parentUuid` spans. The active branch is the chain of parents of the last firm record. Firm are
 * prompts, the first record of each response, compactions, interrupts; all others (results of parallel calls, further
 * records of a response, notices) are loose: they are kept wherever their parent is, on the chain or beside it.
 * A parent that is not in the file, or only later in it (so there are no cycles), is taken to be the record before.
 */
export class Chain {
  readonly #index = new Map<string, number>();
  readonly #uuids: string[] = [];
  readonly #parents: number[] = [];
  readonly #firm: boolean[] = [];
  readonly #kept: boolean[] = [];
  readonly #messages = new Set<string>();
  readonly #whole: boolean;
  #leaf = -1;
  #aliases: string[] = [];
  #talked = false;

  constructor(state?: ChainState) {
    this.#whole = state === undefined;
    if (!state) return;
    for (const [uuid, parent, firm, kept] of state.nodes) this.#push(uuid, parent, firm, kept);
    for (const id of state.messages) this.#messages.add(id);
    this.#leaf = state.leaf;
    this.#aliases = [...state.aliases];
    this.#talked = state.talked;
  }

  has(uuid: string): boolean {
    return this.#index.has(uuid);
  }

  /** Takes the next record. On a whole file `kept` is preliminary until `settle`. */
  add(fact: Fact): Place {
    const { uuid } = fact;
    if (uuid === undefined) return 'kept';
    if (this.#index.has(uuid)) return 'duplicate';
    const firm = this.#isFirm(fact);
    const parent = this.#parentOf(fact);
    if (parent === undefined) return 'again';
    const place = this.#whole ? 'kept' : this.#place(parent, firm);
    if (place === 'again') return place;
    const at = this.#push(uuid, parent, firm, place === 'kept');
    if (fact.act.do === 'compaction') {
      const before = this.#uuids[this.#leaf];
      this.#aliases = [before, fact.act.tail].flatMap((alias) => alias ?? []);
    } else if (firm && fact.act.do !== 'summary') {
      this.#aliases = [];
    }
    if (firm || parent === this.#leaf) this.#leaf = at;
    if (fact.act.do === 'prompt' || fact.act.do === 'assistant') this.#talked = true;
    return place;
  }

  /** On a whole file: decides which records are kept, by uuid. */
  settle(): (uuid: string | undefined) => boolean {
    for (let at = this.#leaf; at >= 0; at = this.#parents[at] ?? -1) this.#kept[at] = true;
    const chain = [...this.#kept];
    for (let at = 0; at < this.#uuids.length; at++) {
      const parent = this.#parents[at] ?? -1;
      const beside = this.#firm[at] === false && (parent < 0 || this.#kept[parent] === true);
      this.#kept[at] = chain[at] === true || beside;
    }
    return (uuid) => {
      const at = uuid === undefined ? undefined : this.#index.get(uuid);
      return at === undefined || this.#kept[at] === true;
    };
  }

  state(): ChainState {
    const start = Math.max(0, Math.min(this.#uuids.length - WINDOW, this.#leaf));
    return {
      nodes: this.#uuids
        .slice(start)
        .map((uuid, i) => [
          uuid,
          Math.max(-1, (this.#parents[start + i] ?? -1) - start),
          this.#firm[start + i] ?? false,
          this.#kept[start + i] ?? false,
        ]),
      leaf: Math.max(-1, this.#leaf - start),
      aliases: this.#aliases,
      messages: [...this.#messages].slice(-WINDOW_MESSAGES),
      talked: this.#talked,
    };
  }

  #push(uuid: string, parent: number, firm: boolean, kept: boolean): number {
    const at = this.#uuids.length;
    this.#index.set(uuid, at);
    this.#uuids.push(uuid);
    this.#parents.push(parent);
    this.#firm.push(firm);
    this.#kept.push(this.#whole ? false : kept);
    return at;
  }

  #isFirm({ act }: Fact): boolean {
    switch (act.do) {
      case 'prompt':
      case 'command':
      case 'interrupt':
      case 'compaction':
      case 'summary':
        return true;
      case 'assistant': {
        if (act.messageId === undefined) return true;
        const known = this.#messages.has(act.messageId);
        this.#messages.add(act.messageId);
        return !known;
      }
      default:
        return false;
    }
  }

  /** Index of the parent, -1 for a root; undefined when the window does not tell. */
  #parentOf({ act, parent }: Fact): number | undefined {
    if (act.do === 'compaction') return this.#leaf;
    if (parent === null) {
      // A prompt without a parent begins anew: the person went back to before the first one.
      if (act.do !== 'prompt' || !this.#talked) return this.#leaf;
      return this.#whole ? -1 : undefined;
    }
    if (parent === undefined) return this.#leaf;
    if (this.#aliases.includes(parent)) return this.#leaf;
    const at = this.#index.get(parent);
    if (at !== undefined) return at;
    // As long as the window holds the whole file a parent that is not in it is not in the file.
    return this.#whole || this.#uuids.length < WINDOW ? this.#leaf : undefined;
  }

  #place(parent: number, firm: boolean): Place {
    if (parent === this.#leaf) return 'kept';
    if (!firm) return parent < 0 || this.#kept[parent] === true ? 'kept' : 'off';
    if (parent < 0 || this.#kept[parent] !== true) return 'again';
    const ancestors = new Set<number>();
    for (let at = parent; at >= 0; at = this.#parents[at] ?? -1) ancestors.add(at);
    for (let at = this.#leaf; !ancestors.has(at); at = this.#parents[at] ?? -1) {
      if (at < 0 || this.#firm[at] === true) return 'again';
    }
    return 'kept';
  }
}
