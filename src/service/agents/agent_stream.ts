import type { Readable, Writable } from 'node:stream';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { readLines } from '../lines.js';

/** A longer line is skipped; the protocol's own default is the same. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** The envelope of a JSON-RPC message; everything in it stays as it came. */
const Envelope = z.custom<AnyMessage>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const UpdateMessage = z.object({ method: z.literal('session/update'), params: z.unknown().optional() });

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

function parseMessage(line: Uint8Array): AnyMessage | undefined {
  try {
    const parsed = Envelope.safeParse(JSON.parse(new TextDecoder().decode(line)));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
