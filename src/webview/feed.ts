import { render } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import type { PageResult, TranscriptUpdate } from '../protocol/aster.js';
import type { Entry } from '../protocol/entry.js';
import type { Block } from './blocks.js';
import { toBlocks } from './blocks.js';
import { blockTemplate } from './entries/entry.js';
import { EntryWindow } from './entry_window.js';
import type { Host } from './host.js';
import type { PageContext } from './page_context.js';

/** Entries kept in the page; the others are read again when they come into view. */
const KEEP = 300;
/** Pixels before an end of what is loaded at which more is read. */
const AHEAD = 1_600;
/** So near to the end the page follows what is written. */
const NEAR_END = 160;

type Anchor = { readonly key: string; readonly top: number };

export interface FeedEvents {
  /** What is seen changed: the top entry, how many are new below, whether the end is in view. */
  changed(): void;
  failed(error: unknown): void;
}

/** The scrolling feed: a window of entries around what is seen, which never jumps when it changes. */
export class Feed {
  private readonly window = new EntryWindow();
  private readonly scroller: HTMLElement;
  private readonly list: HTMLElement;
  private readonly opened = new Map<string, boolean>();
  private anchor: Anchor | undefined;
  private following = true;
  private loading = false;
  private frame = 0;
  /** Grows when something beside the entries changed what they look like. */
  private stamp = 0;
  private updates: TranscriptUpdate[] = [];
  /** Entries that came while the end was out of view. */
  unseen = 0;

  constructor(
    private readonly host: Host,
    private readonly context: PageContext,
    private readonly pageSize: number,
    private readonly events: FeedEvents,
    elements: { scroller: HTMLElement; list: HTMLElement },
  ) {
    this.scroller = elements.scroller;
    this.list = elements.list;
    this.scroller.addEventListener('scroll', () => this.scrolled(), { passive: true });
    new ResizeObserver(() => this.settle()).observe(this.list);
    new ResizeObserver(() => this.settle()).observe(this.scroller);
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

  get atEnd(): boolean {
    return this.following && this.window.holdsEnd;
  }

  /** The entry at the top of the view and how far its top is above or below the view's. */
  get topEntry(): { entry: Entry; offset: number } | undefined {
    const element = this.elementAtTop();
    const ordinal = Number(
      element?.dataset['ordinal'] ??
        element?.querySelector<HTMLElement>('[data-ordinal]')?.dataset['ordinal'],
    );
    const entry =
      this.window.all.find((item) => item.ordinal === ordinal) ?? this.entryOf(element?.dataset['key']);
    if (!element || !entry) return undefined;
    return { entry, offset: element.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top };
  }

  isOpen(key: string, fallback: boolean): boolean {
    return this.opened.get(key) ?? fallback;
  }

  /** Opens or closes a part; the clicked line stays where it is. */
  toggle(key: string, open: boolean, clicked: Element): void {
    const before = clicked.getBoundingClientRect().top;
    this.opened.set(key, open);
    this.following = false;
    this.stamp += 1;
    this.draw();
    this.scroller.scrollTop += clicked.getBoundingClientRect().top - before;
    this.remember();
  }

  /** Draws everything anew: content that was read, other details. */
  redraw(): void {
    this.stamp += 1;
    this.drawSoon();
  }

  /** Shows the end and follows it. */
  async toEnd(): Promise<void> {
    if (!this.window.holdsEnd || this.isEmpty) this.window.reset(await this.page({ anchor: 'end' }));
    this.following = true;
    this.unseen = 0;
    this.draw();
    this.settle();
  }

  async toStart(): Promise<void> {
    if (this.window.hasOlder || this.isEmpty) this.window.reset(await this.page({ anchor: 'start' }));
    this.following = false;
    this.draw();
    this.scroller.scrollTop = 0;
    this.remember();
  }

  /** Puts an entry at the top of the view, `offset` pixels below it, and gives it the focus if asked. */
  async toOrdinal(ordinal: number, offset = 0, focus = false): Promise<void> {
    const { first, last } = this.window;
    if (!first || !last || ordinal < first.ordinal || ordinal > last.ordinal) {
      this.window.reset(await this.page({ anchor: { ordinal }, direction: 'newer' }));
      const older =
        ordinal === 0 ? undefined : await this.page({ anchor: { ordinal: ordinal - 1 }, direction: 'older' });
      if (older) this.window.join(older);
    }
    this.following = false;
    this.draw();
    const element = this.elementOf(ordinal);
    if (element) {
      const top = element.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
      this.scroller.scrollTop += top - offset;
      if (focus) element.focus({ preventScroll: true });
    }
    this.remember();
  }

  /** Shows an entry by its id, as after a reload; the end when it is not there any more. */
  async toEntry(entryId: string, offset: number): Promise<void> {
    try {
      const page = await this.page({ anchor: { entryId }, direction: 'newer' });
      const ordinal = page.entries.find((entry) => entry.id === entryId)?.ordinal;
      this.window.reset(page);
      if (ordinal !== undefined) await this.toOrdinal(ordinal, offset);
      else await this.toEnd();
    } catch {
      // The entry went with a rewritten history. Whatever else is wrong, reading the end tells.
      this.window.reset(await this.page({ anchor: 'end' }));
      await this.toEnd();
    }
  }

  /** Reads everything around the place anew: updates were missed, or the history was rewritten. */
  async reload(): Promise<void> {
    const top = this.topEntry;
    this.updates = [];
    if (this.following || !top) {
      this.window.reset(await this.page({ anchor: 'end' }));
      await this.toEnd();
      return;
    }
    await this.toEntry(top.entry.id, top.offset);
  }

  /** Takes live changes in; they are drawn once a frame. */
  update(update: TranscriptUpdate): void {
    this.updates.push(update);
    this.drawSoon();
  }

  /** Moves the focus to the next or previous entry. */
  focusBy(step: 1 | -1): void {
    const items = [...this.list.querySelectorAll<HTMLElement>(':scope > [data-key]')];
    const focused = items.findIndex((item) => item.contains(document.activeElement));
    const top = this.elementAtTop();
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

  /** The entries of a turn that are loaded. */
  turnEntries(turn: number): Entry[] {
    return this.window.all.filter((entry) => entry.turn === turn);
  }

  private page(params: {
    anchor: 'end' | 'start' | { ordinal: number } | { entryId: string };
    direction?: 'older' | 'newer';
  }): Promise<PageResult> {
    return this.host.call('page', { ...params, limit: this.pageSize });
  }

  private scrolled(): void {
    const below = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
    this.following = below <= NEAR_END && this.window.holdsEnd;
    if (this.following) this.unseen = 0;
    this.remember();
    this.events.changed();
    void this.loadAhead();
  }

  /** Reads the next page on the side that comes into view, and drops what is far on the other. */
  private async loadAhead(): Promise<void> {
    if (this.loading) return;
    const { first, last } = this.window;
    const below = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
    const older = this.window.hasOlder && this.scroller.scrollTop < AHEAD && first;
    const newer = !this.window.holdsEnd && below < AHEAD && last;
    if (!older && !newer) return;
    this.loading = true;
    try {
      const page = older
        ? await this.page({ anchor: { ordinal: older.ordinal - 1 }, direction: 'older' })
        : await this.page({ anchor: { ordinal: (newer ? newer.ordinal : 0) + 1 }, direction: 'newer' });
      if (!this.window.join(page)) {
        await this.reload();
        return;
      }
      this.window.trim(older ? 'end' : 'start', KEEP);
      this.draw();
      this.settle();
    } catch (error) {
      this.events.failed(error);
    } finally {
      this.loading = false;
    }
    void this.loadAhead();
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
    const updates = this.updates.splice(0);
    for (const update of updates) {
      const applied = this.window.apply(update);
      if (applied.kind === 'gap') {
        this.reload().catch((error: unknown) => this.events.failed(error));
        return;
      }
      if (applied.kind === 'applied' && !this.following) this.unseen += applied.appended;
    }
    if (this.following) this.window.trim('start', KEEP);
  }

  private draw(): void {
    const { total } = this.window;
    const { stamp } = this;
    const copyTurn = (turn: number) => this.copyTurn(turn);
    render(
      repeat(
        toBlocks(this.window.all),
        (block) => block.key,
        (block) => guard(watched(block, stamp), () => blockTemplate(this.context, block, total, copyTurn)),
      ),
      this.list,
    );
  }

  private copyTurn(turn: number): void {
    const text = this.turnEntries(turn)
      .filter((entry) => entry.kind === 'user' || entry.kind === 'assistant')
      .map((entry) =>
        entry.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
      )
      .join('\n\n---\n\n');
    this.host.act({ action: 'copyText', text });
  }

  /** After a change: at the end stays at the end, elsewhere the entry at the top stays where it was. */
  private settle(): void {
    if (this.following && this.window.holdsEnd) {
      this.scroller.scrollTop = this.scroller.scrollHeight;
      return;
    }
    const { anchor } = this;
    const element = anchor && this.list.querySelector<HTMLElement>(`[data-key="${CSS.escape(anchor.key)}"]`);
    if (!anchor || !element) return;
    const top = element.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
    if (Math.abs(top - anchor.top) >= 0.5) this.scroller.scrollTop += top - anchor.top;
  }

  private remember(): void {
    const element = this.elementAtTop();
    const key = element?.dataset['key'];
    this.anchor =
      element && key !== undefined
        ? { key, top: element.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top }
        : undefined;
  }

  /** The first piece whose bottom is below the top of the view. Pieces are in order, so it is searched by halves. */
  private elementAtTop(): HTMLElement | undefined {
    const items = this.list.querySelectorAll<HTMLElement>(':scope > [data-key]');
    const top = this.scroller.getBoundingClientRect().top;
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((items[middle]?.getBoundingClientRect().bottom ?? 0) > top + 1) high = middle;
      else low = middle + 1;
    }
    return items[low];
  }

  private elementOf(ordinal: number): HTMLElement | undefined {
    const direct = this.list.querySelector<HTMLElement>(`[data-ordinal="${String(ordinal)}"]`);
    if (direct) return direct;
    const entry = this.window.all.find((item) => item.ordinal === ordinal);
    const block = toBlocks(this.window.all).find(
      (item) => item.kind === 'steps' && item.entries.some((step) => step.id === entry?.id),
    );
    return (
      block && (this.list.querySelector<HTMLElement>(`[data-key="${CSS.escape(block.key)}"]`) ?? undefined)
    );
  }
}

/** What a piece is drawn from: as long as none of it changed, it is not drawn again. */
function watched(block: Block, stamp: number): unknown[] {
  return block.kind === 'steps' ? [stamp, ...block.entries] : [stamp, block.entry];
}
