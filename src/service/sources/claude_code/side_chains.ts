import { Fold } from '../fold.js';
import type { InlineChild } from '../source.js';
import { Applier } from './apply.js';
import type { Fact } from './facts.js';

interface Child {
  readonly sessionId: string;
  readonly cwd: string;
  readonly createdAt: number;
  readonly applier: Applier;
}

/** Sub-agents whose records older versions wrote into the file of their session, one child for each root. */
export class SideChains {
  readonly #parentId: string;
  readonly #children: Child[] = [];
  readonly #childOf = new Map<string, Child>();
  readonly #byAgent = new Map<string, Child>();

  constructor(parentSessionId: string) {
    this.#parentId = parentSessionId;
  }

  add(fact: Fact, cwd: string | undefined): void {
    if (fact.uuid !== undefined && this.#childOf.has(fact.uuid)) return;
    const child = this.#find(fact) ?? this.#start(fact, cwd ?? '');
    if (fact.uuid !== undefined) this.#childOf.set(fact.uuid, child);
    child.applier.apply(fact);
  }

  outcome(mtimeMs: number, nowMs: number): InlineChild[] {
    return this.#children.map(({ sessionId, cwd, createdAt, applier: { fold } }) => {
      const { entries, turns } = fold.outcome(mtimeMs, nowMs);
      const totals = fold.totals(0);
      return {
        head: {
          sessionId,
          cwd,
          createdAt,
          updatedAt: totals.updatedAt,
          kind: 'build',
          headless: false,
          archived: false,
          parent: { sessionId: this.#parentId, relation: 'subagent' },
          empty: entries.length === 0,
          ...(totals.title && { title: totals.title }),
          ...(totals.preview !== undefined && { preview: totals.preview }),
          ...(totals.model !== undefined && { model: totals.model }),
        },
        entries,
        turns,
      };
    });
  }

  #find({ parent, agentId, act }: Fact): Child | undefined {
    const known = typeof parent === 'string' ? this.#childOf.get(parent) : undefined;
    if (known) return known;
    if (agentId !== undefined) return this.#byAgent.get(agentId);
    // A dangling parent inside a sub-agent's work: it belongs to the newest one.
    return act.do === 'prompt' ? undefined : this.#children.at(-1);
  }

  #start(fact: Fact, cwd: string): Child {
    const own = fact.agentId === undefined ? undefined : `agent-${fact.agentId}`;
    const child: Child = {
      sessionId: own ?? `${this.#parentId}:${fact.uuid ?? fact.offset.toString(36)}`,
      cwd,
      createdAt: fact.at ?? 0,
      applier: new Applier(new Fold()),
    };
    this.#children.push(child);
    if (fact.agentId !== undefined) this.#byAgent.set(fact.agentId, child);
    return child;
  }
}
