import type * as z from 'zod';
import type { PermissionParams, PermissionResult } from '../../protocol/acp.js';
import type { ClientOptions } from '../../protocol/deck.js';
import type { Methods, ServiceNotification } from '../../protocol/methods.js';

/** One attached peer, as the rules see it: an editor window or an ACP client. Implemented by the surfaces. */
export interface Client {
  readonly id: string;
  readonly surface: 'editor' | 'acp';
  /** Scope, trust and settings; replaced by `deck/configure`. */
  readonly options: ClientOptions;
  /** False once the peer has gone. */
  readonly connected: boolean;
  /** Sends a notification of the aster or deck family; never throws. */
  notify<M extends ServiceNotification>(method: M, params: z.output<Methods[M]['params']>): void;
  /** Sends an ACP `session/update` as the agent gave it; the editor surface ignores it. */
  sessionUpdate(sessionId: string, update: Record<string, unknown>): void;
  /** Asks the person. Rejects when the peer cannot answer or has gone; `signal` says that it was answered elsewhere. */
  requestPermission(params: PermissionParams, signal: AbortSignal): Promise<PermissionResult>;
}

/** The peers that are attached now. */
export interface Clients extends Iterable<Client> {
  readonly size: number;
  onAttach(listener: (client: Client) => void): void;
  onDetach(listener: (client: Client) => void): void;
}
