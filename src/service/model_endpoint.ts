import type * as z from 'zod';
import type { ModelEndpoint } from '../protocol/deck.js';

const MAX_REDIRECTS = 3;
/** So much of what an endpoint says of a failure is told, in characters. */
const MAX_COMPLAINT = 300;
/** A header can carry nothing else. */
const visible = /^[\x21-\x7e]+$/u;

/** An endpoint did not do what it was asked. The message is one sentence for a person and holds no key. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';
}

export interface EndpointRequest<T> {
  readonly endpoint: ModelEndpoint;
  /** Below the endpoint's URL, e.g. `/chat/completions`. */
  readonly path: string;
  readonly body: unknown;
  readonly answer: z.ZodType<T>;
  /** Environment of the service, for the key. */
  readonly env: NodeJS.ProcessEnv;
  /** For all of it, in ms. */
  readonly timeoutMs: number;
  /** Longest answer, in bytes. */
  readonly maxBytes: number;
}

/**
 * Asks an OpenAI-compatible endpoint. Throws `EndpointError`; when `signal` aborts, its reason.
 * The key is read from the environment each time and is neither stored nor logged.
 */
export async function askEndpoint<T>(request: EndpointRequest<T>, signal: AbortSignal): Promise<T> {
  const { endpoint, path, timeoutMs } = request;
  const url = urlOf(endpoint.url, path);
  const key = keyOf(endpoint, request.env);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await post(url, key, JSON.stringify(request.body), AbortSignal.any([signal, timeout]));
    const text = await readText(response, request.maxBytes, url);
    if (!response.ok) throw refused(url, response.status, text, key);
    return parse(request.answer, text, url);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EndpointError) throw error;
    if (timeout.aborted)
      throw new EndpointError(
        `The model endpoint ${url.host} did not answer within ${String(timeoutMs / 1000)} s.`,
      );
    throw new EndpointError(`The model endpoint ${url.host} cannot be reached: ${reasonOf(error)}.`);
  }
}

function urlOf(base: string, path: string): URL {
  const url = new URL(base);
  if (url.username !== '' || url.password !== '')
    throw new EndpointError(
      `The URL of the model endpoint ${url.host} holds a password. Name an environment variable for the key instead.`,
    );
  url.pathname = url.pathname.replace(/\/+$/u, '') + path;
  return url;
}

function keyOf({ apiKeyEnv }: ModelEndpoint, env: NodeJS.ProcessEnv): string | undefined {
  if (apiKeyEnv === undefined) return undefined;
  const key = env[apiKeyEnv]?.trim() ?? '';
  if (key === '')
    throw new EndpointError(
      `The environment variable ${apiKeyEnv}, which holds the key of the model endpoint, is not set for the session service.`,
    );
  if (!visible.test(key))
    throw new EndpointError(`The environment variable ${apiKeyEnv} holds no key that can be sent.`);
  return key;
}

/** Follows only redirects that keep the request as it is and stay on the same host. */
async function post(url: URL, key: string | undefined, body: string, signal: AbortSignal): Promise<Response> {
  let target = url;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const response = await fetch(target, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body,
      signal,
    });
    if (response.status < 300 || response.status > 399) return response;
    await response.body?.cancel();
    const location = response.headers.get('location');
    const next = location !== null && URL.canParse(location, target) ? new URL(location, target) : undefined;
    if (next?.origin !== url.origin || (response.status !== 307 && response.status !== 308))
      throw new EndpointError(
        `The model endpoint ${url.host} redirects elsewhere, which is not followed. Set its final URL.`,
      );
    target = next;
  }
  throw new EndpointError(`The model endpoint ${url.host} redirects without end.`);
}

async function readText(response: Response, maxBytes: number, url: URL): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the download.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new EndpointError(
        `The model endpoint ${url.host} answered with more than ${String(maxBytes)} bytes.`,
      );
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse<T>(answer: z.ZodType<T>, text: string, url: URL): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new EndpointError(`The model endpoint ${url.host} answered with something else than JSON.`);
  }
  const parsed = answer.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new EndpointError(
    `The model endpoint ${url.host} answered with JSON of another shape than OpenAI's.`,
  );
}

function refused(url: URL, status: number, text: string, key: string | undefined): EndpointError {
  const told = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  const complaint = (key === undefined ? told : told.replaceAll(key, '…')).slice(0, MAX_COMPLAINT);
  return new EndpointError(
    `The model endpoint ${url.host} answered with status ${String(status)}${complaint === '' ? '.' : `: ${complaint}`}`,
  );
}

/** What `fetch` throws says only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}
