import type { Chunk } from './chunks.js';
import type { Embed } from './embeddings.js';

/** Characters of a chunk that are turned into a vector: models read a few hundred tokens. */
const MAX_CHARACTERS = 1500;
/** Further files are as good as not found. */
const MAX_FILES = 30;

/** A file with its chunk that is nearest to the query. */
export interface MeaningResult {
  readonly path: string;
  readonly chunk: Chunk;
  /** Cosine, -1 to 1. */
  readonly score: number;
}

/** Files whose chunks mean what the query means, best first. Throws what `embed` throws. */
export async function byMeaning(
  embed: Embed,
  chunks: readonly Chunk[],
  query: string,
  signal: AbortSignal,
): Promise<MeaningResult[]> {
  if (chunks.length === 0) return [];
  const texts = chunks.map(({ path, lines }) => `${path}\n${lines.join('\n')}`.slice(0, MAX_CHARACTERS));
  const [wanted, ...vectors] = await embed([query, ...texts], signal);
  const best = new Map<string, MeaningResult>();
  chunks.forEach((chunk, index) => {
    const vector = vectors[index];
    if (!wanted || !vector || vector.length !== wanted.length) return;
    const score = cosine(wanted, vector);
    if (Number.isFinite(score) && score > (best.get(chunk.path)?.score ?? -Infinity))
      best.set(chunk.path, { path: chunk.path, chunk, score });
  });
  return [...best.values()]
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_FILES);
}

/** NaN when one of them has no direction. */
function cosine(a: Float32Array, b: Float32Array): number {
  let product = 0;
  let squaresA = 0;
  let squaresB = 0;
  a.forEach((x, index) => {
    const y = b[index] ?? 0;
    product += x * y;
    squaresA += x * x;
    squaresB += y * y;
  });
  return product / Math.sqrt(squaresA * squaresB);
}
