import * as z from 'zod';
import { Tooling } from '../../protocol/controls.js';
import type { Log } from '../log.js';
import { catalogueId, EMPTY_CATALOGUE, type Catalogue } from './catalogue.js';
import type { RunStore } from './ports.js';

/** A catalogue as it is answered, but for whether the session is live. Replaced as a whole, never changed. */
export type KeptTooling = Omit<Tooling, 'live'>;

export interface ToolingBookParts {
  readonly store: Pick<RunStore, 'sessionFact' | 'putSessionFact'>;
  readonly log: Log;
  /** A new generation is there. */
  announce(sessionId: string, tooling: KeptTooling): void;
}

const FACT = 'tooling';
const Kept = Tooling.omit({ live: true });
const Generation = z.looseObject({ generation: z.number().int() });

/** Changes that come within so many ms become one generation. */
const SETTLE_MS = 50;

interface Change {
  readonly catalogue: () => Catalogue;
  readonly timer: NodeJS.Timeout;
}

/**
 * The catalogue of every session, of the generation it is in now. A generation ends only when the content changed, and
 * what was kept is there again after a restart.
 */
export class ToolingBook {
  /** What changed in this process; the store has it too, unless it could not be written. */
  private readonly kept = new Map<string, KeptTooling>();
  private readonly changes = new Map<string, Change>();

  constructor(private readonly parts: ToolingBookParts) {}

  /** What was said last, with all changes that were noted. */
  current(sessionId: string): KeptTooling {
    this.settle(sessionId);
    return this.known(sessionId);
  }

  /** Says that the catalogue may be another one now; it is asked for a moment later. */
  note(sessionId: string, catalogue: () => Catalogue): void {
    const timer =
      this.changes.get(sessionId)?.timer ?? setTimeout(() => this.settleLate(sessionId), SETTLE_MS).unref();
    this.changes.set(sessionId, { catalogue, timer });
  }

  /** Takes in all that was noted. */
  settleAll(): void {
    for (const sessionId of [...this.changes.keys()]) this.settle(sessionId);
  }

  private settleLate(sessionId: string): void {
    try {
      this.settle(sessionId);
    } catch (error) {
      this.parts.log.error('a tool catalogue could not be taken in', error);
    }
  }

  private settle(sessionId: string): void {
    const change = this.changes.get(sessionId);
    if (!change) return;
    clearTimeout(change.timer);
    this.changes.delete(sessionId);
    const before = this.known(sessionId);
    const catalogue = change.catalogue();
    const id = catalogueId(catalogue);
    if (id === before.catalog.id) return;
    const tooling: KeptTooling = { ...catalogue, generation: before.generation + 1, catalog: { id } };
    this.keep(sessionId, tooling);
    this.parts.announce(sessionId, tooling);
  }

  /** A fork begins with what was said last of its parent. */
  inherit(parentId: string, forkId: string): void {
    const before = this.current(parentId);
    if (before.generation === 0 || this.current(forkId).generation > 0) return;
    this.keep(forkId, { ...before, generation: 1 });
  }

  private keep(sessionId: string, tooling: KeptTooling): void {
    this.kept.set(sessionId, tooling);
    try {
      this.parts.store.putSessionFact(sessionId, FACT, tooling);
    } catch (error) {
      // It is right as long as the service runs, and the agent tells it again.
      this.parts.log.warn('a tool catalogue could not be kept', { sessionId, error: String(error) });
    }
  }

  private known(sessionId: string): KeptTooling {
    const held = this.kept.get(sessionId);
    if (held) return held;
    const fact = this.parts.store.sessionFact(sessionId, FACT);
    const parsed = Kept.safeParse(fact);
    return parsed.success ? parsed.data : empty(Generation.safeParse(fact).data?.generation ?? 0);
  }
}

function empty(generation: number): KeptTooling {
  return { ...EMPTY_CATALOGUE, generation, catalog: { id: catalogueId(EMPTY_CATALOGUE) } };
}
