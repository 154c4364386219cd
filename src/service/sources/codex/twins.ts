import * as z from 'zod';

const MAX_WAITING = 24;

/** `[what, by whom]` */
export const TwinsState = z.array(z.tuple([z.string(), z.string()]));
export type TwinsState = z.infer<typeof TwinsState>;

/** Recognises a text that is told twice, once by each of two kinds of records, in either order. */
export class Twins {
  #waiting: TwinsState;

  constructor(state: TwinsState = []) {
    this.#waiting = [...state];
  }

  /** True when another kind of record told the same text before; each telling matches one of each other kind. */
  seen(kind: string, text: string, by: string): boolean {
    const key = `${kind}:${brief(text.trim())}`;
    const own = this.#waiting.filter(([what, whom]) => what === key && whom === by).length;
    const others = new Map<string, number>();
    for (const [what, whom] of this.#waiting) {
      if (what === key && whom !== by) others.set(whom, (others.get(whom) ?? 0) + 1);
    }
    this.#waiting.push([key, by]);
    if (this.#waiting.length > MAX_WAITING) {
      // All tellings of a text go together: a lone one would swallow the next of its kind.
      const oldest = this.#waiting[0]?.[0];
      this.#waiting = this.#waiting.filter(([what]) => what !== oldest);
    }
    return Math.max(0, ...others.values()) > own;
  }

  state(): TwinsState {
    return this.#waiting.map(([what, whom]) => [what, whom]);
  }
}

function brief(text: string): string {
  return text.length <= 160 ? text : `${text.length}:${text.slice(0, 100)}${text.slice(-40)}`;
}
