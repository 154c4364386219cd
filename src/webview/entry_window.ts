import type { PageResult, TranscriptUpdate } from '../protocol/aster.js';
import type { Cut, Entry } from '../protocol/entry.js';

/** What a live update did to the window. */
export type Applied =
  | { readonly kind: 'applied'; readonly appended: number }
  /** Updates were missed, or the history was rewritten: ask for the entries again. */
  | { readonly kind: 'gap' }
  /** Older than what is known. */
  | { readonly kind: 'ignored' };

const RECENT = 500;

/** The part of a transcript that is loaded: entries without a hole, ascending, and how many there are in all. */
export class EntryWindow {
  private entries: Entry[] = [];
  private cut: Cut = { generation: 0, revision: 0 };
  /** The newest updates: a page that was on its way while they came does not hold them. */
  private recent: TranscriptUpdate[] = [];
  total = 0;

  get all(): readonly Entry[] {
    return this.entries;
  }

  get generation(): number {
    return this.cut.generation;
  }

  get first(): Entry | undefined {
    return this.entries[0];
  }

  get last(): Entry | undefined {
    return this.entries.at(-1);
  }

  get hasOlder(): boolean {
    return (this.first?.ordinal ?? 0) > 0;
  }

  /** Whether the newest entry is loaded. */
  get holdsEnd(): boolean {
    return this.total === 0 || this.last?.ordinal === this.total - 1;
  }

  reset(page: PageResult): void {
    this.entries = [...page.entries];
    this.cut = page.cut;
    this.total = page.total;
    const { recent } = this;
    this.recent = [];
    for (const update of recent)
      if (update.cut.generation === page.cut.generation && update.cut.revision > page.cut.revision)
        this.apply(update);
  }

  /**
   * Joins a page that touches or overlaps the window. False when it cannot be joined: another generation, or a hole
   * between.
   */
  join(page: PageResult): boolean {
    const { first, last } = this;
    const entries = this.brought(page);
    const [pageFirst] = entries;
    const pageLast = entries.at(-1);
    if (page.cut.generation !== this.cut.generation) return false;
    this.total = Math.max(this.total, page.total);
    if (!pageFirst || !pageLast) return true;
    if (!first || !last) {
      this.reset(page);
      return true;
    }
    if (pageLast.ordinal < first.ordinal - 1 || pageFirst.ordinal > last.ordinal + 1) return false;
    const older = this.entries.filter((entry) => entry.ordinal < pageFirst.ordinal);
    const newer = this.entries.filter((entry) => entry.ordinal > pageLast.ordinal);
    this.entries = [...older, ...entries, ...newer];
    return true;
  }

  /** The entries of a page with what changed since it was read. */
  private brought(page: PageResult): Entry[] {
    const changed = new Map(
      this.recent
        .filter(({ cut }) => cut.revision > page.cut.revision)
        .flatMap(({ changes }) => changes.map(({ entry }) => [entry.ordinal, entry])),
    );
    return page.entries.map((entry) => changed.get(entry.ordinal) ?? entry);
  }

  /** Drops the entries before or after an ordinal. */
  keepFrom(ordinal: number): void {
    this.entries = this.entries.filter((entry) => entry.ordinal >= ordinal);
  }

  keepUpTo(ordinal: number): void {
    this.entries = this.entries.filter((entry) => entry.ordinal <= ordinal);
  }

  apply(update: TranscriptUpdate): Applied {
    if (update.cut.generation < this.cut.generation) return { kind: 'ignored' };
    if (update.cut.generation > this.cut.generation) return { kind: 'gap' };
    if (update.cut.revision <= this.cut.revision) return { kind: 'ignored' };
    if (update.baseRevision > this.cut.revision) return { kind: 'gap' };
    let { holdsEnd } = this;
    let appended = 0;
    for (const { entry } of update.changes) {
      const index = entry.ordinal - (this.first?.ordinal ?? 0);
      if (this.entries[index]?.ordinal === entry.ordinal) {
        this.entries[index] = entry;
        continue;
      }
      const isNext = entry.ordinal === (this.last ? this.last.ordinal + 1 : 0);
      if (holdsEnd && isNext) this.entries.push(entry);
      else if (isNext) holdsEnd = false;
      if (entry.ordinal >= this.total) appended += 1;
    }
    this.cut = update.cut;
    this.total = update.total;
    this.recent.push(update);
    if (this.recent.length > RECENT) this.recent.shift();
    return { kind: 'applied', appended };
  }
}
