import type { Readable, Writable } from 'node:stream';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import * as z from 'zod';

/** A longer line is skipped; the protocol's own default is the same. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The envelope of a JSON-RPC message; everything in it stays as it came. */
const Envelope = z.custom<AnyMessage>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const UpdateMessage = z.object({ method: z.literal('session/update'), params: z.unknown() });

export interface AgentStreamEvents {
  /**
   * A `session/update`, taken out of the stream before the SDK sees it: the SDK refuses kinds that it does not know,
   * and handles notifications so late that the answer of the turn can overtake them.
   */
  update(params: unknown): void;
  /** A line that is no message. `bytes` is its length. */
  garbage(bytes: number): void;
}

/**
 * Frames JSON-RPC as one object a line. Reads only as fast as the reader asks, so a flooding agent is slowed down by
 * its own full pipe. Lines that are no JSON object are counted and skipped.
 */
export function agentStream(
  stdin: Writable,
  stdout: Readable,
  events: AgentStreamEvents,
  maxLineBytes = MAX_LINE_BYTES,
): Stream {
  const messages = readMessages(stdout, events, maxLineBytes);
  return {
    readable: new ReadableStream<AnyMessage>(
      {
        async pull(controller) {
          const next = await messages.next();
          if (next.done === true) controller.close();
          else controller.enqueue(next.value);
        },
        async cancel() {
          await messages.return(undefined);
        },
      },
      { highWaterMark: 0 },
    ),
    writable: new WritableStream<AnyMessage>({
      write: (message) =>
        new Promise((resolve, reject) => {
          stdin.write(`${JSON.stringify(message)}\n`, (error) => {
            if (error) reject(error);
            else resolve();
          });
        }),
    }),
  };
}

async function* readMessages(
  stdout: Readable,
  events: AgentStreamEvents,
  maxLineBytes: number,
): AsyncGenerator<AnyMessage, undefined> {
  for await (const line of readLines(stdout, maxLineBytes)) {
    const message = line instanceof Uint8Array ? parseMessage(line) : undefined;
    if (message === undefined) {
      events.garbage(line instanceof Uint8Array ? line.length : line);
      continue;
    }
    const update = UpdateMessage.safeParse(message);
    if (update.success) events.update(update.data.params);
    else yield message;
  }
  return undefined;
}

/** Yields each line's bytes, or the length of a line that was too long to keep. */
async function* readLines(stdout: Readable, maxLineBytes: number): AsyncGenerator<Buffer | number> {
  let parts: Buffer[] = [];
  let length = 0;
  const chunks: AsyncIterable<unknown> = stdout;
  for await (const chunk of chunks) {
    if (!Buffer.isBuffer(chunk)) throw new Error('the agent stream must be read as bytes');
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      length += end - start;
      parts.push(chunk.subarray(start, end));
      if (length > maxLineBytes) yield length;
      else if (length > 0) yield Buffer.concat(parts);
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) {
      length += chunk.length - start;
      if (length > maxLineBytes) parts = [];
      else parts.push(chunk.subarray(start));
    }
  }
  if (length > 0) yield length > maxLineBytes ? length : Buffer.concat(parts);
}

function parseMessage(line: Uint8Array): AnyMessage | undefined {
  try {
    const parsed = Envelope.safeParse(JSON.parse(new TextDecoder().decode(line)));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
