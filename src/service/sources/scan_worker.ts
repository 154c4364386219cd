import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import * as z from 'zod';
import { createSources } from './index.js';
import { PART, ScanRequest, type ScanReply } from './scan_wire.js';
import type { Scan, Source } from './source.js';

/** What a scan worker is started with. `role` tells the program's entry which of its roles to take. */
export const ScanWorkerData = z.object({
  role: z.literal('scan'),
  env: z.record(z.string(), z.string().optional()),
});

/** True in a thread that was started to scan: the program's entry then calls `runScanWorker` and nothing else. */
export function isScanWorker(): boolean {
  return ScanWorkerData.safeParse(workerData).success;
}

/** Serves scans in this worker thread until it is ended. */
export function runScanWorker(): void {
  const port = parentPort;
  if (!port) throw new Error('runScanWorker runs in a worker thread');
  const sources = createSources(ScanWorkerData.parse(workerData).env);
  const running = new Map<number, AbortController>();
  port.on('message', (message: unknown) => {
    const request = ScanRequest.parse(message);
    if (request.do === 'cancel') {
      running.get(request.id)?.abort();
      return;
    }
    const abort = new AbortController();
    running.set(request.id, abort);
    void serve(port, sources, request, abort.signal).finally(() => running.delete(request.id));
  });
}

type Much = 'entries' | 'turns' | 'usage';
/** A `ScanReply` before it is sent. */
type Sent =
  | ({ readonly is: 'part'; readonly id: number } & Pick<Scan, Much>)
  | { readonly is: 'done'; readonly id: number; readonly rest: Omit<Scan, Much> }
  | Extract<ScanReply, { is: 'failed' }>;

async function serve(
  port: MessagePort,
  sources: readonly Source[],
  request: Extract<ScanRequest, { do: 'scan' }>,
  signal: AbortSignal,
): Promise<void> {
  const { id, kind, path, from, state } = request;
  const send = (reply: Sent) => port.postMessage(reply);
  try {
    const source = sources.find((one) => one.kind === kind);
    if (!source) throw new Error(`no source of kind ${kind}`);
    const { entries, turns, usage, ...rest } = await source.scan(path, from, state, signal);
    const most = Math.max(entries.length, turns.length, usage.length);
    for (let at = 0; at < most; at += PART) {
      signal.throwIfAborted();
      const end = at + PART;
      send({
        is: 'part',
        id,
        entries: entries.slice(at, end),
        turns: turns.slice(at, end),
        usage: usage.slice(at, end),
      });
      await setImmediate();
    }
    send({ is: 'done', id, rest });
  } catch (error) {
    const known = error instanceof Error ? error : new Error(String(error));
    send({ is: 'failed', id, name: known.name, message: known.message });
  }
}
