/** The drawn pieces of the feed and where they are. Distances are CSS pixels below the top of the view. */
export class Rows {
  constructor(
    readonly scroller: HTMLElement,
    readonly list: HTMLElement,
  ) {}

  get all(): HTMLElement[] {
    return [...this.list.querySelectorAll<HTMLElement>(':scope > [data-key]')];
  }

  /** How far the end is below the bottom of the view. */
  get below(): number {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }

  topOf(element: Element): number {
    return element.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
  }

  byKey(key: string): HTMLElement | undefined {
    return this.list.querySelector<HTMLElement>(`:scope > [data-key="${CSS.escape(key)}"]`) ?? undefined;
  }

  /** The piece at a height of the view: the first whose bottom is below it. Pieces are in order: searched by halves. */
  at(height: number): HTMLElement | undefined {
    const items = this.list.querySelectorAll<HTMLElement>(':scope > [data-key]');
    const line = this.scroller.getBoundingClientRect().top + height;
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((items[middle]?.getBoundingClientRect().bottom ?? 0) > line + 1) high = middle;
      else low = middle + 1;
    }
    return items[low];
  }

  /** What to hold on to while the rest changes: the first piece that begins in the view, else the one that fills it. */
  anchor(): HTMLElement | undefined {
    const filling = this.at(0);
    const next = filling?.nextElementSibling;
    if (!filling || this.topOf(filling) >= 0 || !(next instanceof HTMLElement)) return filling;
    const begins = next.dataset['key'] !== undefined && this.topOf(next) < this.scroller.clientHeight - 40;
    return begins ? next : filling;
  }

  /** Scrolls so that a piece is at a height. */
  put(element: Element, height: number): void {
    const by = this.topOf(element) - height;
    if (Math.abs(by) >= 0.5) this.scroller.scrollTop += by;
  }
}
