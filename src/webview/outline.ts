import { html, nothing, render, type TemplateResult } from 'lit/html.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Turn } from '../protocol/entry.js';
import { icon } from './entries/parts.js';
import { count, duration } from './format.js';
import type { Host } from './host.js';
import { t } from './texts.js';

/** Turns read at a time; aligned, so that a place is always in the same page. */
const PAGE = 100;
/** Height of a row in pixels, as the look sets it. */
const ROW = 44;
/** Rows drawn above and below the view. */
const MARGIN = 8;

/** The list of turns beside the feed: what was asked, and the way there. Only the rows in view are in the page. */
export class Outline {
  private readonly turns = new Map<number, Turn>();
  private readonly reading = new Set<number>();
  private total = 0;
  private generation: number | undefined;
  private current = 0;
  private loading: Promise<void> | undefined;
  private frame = 0;
  isOpen = false;

  constructor(
    private readonly host: Host,
    private readonly element: HTMLElement,
    private readonly go: (turn: Turn) => void,
    private readonly failed: (error: unknown) => void,
  ) {
    element.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.drawSoon()).observe(element);
  }

  setOpen(open: boolean): void {
    this.isOpen = open;
    this.reading.clear();
    this.draw();
    if (open) void this.refresh();
  }

  /** Marks the turn that is read now. */
  mark(number: number): void {
    if (number === this.current) return;
    this.current = number;
    this.reveal();
    this.draw();
  }

  /** Whether a turn was not over when it was read. */
  get hasOpenTurn(): boolean {
    return [...this.turns.values()].some((turn) => turn.status === 'running');
  }

  /** Reads the newest turns again; others that are loaded stay. */
  refresh(): Promise<void> {
    this.loading ??= this.read(-PAGE).finally(() => {
      this.loading = undefined;
      this.reveal();
      this.drawSoon();
    });
    return this.loading;
  }

  /** A turn by its number, read if it is not loaded. */
  async find(number: number): Promise<Turn | undefined> {
    const known = this.turns.get(number);
    if (known) return known;
    const { turns } = await this.host.call('turns', { from: number, limit: 1 });
    return turns[0];
  }

  private get list(): HTMLElement | null {
    return this.element.querySelector<HTMLElement>('ul');
  }

  private async read(from: number): Promise<void> {
    if (this.reading.has(from)) return;
    this.reading.add(from);
    try {
      const { turns, total, cut } = await this.host.call('turns', { from, limit: PAGE });
      // Of a history that was rewritten nothing is known any more.
      if (cut.generation !== this.generation) this.turns.clear();
      this.generation = cut.generation;
      for (const turn of turns) this.turns.set(turn.number, turn);
      this.total = total;
      this.draw();
      this.reading.delete(from);
    } catch (error) {
      // It is read again when the list is opened again, not at once and for ever.
      this.failed(error);
    }
  }

  /** Scrolls the list so that the marked turn is in view. */
  private reveal(): void {
    const { list } = this;
    if (!list) return;
    const top = (this.current - 1) * ROW;
    if (top < list.scrollTop || top + ROW > list.scrollTop + list.clientHeight)
      list.scrollTop = top - list.clientHeight / 2;
  }

  private drawSoon(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** The numbers of the rows in view and some around them. */
  private get drawn(): number[] {
    const { list } = this;
    const top = list?.scrollTop ?? Math.max(0, this.current - 10) * ROW;
    const height = list?.clientHeight ?? 0;
    const first = Math.max(1, Math.floor(top / ROW) + 1 - MARGIN);
    const last = Math.min(this.total, Math.ceil((top + height) / ROW) + MARGIN);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  }

  private draw(): void {
    this.element.hidden = !this.isOpen;
    const rows = this.drawn;
    for (const number of rows) {
      const from = Math.floor((number - 1) / PAGE) * PAGE + 1;
      if (!this.turns.has(number) && this.isOpen && !this.loading) void this.read(from);
    }
    const active = rows.includes(this.current) ? `turn-${String(this.current)}` : nothing;
    render(
      this.isOpen
        ? html`<header>
              <h2>${t('Turns')}</h2>
              <span class="dim num">${this.total > 0 ? count(this.total) : nothing}</span>
              <span class="grow"></span>
              <button
                class="ib"
                type="button"
                data-act="outline"
                aria-label=${t('Close')}
                title=${t('Close')}
              >
                ${icon('close')}
              </button>
            </header>
            <ul
              role="listbox"
              tabindex="0"
              aria-label=${t('Turns')}
              aria-activedescendant=${active}
              @scroll=${() => this.drawSoon()}
            >
              <li class="space" role="presentation"></li>
              ${repeat(
                rows,
                (number) => number,
                (number) => this.row(number),
              )}
              <li class="space" role="presentation"></li>
            </ul>`
        : nothing,
      this.element,
    );
    const [above, below] = this.element.querySelectorAll<HTMLElement>('.space');
    const before = (rows[0] ?? 1) - 1;
    if (above) above.style.height = `${String(before * ROW)}px`;
    if (below) below.style.height = `${String((this.total - before - rows.length) * ROW)}px`;
  }

  /** A turn that is not read yet keeps its place. */
  private row(number: number): TemplateResult {
    const turn = this.turns.get(number);
    if (turn) return this.item(turn);
    return html`<li role="option" aria-selected="false" aria-disabled="true">
      <span class="ord">${number}</span>
    </li>`;
  }

  private item(turn: Turn): TemplateResult {
    const took = turn.endedAt === undefined ? undefined : Date.parse(turn.endedAt) - Date.parse(turn.at);
    const facts = [
      turn.files.length === 0
        ? undefined
        : turn.files.length === 1
          ? t('1 file changed')
          : t('{0} files changed', turn.files.length),
      turn.tools === 0 ? undefined : turn.tools === 1 ? t('1 step') : t('{0} steps', turn.tools),
      took === undefined || took <= 0 ? undefined : duration(took),
    ].filter((fact) => fact !== undefined);
    const state = {
      running: icon('loading', 'spin live'),
      failed: icon('error', 'bad'),
      cancelled: icon('circle-slash', 'dim'),
      completed: nothing,
    };
    return html`<li
      role="option"
      id="turn-${turn.number}"
      aria-selected=${turn.number === this.current}
      aria-posinset=${turn.number}
      aria-setsize=${this.total}
      @click=${() => this.go(turn)}
    >
      <span class="ord">${turn.number}</span>
      <span class="what"
        ><bdi class="clip">${turn.prompt}</bdi
        ><span class="dim num facts">${facts.map((fact) => html`<span>${fact}</span>`)}</span></span
      >
      ${state[turn.status]}
    </li>`;
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      this.mark(Math.max(1, Math.min(this.total, this.current + step)));
    } else if (event.key === 'Enter') {
      const turn = this.turns.get(this.current);
      if (turn) this.go(turn);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
