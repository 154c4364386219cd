/** Damps the lead of the first places: a document in two lists beats one that is first in a single list. */
const K = 60;

export interface Fused<R extends string> {
  readonly key: string;
  /** Sum of 1 / (60 + rank), ranks from 1. */
  readonly score: number;
  readonly routes: readonly R[];
}

/** Reciprocal rank fusion: one list, best first, from several that each put the best first. */
export function fuse<R extends string>(
  lists: readonly { readonly route: R; readonly keys: readonly string[] }[],
): Fused<R>[] {
  const fused = new Map<string, { score: number; routes: R[] }>();
  for (const { route, keys } of lists)
    [...new Set(keys)].forEach((key, index) => {
      const known = fused.get(key) ?? { score: 0, routes: [] };
      known.score += 1 / (K + index + 1);
      known.routes.push(route);
      fused.set(key, known);
    });
  return [...fused]
    .map(([key, { score, routes }]) => ({ key, score, routes }))
    .sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1));
}
