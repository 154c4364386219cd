import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { ModelEndpoint } from '../../protocol/deck.js';
import { askEndpoint, EndpointError } from '../model_endpoint.js';

const TIMEOUT_MS = 20_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Texts in one request. */
const BATCH = 32;
/** Vectors that are remembered, about 4 KB each. */
const MAX_REMEMBERED = 4000;

const Answer = z.looseObject({
  data: z.array(z.looseObject({ index: z.number().int().optional(), embedding: z.array(z.number()).min(1) })),
});

/** Turns texts into vectors, one each, in their order. Throws an error that says in a sentence why it cannot. */
export type Embed = (texts: readonly string[], signal: AbortSignal) => Promise<readonly Float32Array[]>;

/** Vectors of texts from OpenAI-compatible endpoints; one that was asked for before is not asked for again. */
export class Embeddings {
  /** In the order in which they were used last. */
  private readonly known = new Map<string, Float32Array>();

  constructor(private readonly env: NodeJS.ProcessEnv) {}

  /** For one endpoint. */
  of(endpoint: ModelEndpoint): Embed {
    return async (texts, signal) => {
      const keys = texts.map((text) => keyOf(endpoint, text));
      const vectors = new Map<string, Float32Array>();
      const missing = new Map<string, string>();
      keys.forEach((key, index) => {
        const vector = this.known.get(key);
        if (vector) vectors.set(key, vector);
        else missing.set(key, texts[index] ?? '');
      });
      const wanted = [...missing];
      for (let from = 0; from < wanted.length; from += BATCH) {
        const batch = wanted.slice(from, from + BATCH);
        const answers = await this.ask(
          endpoint,
          batch.map(([, text]) => text),
          signal,
        );
        batch.forEach(([key], index) => {
          const vector = answers[index];
          if (vector) vectors.set(key, vector);
        });
      }
      for (const [key, vector] of vectors) this.remember(key, vector);
      return keys.map((key) => vectors.get(key) ?? new Float32Array());
    };
  }

  private async ask(
    endpoint: ModelEndpoint,
    input: readonly string[],
    signal: AbortSignal,
  ): Promise<Float32Array[]> {
    const { data } = await askEndpoint(
      {
        endpoint,
        path: '/embeddings',
        body: { model: endpoint.model, input, encoding_format: 'float' },
        answer: Answer,
        env: this.env,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
      },
      signal,
    );
    if (data.length !== input.length)
      throw new EndpointError(
        `The embeddings endpoint answered with ${String(data.length)} vectors for ${String(input.length)} texts.`,
      );
    const sorted = data.every(({ index }) => index !== undefined)
      ? [...data].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
      : data;
    return sorted.map(({ embedding }) => Float32Array.from(embedding));
  }

  private remember(key: string, vector: Float32Array): void {
    this.known.delete(key);
    this.known.set(key, vector);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= MAX_REMEMBERED) return;
      this.known.delete(oldest);
    }
  }
}

const keyOf = ({ url, model }: ModelEndpoint, text: string) =>
  createHash('sha256')
    .update(JSON.stringify([url, model, text]))
    .digest('base64');
