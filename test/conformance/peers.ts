import { isDeepStrictEqual } from 'node:util';
import { ResponseError } from 'vscode-jsonrpc/node';
import * as z from 'zod';
import type { ErrorCode } from '../../src/protocol/errors.js';
import { EditorPeer } from '../support/editor_peer.js';
import { RawRpc } from '../support/rpc.js';
import type { ServicePlace } from '../support/service.js';

export interface WireFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}
/** An answer as it came: nothing is checked or translated. */
export type Answer =
  | { readonly result: unknown; readonly error?: undefined }
  | { readonly result?: undefined; readonly error: WireFailure };

/** One end of a connection to the service, the same for both surfaces. */
export interface Peer {
  readonly surface: 'acp' | 'editor';
  call(method: string, params: unknown): Promise<Answer>;
  notify(method: string, params: unknown): void;
  /** Notifications of a method that arrived so far; the aster and deck families under either name. */
  heard(method: string): unknown[];
  close(): void;
}

/** `service.js acp` on stdio, by hand. */
export async function acpPeer(place: ServicePlace, ...args: string[]): Promise<Peer & { rpc: RawRpc }> {
  const child = await place.command('acp', ...args);
  const rpc = new RawRpc(child.stdout, child.stdin);
  await rpc.initialize({ session: { compaction: {}, notices: {}, configOptions: { boolean: {} } } });
  return {
    rpc,
    surface: 'acp',
    async call(method, params) {
      const { result, error } = await rpc.call(method, params);
      return error ? { error: { code: error.code, message: error.message, data: error.data } } : { result };
    },
    notify: (method, params) => rpc.notify(method, params),
    heard: (method) => [...rpc.notifications(method), ...rpc.notifications(`_${method}`)],
    close: () => child.stdin.end(),
  };
}

/** A window of the editor. */
export async function editorPeer(
  place: ServicePlace,
  client: Parameters<typeof EditorPeer.open>[1],
): Promise<Peer & { window: EditorPeer }> {
  const window = await EditorPeer.open(place, client);
  const notifications: { method: string; params: unknown }[] = [];
  window.connection.onNotification((method, params: unknown) => {
    notifications.push({ method, params });
  });
  return {
    window,
    surface: 'editor',
    async call(method, params) {
      try {
        const result: unknown = await window.connection.sendRequest(method, params);
        return { result };
      } catch (error) {
        if (!(error instanceof ResponseError)) throw error;
        const { code, message } = error;
        const data: unknown = error.data;
        return { error: { code, message, data } };
      }
    },
    notify: (method, params) => void window.connection.sendNotification(method, params),
    heard: (method) => notifications.filter((one) => one.method === method).map(({ params }) => params),
    close: () => window.close(),
  };
}

/** Numbers of the contract's table, written out here a second time on purpose. */
const numbers: Partial<Record<ErrorCode, { acp: number; editor: number }>> = {
  session_unavailable: { acp: -32002, editor: 1404 },
  invalid_params: { acp: -32602, editor: -32602 },
  cursor_invalid: { acp: -32602, editor: -32602 },
  cursor_stale: { acp: -32602, editor: -32602 },
  boundary_invalid: { acp: -32602, editor: -32602 },
  boundary_incomplete: { acp: 1409, editor: 1409 },
  cut_stale: { acp: 1409, editor: 1409 },
  workspace_mismatch: { acp: 1409, editor: 1409 },
  target_exists: { acp: 1409, editor: 1409 },
  operation_conflict: { acp: 1409, editor: 1409 },
  turn_in_progress: { acp: 1409, editor: 1409 },
  no_active_run: { acp: 1409, editor: 1409 },
  generation_stale: { acp: 1409, editor: 1409 },
  task_unavailable: { acp: -32602, editor: -32602 },
  already_resolved: { acp: 1410, editor: 1410 },
  agent_unavailable: { acp: 1503, editor: 1503 },
  agent_failed: { acp: 1502, editor: 1502 },
  not_supported: { acp: -32601, editor: -32601 },
  forbidden: { acp: 1403, editor: 1403 },
  cancelled: { acp: -32800, editor: -32800 },
};

const Data = z.looseObject({ code: z.string(), field: z.string().optional() });

/** Asserts that a call is refused with a code of the contract and its number; gives what has to be alike everywhere. */
export async function refused(
  peer: Peer,
  method: string,
  params: unknown,
  code: ErrorCode,
  field?: string,
): Promise<unknown> {
  const { error, result } = await peer.call(method, params);
  if (!error)
    throw new Error(`${peer.surface} ${method} was not refused with ${code}: ${JSON.stringify(result)}`);
  const data = Data.parse(error.data);
  const expected = numbers[code]?.[peer.surface];
  if (data.code !== code || error.code !== expected || (field !== undefined && data.field !== field))
    throw new Error(
      `${peer.surface} ${method}: expected ${code} (${String(expected)})${field === undefined ? '' : ` at ${field}`}, got ${JSON.stringify(error)}`,
    );
  if (error.message === '') throw new Error(`${method}: no sentence`);
  return { ...data, message: error.message };
}

/** The result of a call, parsed; an error is a failure. */
export async function asked<T>(
  peer: Peer,
  method: string,
  params: unknown,
  schema: z.ZodType<T>,
): Promise<T> {
  const { result, error } = await peer.call(method, params);
  if (error) throw new Error(`${peer.surface} ${method}: ${JSON.stringify(error)}`);
  return schema.parse(result);
}

/** Throws when what the surfaces gave is not the same. */
export function alike(title: string, answers: readonly unknown[]): void {
  const [first, ...others] = answers;
  for (const other of others)
    if (!isDeepStrictEqual(first, other))
      throw new Error(
        `${title}: the surfaces differ\n${JSON.stringify(first, null, 1)}\n${JSON.stringify(other, null, 1)}`,
      );
}
