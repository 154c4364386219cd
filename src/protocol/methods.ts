import type * as z from 'zod';
import * as acp from './acp.js';
import * as aster from './aster.js';
import * as deck from './deck.js';

export interface Method {
  /** `request` is answered; `notification` is not. */
  readonly type: 'request' | 'notification';
  /** Who sends it. */
  readonly from: 'client' | 'service';
  readonly params: z.ZodType;
  readonly result?: z.ZodType;
  /** One sentence for docs/protocol.md. */
  readonly summary: string;
}

const request = <P extends z.ZodType, R extends z.ZodType>(params: P, result: R, summary: string) =>
  ({ type: 'request', from: 'client', params, result, summary }) as const;
const announcement = <P extends z.ZodType>(params: P, summary: string) =>
  ({ type: 'notification', from: 'service', params, summary }) as const;

/** Every method that both ends know beyond `initialize`. docs/protocol.md is checked against this table. */
export const methods = {
  'session/list': request(
    acp.AcpListParams,
    acp.AcpListResult,
    "Lists sessions in scope in the protocol's own shape.",
  ),
  'session/delete': request(
    acp.SessionIdParams,
    deck.Empty,
    'Deletes a session; an unknown id succeeds silently.',
  ),
  'session/new': request(acp.NewParams, acp.NewResult, 'Starts a session with a configured agent.'),
  'session/load': request(
    acp.LoadParams,
    deck.Empty,
    'Replays a whole session as `session/update`, then answers.',
  ),
  'session/resume': request(acp.LoadParams, deck.Empty, 'Attaches to a session without replay.'),
  'session/prompt': request(acp.PromptParams, acp.PromptResult, 'Runs a turn; answers when it ends.'),
  'session/cancel': {
    type: 'notification',
    from: 'client',
    params: acp.SessionIdParams,
    summary: 'Cancels the active run of a session.',
  },
  'session/close': request(
    acp.SessionIdParams,
    deck.Empty,
    'Cancels the run and frees what the session holds.',
  ),
  'session/request_permission': {
    type: 'request',
    from: 'service',
    params: acp.PermissionParams,
    result: acp.PermissionResult,
    summary: 'Asks the person; cancelled when it is answered elsewhere.',
  },
  'aster/session/list': request(aster.ListParams, aster.ListResult, 'Lists sessions in scope, newest first.'),
  'aster/session/info': request(aster.InfoParams, aster.InfoResult, 'Everything known about one session.'),
  'aster/session/delete': request(
    aster.DeleteParams,
    aster.DeleteResult,
    'Deletes a session; it can be undone.',
  ),
  'aster/session/transcript/page/v1': request(
    aster.PageParams,
    aster.PageResult,
    'One page of a transcript; the caller then receives its updates.',
  ),
  'aster/session/transcript/update/v1': announcement(
    aster.TranscriptUpdate,
    'Entries that were appended or replaced.',
  ),
  'aster/session/fork/prefix/v1': request(
    aster.ForkParams,
    aster.ForkResult,
    'A new session from all entries up to a completed boundary.',
  ),
  'aster/interject': request(aster.InterjectParams, aster.InterjectResult, 'Adds text to the active run.'),
  'aster/compact_conversation': request(
    aster.CompactParams,
    aster.CompactResult,
    "Replaces the model's context by a summary; the transcript keeps everything.",
  ),
  'deck/status': request(deck.StatusParams, deck.Status, 'What the service is doing.'),
  'deck/status/update': announcement(deck.Status, 'The status changed; at most four a second.'),
  'deck/configure': request(deck.ClientOptions, deck.Empty, 'Replaces the options of this connection.'),
  'deck/sessions/changed': announcement(deck.SessionsChanged, 'Rows of the list changed.'),
  'deck/session/rename': request(
    deck.RenameParams,
    aster.InfoResult,
    'Sets the title; it is never overwritten.',
  ),
  'deck/session/undo_delete': request(
    deck.UndoDeleteParams,
    aster.InfoResult,
    'Brings a deleted session back.',
  ),
  'deck/session/deleted': request(
    deck.DeletedParams,
    deck.DeletedResult,
    'Deleted sessions that can come back.',
  ),
  'deck/session/unwatch': request(
    deck.UnwatchParams,
    deck.Empty,
    'Ends the transcript updates of a session.',
  ),
  'deck/entry/content': request(
    deck.EntryContentParams,
    deck.EntryContentResult,
    'Reads content that was cut.',
  ),
  'deck/turns': request(deck.TurnsParams, deck.TurnsResult, 'The turns of a session, for outline and fork.'),
  'deck/fork/preview': request(
    deck.ForkPreviewParams,
    deck.ForkPreviewResult,
    'What a fork at a boundary would keep, and which files changed since.',
  ),
  'deck/interjections': request(
    deck.InterjectionsParams,
    deck.InterjectionsResult,
    'Interjections of a session that are waiting or were handed back.',
  ),
  'deck/interjection/discard': request(
    deck.DiscardInterjectionParams,
    deck.Empty,
    'Takes a queued or returned interjection back.',
  ),
  'deck/interjection/update': announcement(deck.Interjection, 'An interjection changed its state.'),
  'deck/service/stop': request(deck.StopServiceParams, deck.StopServiceResult, 'Ends the service.'),
} satisfies Record<string, Method>;

export type Methods = typeof methods;
export type MethodName = keyof Methods;
type Named<F> = { [M in MethodName]: Methods[M] extends F ? M : never }[MethodName];
/** Requests that a client may send. */
export type ClientRequest = Named<{ type: 'request'; from: 'client' }>;
/** Notifications that the service sends. */
export type ServiceNotification = Named<{ type: 'notification'; from: 'service' }>;
export type Params<M extends MethodName> = z.output<Methods[M]['params']>;
export type ParamsInput<M extends MethodName> = z.input<Methods[M]['params']>;
export type Result<M extends ClientRequest> = z.output<Methods[M]['result']>;
