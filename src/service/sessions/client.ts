import type * as z from 'zod';
import type { ClientOptions } from '../../protocol/deck.js';
import type { Methods, ServiceNotification } from '../../protocol/methods.js';

/** What a peer can be asked. An editor answers questions through its inbox, so it is not asked for them. */
export interface ClientAbilities {
  /** ACP `session/request_permission`. */
  readonly permission: boolean;
  /** ACP `elicitation/create`, mode `form`. */
  readonly form: boolean;
  /** ACP `elicitation/create`, mode `url`. */
  readonly url: boolean;
  readonly readTextFile: boolean;
  readonly writeTextFile: boolean;
  /** ACP `terminal/*`. */
  readonly terminal: boolean;
  /** `deck/model/complete`. */
  readonly model: boolean;
}

/** One attached peer, as the rules see it: an editor window or an ACP client. Implemented by the surfaces. */
export interface Client {
  readonly id: string;
  readonly surface: 'editor' | 'acp';
  /** Scope, trust and settings; replaced by `deck/configure`. */
  readonly options: ClientOptions;
  readonly abilities: ClientAbilities;
  /** False once the peer has gone. */
  readonly connected: boolean;
  /** Sends a notification of the aster or deck family; never throws. */
  notify<M extends ServiceNotification>(method: M, params: z.output<Methods[M]['params']>): void;
  /** Sends an ACP `session/update` as the agent gave it; the editor surface ignores it. */
  sessionUpdate(sessionId: string, update: Record<string, unknown>): void;
  /**
   * Sends a request to the peer and gives its answer unparsed. Rejects when the peer answers with an error or has gone;
   * `signal` takes the request back.
   */
  ask(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
}

/** The peers that are attached now. */
export interface Clients extends Iterable<Client> {
  readonly size: number;
  onAttach(listener: (client: Client) => void): void;
  onDetach(listener: (client: Client) => void): void;
}
