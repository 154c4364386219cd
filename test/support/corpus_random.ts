/** Deterministic numbers in [0, 1). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A uuid of the given numbers; `version` is its 13th digit. */
export function uuid(rng: () => number, version: '4' | '7' = '4'): string {
  let hex = '';
  while (hex.length < 32) {
    hex += Math.floor(rng() * 0x100000000)
      .toString(16)
      .padStart(8, '0');
  }
  const part = (from: number, to: number) => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-${version}${part(13, 16)}-a${part(17, 20)}-${part(20, 32)}`;
}

/** One of a list. */
export function pick<T>(rng: () => number, list: readonly T[]): T {
  const one = list[Math.floor(rng() * list.length)];
  if (one === undefined) throw new Error('nothing to pick from');
  return one;
}
