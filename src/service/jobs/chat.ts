import * as z from 'zod';
import type { ModelEndpoint } from '../../protocol/deck.js';
import { askEndpoint, EndpointError } from '../model_endpoint.js';

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 1024 * 1024;

const Part = z.looseObject({ text: z.string().optional() });
const Answer = z.looseObject({
  choices: z
    .array(
      z.looseObject({ message: z.looseObject({ content: z.union([z.string(), z.array(Part)]).nullish() }) }),
    )
    .min(1),
});

/** One prompt and how long its answer may get. */
export interface Completion {
  readonly prompt: string;
  readonly maxOutputTokens: number;
}

/** Has an OpenAI-compatible endpoint answer one prompt. Throws `EndpointError`, or the reason of `signal`. */
export async function chat(
  endpoint: ModelEndpoint,
  { prompt, maxOutputTokens }: Completion,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string> {
  const ask = (limit: Record<string, number>) =>
    askEndpoint(
      {
        endpoint,
        path: '/chat/completions',
        body: {
          model: endpoint.model,
          messages: [{ role: 'user', content: prompt }],
          stream: false,
          ...limit,
        },
        answer: Answer,
        env,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
      },
      signal,
    );
  const { choices } = await ask({ max_tokens: maxOutputTokens }).catch((error: unknown) => {
    // Newer models of OpenAI's know the limit by another name only; all others by this one.
    if (error instanceof EndpointError && error.message.includes('max_completion_tokens'))
      return ask({ max_completion_tokens: maxOutputTokens });
    throw error;
  });
  const content = choices[0]?.message.content ?? '';
  const text = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
  if (text.trim() === '')
    throw new EndpointError(`The model endpoint ${new URL(endpoint.url).host} answered without text.`);
  return text;
}
