import type * as z from 'zod';
import * as acp from './acp.js';
import * as agents from './agents.js';
import * as aster from './aster.js';
import * as deck from './deck.js';
import * as elicitation from './elicitation.js';
import * as inbox from './inbox.js';
import * as tasks from './tasks.js';

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
    acp.ControlsResult,
    'Replays a whole session as `session/update`, then answers.',
  ),
  'session/resume': request(acp.LoadParams, acp.ControlsResult, 'Attaches to a session without replay.'),
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
  'session/fork': request(
    acp.ForkHeadParams,
    acp.NewResult,
    'A new session from the last completed turn of another.',
  ),
  'session/archive': request(acp.SessionIdParams, deck.Empty, 'Closes a session and hides it from the list.'),
  'session/unarchive': request(acp.SessionIdParams, deck.Empty, 'Lists an archived session again.'),
  'session/set_title': request(
    acp.SetTitleParams,
    acp.SetTitleResult,
    'Sets the title; it is never overwritten.',
  ),
  'session/set_mode': request(acp.SetModeParams, deck.Empty, "Sets the agent's mode for a session."),
  'session/set_config_option': request(
    acp.SetConfigParams,
    acp.SetConfigResult,
    "Sets one of the agent's options for a session, the model among them.",
  ),
  'session/request_permission': {
    type: 'request',
    from: 'service',
    params: acp.PermissionParams,
    result: acp.PermissionResult,
    summary: 'Asks an ACP client; cancelled when it is answered elsewhere. Editors have `deck/inbox`.',
  },
  'elicitation/create': {
    type: 'request',
    from: 'service',
    params: elicitation.ElicitationParams,
    result: elicitation.ElicitationAnswer,
    summary: 'Asks an ACP client to show a form or an address; see `session/request_permission`.',
  },
  'elicitation/complete': announcement(
    elicitation.ElicitationComplete,
    'An address needs no visit any more. To ACP clients.',
  ),
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
  'aster/session/tooling/v1': request(
    aster.ToolingParams,
    aster.ToolingResult,
    'The tools, MCP servers, commands, modes and options of a session, of one generation.',
  ),
  'aster/session/tooling/update': announcement(aster.ToolingUpdate, 'The catalogue of a session changed.'),
  'aster/followup/generate': request(
    aster.FollowupParams,
    aster.FollowupResult,
    'Suggestions for the next prompt; none when no model is at hand.',
  ),
  'aster/session/background-tasks/v1': request(
    aster.BackgroundTasksParams,
    aster.BackgroundTasksResult,
    'Sub-agents, commands and jobs of a session.',
  ),
  'aster/session/background-tasks/stop/v1': request(
    aster.StopTaskParams,
    aster.StopTaskResult,
    'Ends a background task and its whole process tree.',
  ),
  'aster/subagent/cancel': request(
    aster.CancelSubagentParams,
    aster.CancelSubagentResult,
    'Cancels a sub-agent.',
  ),
  'aster/workspace/search/v1': request(
    aster.WorkspaceSearchParams,
    aster.WorkspaceSearchResult,
    'Finds places in the working directory by words, names and meaning.',
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
  'workspace/textDocumentContent': request(
    deck.TextContentParams,
    deck.TextContentResult,
    'A transcript as Markdown, for read-only documents. For editors only.',
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
  'deck/session/open': request(
    deck.OpenSessionParams,
    deck.OpenSessionResult,
    'Opens a session in its agent without a prompt.',
  ),
  'deck/session/family': request(deck.FamilyParams, deck.FamilyResult, 'The fork family of a session.'),
  'deck/inbox': request(inbox.InboxParams, inbox.InboxResult, 'Everything that waits for a person.'),
  'deck/inbox/changed': announcement(inbox.InboxChanged, 'Items of the inbox came or went.'),
  'deck/inbox/answer': request(
    inbox.InboxAnswerParams,
    deck.Empty,
    'Answers an item; the first answer wins.',
  ),
  'deck/tasks': request(tasks.TasksParams, tasks.TasksResult, 'Background tasks of all sessions in scope.'),
  'deck/tasks/changed': announcement(tasks.TasksChanged, 'Background tasks changed.'),
  'deck/agents': request(
    agents.AgentsParams,
    agents.AgentsResult,
    'Agents that are configured, and known ones with whether they are installed.',
  ),
  'deck/agent/details': request(
    agents.AgentParams,
    agents.AgentDetails,
    'Starts an agent and tells what it announces.',
  ),
  'deck/agent/authenticate': request(agents.AuthenticateParams, deck.Empty, 'Signs in to an agent.'),
  'deck/agent/discover': request(
    agents.AgentParams,
    agents.DiscoverResult,
    'Asks an agent for its sessions and lists those that were not known.',
  ),
  'deck/model/complete': {
    type: 'request',
    from: 'service',
    params: deck.CompleteParams,
    result: deck.CompleteResult,
    summary: "Asks the window's own language model to do a small job.",
  },
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
