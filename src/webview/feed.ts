import { render } from 'lit/html.js';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import type { PageResult, TranscriptUpdate } from '../protocol/aster.js';
import type { Entry } from '../protocol/entry.js';
import { entriesOf, holds, toBlocks, type Block } from './blocks.js';
import { copyTurn } from './copy_turn.js';
import { safeTemplate } from './entries/entry.js';
import { EntryWindow } from './entry_window.js';
import type { Host } from './host.js';
import type { PageContext } from './page_context.js';
import { SHOWN_STEPS } from './entries/tool.js';
import { Rows } from './rows.js';

/** Rows kept in the page; what is beyond is read again when it comes near. */
const MAX_ROWS = 300;
/** Entries kept behind those rows: one row may be a folded run of many. */
const MAX_ENTRIES = 3_000;
/** Pixels around the view in which nothing is dropped; more than `AHEAD`, or it would be read again at once. */
const KEEP_AROUND = 2_600;
/** Pixels before an end of what is loaded at which more is read. */
const AHEAD = 1_600;
/** So near to the end the page follows what is written. */
const NEAR_END = 160;
/** Part of the view's height at which the turn that is read counts as the current one. */
const READING = 0.35;
/** Where the first new entry is put, below the bar with the turn's prompt. */
const NEW_BELOW = 40;
/** After scrolling up near the end: how long until the page follows again. */
const FOLLOW_AGAIN_MS = 300;

/** A piece and where it is. Its last entry finds it again when it has become part of another. */
type Anchor = { readonly key: string; readonly entryId: string | undefined; readonly top: number };

export interface FeedEvents {
  /** What is seen changed: the top entry, how many are new below, whether the end is in view. */
  changed(): void;
  /** A page was read. */
  loaded(): void;
  failed(error: unknown): void;
}

/** The scrolling feed: a window of entries around what is seen, which never jumps when it changes. */
export class Feed {
  private readonly window = new EntryWindow();
  private readonly rows: Rows;
  private readonly opened = new Map<string, boolean>();
  /** By entry id, grows when a part of the entry was opened or closed. */
  private readonly folds = new Map<string, number>();
  private blocks: readonly Block[] = [];
  private followTimer = 0;
  /** Where the page itself scrolled to last. */
  private scrolledTo = 0;
  private anchor: Anchor | undefined;
  private following = true;
  private loading = false;
  private reloading: Promise<void> | undefined;
  /** Grows with every way to another place: what was read for an older one is dropped. */
  private way = 0;
  private frame = 0;
  /** Grows when something beside the entries changed what they look like. */
  private stamp = 0;
  private updates: TranscriptUpdate[] = [];
  private firstUnseen: number | undefined;
  /** Entries that came while the end was out of view. */
  unseen = 0;

  constructor(
    private readonly host: Host,
    private readonly context: PageContext,
    private readonly pageSize: number,
    private readonly events: FeedEvents,
    elements: { scroller: HTMLElement; list: HTMLElement },
  ) {
    this.rows = new Rows(elements.scroller, elements.list);
    elements.scroller.addEventListener('scroll', () => this.scrolled(), { passive: true });
    new ResizeObserver(() => this.settle()).observe(elements.list);
    new ResizeObserver(() => this.settle()).observe(elements.scroller);
  }

  get total(): number {
    return this.window.total;
  }

  get generation(): number {
    return this.window.generation;
  }

  get isEmpty(): boolean {
    return this.window.all.length === 0;
  }

  /** Nothing of the end is far from view. */
  get atEnd(): boolean {
    return this.window.holdsEnd && (this.following || this.rows.below <= NEAR_END);
  }

  /** The entry at a height of the view and how far its top is from the view's; the top one by default. */
  entryAt(height = 0): { entry: Entry; offset: number } | undefined {
    const element = this.rows.at(height);
    const entry = this.entryOf(element?.dataset['key']);
    return element && entry ? { entry, offset: this.rows.topOf(element) } : undefined;
  }

  /** What to come back to: the entry at the top, also when only the line after it is in view, and where its top is. */
  get place(): { entry: Entry; offset: number } | undefined {
    const top = this.entryAt();
    const element = top && this.elementOf(top.entry.ordinal);
    return top && element ? { entry: top.entry, offset: this.rows.topOf(element) } : undefined;
  }

  /** The turn that is read now. */
  get currentTurn(): number | undefined {
    if (this.atEnd) return this.window.last?.turn;
    return (this.entryAt(this.rows.scroller.clientHeight * READING) ?? this.entryAt())?.entry.turn;
  }

  isOpen(key: string, fallback: boolean): boolean {
    return this.opened.get(key) ?? fallback;
  }

  /** Opens or closes a part, by all its keys; the clicked line stays where it is. */
  toggle(keys: readonly string[], open: boolean, clicked: Element): void {
    const before = this.rows.topOf(clicked);
    for (const key of keys) {
      const id = key.replace(/^\w+:/, '');
      this.opened.set(key, open);
      this.folds.set(id, (this.folds.get(id) ?? 0) + 1);
    }
    this.setFollowing(false);
    this.draw();
    if (clicked.isConnected) this.rows.put(clicked, before);
    this.scrolledTo = this.rows.scroller.scrollTop;
    this.remember(clicked.closest<HTMLElement>('#feed > [data-key]') ?? undefined);
    this.events.changed();
    this.loadAhead();
  }

  /** Draws everything anew: content that was read, other details. */
  redraw(): void {
    this.stamp += 1;
    this.drawSoon();
  }

  /** Shows the end and follows it. */
  async toEnd(): Promise<void> {
    const way = (this.way += 1);
    const page = this.window.holdsEnd && !this.isEmpty ? undefined : await this.page({ anchor: 'end' });
    if (way === this.way) this.showEnd(page);
  }

  /** Shows the first entry that came unseen; from there, or without one, the end. */
  async toNew(): Promise<void> {
    const ordinal = this.firstUnseen;
    this.firstUnseen = undefined;
    if (ordinal === undefined || ordinal >= this.total) return this.toEnd();
    await this.toOrdinal(ordinal, NEW_BELOW, true);
    if (this.atEnd) await this.toEnd();
  }

  async toStart(): Promise<void> {
    const way = (this.way += 1);
    const known = this.window.first?.ordinal === 0;
    const page = known ? undefined : await this.page({ anchor: 'start' });
    if (way !== this.way) return;
    if (page) this.window.reset(page);
    this.setFollowing(false);
    this.draw();
    this.rows.scroller.scrollTop = 0;
    this.arrived();
  }

  /** Puts an entry at the top of the view, `offset` pixels below it, and gives it the focus if asked. */
  async toOrdinal(ordinal: number, offset = 0, focus = false): Promise<void> {
    const way = (this.way += 1);
    const { first, last } = this.window;
    if (!first || !last || ordinal < first.ordinal || ordinal > last.ordinal) {
      const newer = await this.page({ anchor: { ordinal }, direction: 'newer' });
      const older = await this.before(newer);
      if (way !== this.way) return;
      this.take(newer, older);
    }
    this.show(ordinal, offset, focus);
  }

  /** Goes to an entry, by its id, and gives it the focus. */
  async goTo(entryId: string, offset: number): Promise<void> {
    const known = this.window.all.find(({ id }) => id === entryId);
    if (known) return this.toOrdinal(known.ordinal, offset, true);
    await this.toEntry(entryId, offset);
    this.elementOfEntry(entryId)?.focus({ preventScroll: true });
  }

  /** Shows an entry by its id, as after a reload; the end when it is not there any more. */
  async toEntry(entryId: string, offset: number): Promise<void> {
    const way = (this.way += 1);
    const newer = await this.pageAt(entryId);
    const ordinal = newer?.entries.find((entry) => entry.id === entryId)?.ordinal;
    if (!newer || ordinal === undefined) {
      const end = await this.page({ anchor: 'end' });
      if (way === this.way) this.showEnd(end);
      return;
    }
    const older = await this.before(newer);
    if (way !== this.way) return;
    // The reader may have scrolled while the pages were on their way.
    const seen = this.elementOf(ordinal);
    const height = seen ? this.rows.topOf(seen) : offset;
    this.take(newer, older);
    this.show(ordinal, height, false);
  }

  /** Reads everything around the place anew: updates were missed, or the history was rewritten. */
  reload(): Promise<void> {
    this.reloading ??= this.readAnew().finally(() => {
      this.reloading = undefined;
      this.drawSoon();
    });
    return this.reloading;
  }

  /** Takes live changes in; they are drawn once a frame. */
  update(update: TranscriptUpdate): void {
    this.updates.push(update);
    this.drawSoon();
  }

  /** Moves the focus to the next or previous entry. */
  focusBy(step: 1 | -1): void {
    const items = this.rows.all;
    const focused = items.findIndex((item) => item.contains(document.activeElement));
    const top = this.rows.at(0);
    const from = focused >= 0 ? focused : items.findIndex((item) => item === top) - step;
    const next = items[Math.max(0, Math.min(items.length - 1, from + step))];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: 'nearest' });
  }

  entryOf(key: string | undefined): Entry | undefined {
    const id = key?.replace(/^(steps|end):/, '');
    return this.window.all.find((entry) => entry.id === id);
  }

  private page(params: {
    anchor: 'end' | 'start' | { ordinal: number } | { entryId: string };
    direction?: 'older' | 'newer';
  }): Promise<PageResult> {
    return this.host.call('page', { ...params, limit: this.pageSize });
  }

  /** The page that begins with an entry; undefined when the entry went with a rewritten history. */
  private async pageAt(entryId: string): Promise<PageResult | undefined> {
    try {
      return await this.page({ anchor: { entryId }, direction: 'newer' });
    } catch {
      // Whatever is wrong beside that, reading the end will tell.
      return undefined;
    }
  }

  private async before(page: PageResult): Promise<PageResult | undefined> {
    const first = page.entries[0]?.ordinal ?? 0;
    return first === 0 ? undefined : await this.page({ anchor: { ordinal: first - 1 }, direction: 'older' });
  }

  private take(newer: PageResult, older: PageResult | undefined): void {
    this.window.reset(newer);
    if (older) this.window.join(older);
  }

  private async readAnew(): Promise<void> {
    const top = this.place;
    if (!this.following && top) {
      await this.toEntry(top.entry.id, top.offset);
      return;
    }
    const way = (this.way += 1);
    const page = await this.page({ anchor: 'end' });
    if (way === this.way) this.showEnd(page);
  }

  private showEnd(page: PageResult | undefined): void {
    if (page) this.window.reset(page);
    this.setFollowing(true);
    this.draw();
    this.settle();
    this.arrived();
  }

  private show(ordinal: number, offset: number, focus: boolean): void {
    this.setFollowing(false);
    this.draw();
    const element = this.elementOf(ordinal);
    if (element) {
      this.rows.put(element, offset);
      if (focus) element.focus({ preventScroll: true });
    }
    this.arrived(element);
  }

  private setFollowing(following: boolean): void {
    window.clearTimeout(this.followTimer);
    this.following = following;
    if (!following) return;
    this.unseen = 0;
    this.firstUnseen = undefined;
  }

  private arrived(element?: HTMLElement): void {
    this.scrolledTo = this.rows.scroller.scrollTop;
    this.remember(element);
    this.events.loaded();
    this.events.changed();
    this.loadAhead();
  }

  private scrolled(): void {
    const top = this.rows.scroller.scrollTop;
    const by = top - this.scrolledTo;
    this.scrolledTo = top;
    if (Math.abs(by) >= 1) {
      const near = this.rows.below <= NEAR_END && this.window.holdsEnd;
      // Who scrolls up is let go, or new text would pull the page back under the wheel.
      const leaves = near && by < 0 && this.rows.below >= 1;
      this.setFollowing(near && !leaves);
      if (leaves) this.followTimer = window.setTimeout(() => this.followAgain(), FOLLOW_AGAIN_MS);
      this.remember();
    }
    this.events.changed();
    this.loadAhead();
  }

  private followAgain(): void {
    if (this.rows.below > NEAR_END || !this.window.holdsEnd) return;
    this.setFollowing(true);
    this.events.changed();
  }

  private loadAhead(): void {
    if (this.loading || this.reloading) return;
    const { first, last } = this.window;
    const older = this.window.hasOlder && this.rows.scroller.scrollTop < AHEAD && first;
    const newer = !this.window.holdsEnd && this.rows.below < AHEAD && last;
    if (!older && !newer) return;
    const { way } = this;
    this.loading = true;
    this.loadNext(older ? { older } : { newer: newer || undefined })
      .then(
        () => true,
        (error: unknown) => {
          if (way === this.way) this.events.failed(error);
          return way !== this.way;
        },
      )
      .finally(() => {
        this.loading = false;
      })
      .then(
        // A failed read is tried again when the reader scrolls or asks for it.
        (again) => again && this.loadAhead(),
        (error: unknown) => this.events.failed(error),
      );
  }

  /** Reads the next page on the side that comes into view, and drops what is far on the other. */
  private async loadNext({ older, newer }: { older?: Entry; newer?: Entry | undefined }): Promise<void> {
    const { way } = this;
    const page = older
      ? await this.page({ anchor: { ordinal: older.ordinal - 1 }, direction: 'older' })
      : await this.page({ anchor: { ordinal: (newer?.ordinal ?? -1) + 1 }, direction: 'newer' });
    if (way !== this.way) return;
    if (!this.window.join(page)) {
      await this.reload();
      return;
    }
    this.dropFar(older ? 'end' : 'start');
    this.draw();
    this.settle();
    this.events.loaded();
  }

  private drawSoon(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.takeUpdates();
      this.draw();
      this.settle();
      this.events.changed();
    });
  }

  private takeUpdates(): void {
    // They are taken when the new pages are there, which may hold them already.
    if (this.reloading) return;
    const updates = this.updates.splice(0);
    for (const update of updates) {
      const applied = this.window.apply(update);
      if (applied.kind === 'gap') {
        this.reload().catch((error: unknown) => this.events.failed(error));
        return;
      }
      if (applied.kind !== 'applied' || this.following || applied.appended === 0) continue;
      this.unseen += applied.appended;
      this.firstUnseen ??= this.window.total - applied.appended;
    }
    // What is written while somebody reads far above it is read again when it comes into view.
    this.dropFar(this.following ? 'start' : 'end');
  }

  /** Drops pieces at one side while there are too many, but none near the view. */
  private dropFar(side: 'start' | 'end'): void {
    const blocks = toBlocks(this.window.all);
    let rows = blocks.reduce((sum, block) => sum + this.rowsOf(block), 0);
    let entries = this.window.all.length;
    if (rows <= MAX_ROWS && entries <= MAX_ENTRIES) return;
    const line = side === 'start' ? -KEEP_AROUND : this.rows.scroller.clientHeight + KEEP_AROUND;
    const key = this.rows.at(line)?.dataset['key'];
    const near = this.blocks.find((block) => block.key === key);
    // Nothing as far as that is drawn: on the start's side everything is nearer, on the other all that is new is not.
    const limit = near ? (entriesOf(near)[0]?.ordinal ?? 0) : this.lastDrawn();
    while (rows > MAX_ROWS || entries > MAX_ENTRIES) {
      const block = side === 'start' ? blocks.shift() : blocks.pop();
      const own = block ? entriesOf(block) : [];
      const first = own[0]?.ordinal;
      const last = own.at(-1)?.ordinal;
      if (!block || first === undefined || last === undefined) return;
      if (side === 'start' ? last >= limit : first <= limit) return;
      rows -= this.rowsOf(block);
      if (block.kind === 'end') continue;
      entries -= own.length;
      if (side === 'start') this.window.keepFrom(last + 1);
      else this.window.keepUpTo(first - 1);
    }
  }

  private lastDrawn(): number {
    const block = this.blocks.at(-1);
    return block ? (entriesOf(block).at(-1)?.ordinal ?? 0) : 0;
  }

  private rowsOf(block: Block): number {
    const open = (part: string) =>
      entriesOf(block).some(({ id }) => this.opened.get(`${part}:${id}`) === true);
    if (block.kind !== 'steps' || !open('steps')) return 1;
    return 1 + (open('all') ? block.entries.length : Math.min(block.entries.length, SHOWN_STEPS));
  }

  private draw(): void {
    const { total } = this.window;
    const { stamp } = this;
    const copy = (turn: number) => {
      copyTurn(this.host, turn).catch((error: unknown) => this.events.failed(error));
    };
    const blocks = toBlocks(this.window.all);
    this.blocks = blocks;
    const focused = this.focusedEntry();
    render(
      repeat(
        blocks,
        (block) => block.key,
        (block) => guard(this.watched(block, stamp), () => safeTemplate(this.context, block, total, copy)),
      ),
      this.rows.list,
    );
    const size = String(total);
    for (const row of this.rows.all)
      if (row.hasAttribute('aria-setsize') && row.getAttribute('aria-setsize') !== size)
        row.setAttribute('aria-setsize', size);
    if (focused !== undefined && !this.rows.list.contains(document.activeElement)) {
      const block = blocks.find((item) => holds(item, focused));
      if (block) this.rows.byKey(block.key)?.focus({ preventScroll: true });
    }
  }

  /** Id of the entry that has the focus, so that it keeps it when it is drawn as part of something else. */
  private focusedEntry(): string | undefined {
    const active = document.activeElement;
    if (!this.rows.list.contains(active)) return undefined;
    const inner = active?.closest<HTMLElement>('[data-entry]')?.dataset['entry'];
    return inner ?? this.entryOf(active?.closest<HTMLElement>('[data-key]')?.dataset['key'])?.id;
  }

  /** After a change: at the end stays at the end, elsewhere the entry at the top stays where it was. */
  private settle(): void {
    const { scroller } = this.rows;
    if (this.following && this.window.holdsEnd) {
      scroller.scrollTop = scroller.scrollHeight;
      this.scrolledTo = scroller.scrollTop;
      return;
    }
    const { anchor } = this;
    const block =
      anchor && this.blocks.find((item) => anchor.entryId !== undefined && holds(item, anchor.entryId));
    const element = anchor && (this.rows.byKey(anchor.key) ?? (block && this.rows.byKey(block.key)));
    if (!element) return;
    this.rows.put(element, anchor.top);
    this.scrolledTo = scroller.scrollTop;
  }

  /** Holds on to a piece: the first that begins in the view, else the one that fills it. */
  private remember(wanted?: HTMLElement): void {
    const element = wanted ?? this.rows.anchor();
    const key = element?.dataset['key'];
    const block = this.blocks.find((item) => item.key === key);
    this.anchor =
      element && key !== undefined
        ? { key, entryId: block && entriesOf(block).at(-1)?.id, top: this.rows.topOf(element) }
        : undefined;
  }

  private elementOfEntry(entryId: string): HTMLElement | undefined {
    const block = this.blocks.find((item) => holds(item, entryId));
    return block && this.rows.byKey(block.key);
  }

  private elementOf(ordinal: number): HTMLElement | undefined {
    const entry = this.window.all.find((item) => item.ordinal === ordinal);
    const block = entry && this.blocks.find((item) => holds(item, entry.id));
    return block && this.rows.byKey(block.key);
  }

  /** What a piece is drawn from: as long as none of it changed, it is not drawn again. */
  private watched(block: Block, stamp: number): unknown[] {
    const entries = entriesOf(block);
    const lead = block.kind === 'entry' && block.lead;
    return [stamp, lead, ...entries, ...entries.map(({ id }) => this.folds.get(id) ?? 0)];
  }
}
