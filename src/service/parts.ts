import type { ClientRequest, Params, Result } from '../protocol/methods.js';
import type { Entry } from '../protocol/entry.js';
import type { Client } from './sessions/client.js';

/** How a part of the service answers a method. */
type Answers<M extends ClientRequest> = (
  client: Client,
  params: Params<M>,
  signal: AbortSignal,
) => Promise<Result<M>> | Result<M>;

/** What the surfaces need of the sessions. */
export interface SessionRules {
  /** Waits a little until the sources were looked at once; false when that is so already. */
  firstLook(): Promise<boolean>;
  list: Answers<'aster/session/list'>;
  acpList: Answers<'session/list'>;
  info: Answers<'aster/session/info'>;
  delete: Answers<'aster/session/delete'>;
  undoDelete: Answers<'deck/session/undo_delete'>;
  deleted(client: Client): ReturnType<Answers<'deck/session/deleted'>>;
  rename: Answers<'deck/session/rename'>;
  page: Answers<'aster/session/transcript/page/v1'>;
  turns: Answers<'deck/turns'>;
  text: Answers<'workspace/textDocumentContent'>;
  forkPreview: Answers<'deck/fork/preview'>;
  fork: Answers<'aster/session/fork/prefix/v1'>;
  entryContent: Answers<'deck/entry/content'>;
  unwatch: Answers<'deck/session/unwatch'>;
  status(client: Client): ReturnType<Answers<'deck/status'>>;
  /** `session/fork`: a new session from the last completed turn. */
  forkHead: Answers<'session/fork'>;
  family: Answers<'deck/session/family'>;
  setTitle: Answers<'session/set_title'>;
  /** `session/archive` and `session/unarchive`. */
  archive(
    client: Client,
    params: Params<'session/archive'>,
    archived: boolean,
  ): ReturnType<Answers<'session/archive'>>;
  /** Throws `session_unavailable`: unknown, deleted, or out of the client's scope. */
  resolve(client: Client, sessionId: string): { readonly id: string; readonly cwd: string };
  /** All entries, ascending. `atEnd` is called at the moment up to which everything is part of it. */
  replay(sessionId: string, atEnd?: () => void): AsyncIterable<Entry[]>;
}

/** What the surfaces need of the runs. */
export interface RunRules {
  readonly activeCount: number;
  newSession: Answers<'session/new'>;
  load: Answers<'session/load'>;
  resume: Answers<'session/resume'>;
  prompt: Answers<'session/prompt'>;
  cancel(client: Client, params: Params<'session/cancel'>): Promise<void> | void;
  close: Answers<'session/close'>;
  /** The client has opened the session: it hears of it from now on. Returns the `session/update`s that hold now. */
  attend(client: Client, params: Params<'session/close'>): Record<string, unknown>[];
  interject: Answers<'aster/interject'>;
  compact: Answers<'aster/compact_conversation'>;
  interjections: Answers<'deck/interjections'>;
  discardInterjection: Answers<'deck/interjection/discard'>;
}

/** What a person can choose in the agent of a session. */
export interface ControlRules {
  tooling: Answers<'aster/session/tooling/v1'>;
  open: Answers<'deck/session/open'>;
  setMode: Answers<'session/set_mode'>;
  setConfigOption: Answers<'session/set_config_option'>;
}

/** What waits for a person. */
export interface InboxRules {
  list: Answers<'deck/inbox'>;
  answer: Answers<'deck/inbox/answer'>;
}

/** Background tasks. */
export interface TaskRules {
  /** Those that run now. */
  readonly activeCount: number;
  ofSession: Answers<'aster/session/background-tasks/v1'>;
  stop: Answers<'aster/session/background-tasks/stop/v1'>;
  cancelSubagent: Answers<'aster/subagent/cancel'>;
  list: Answers<'deck/tasks'>;
}

/** The agents themselves. */
export interface AgentRules {
  list: Answers<'deck/agents'>;
  details: Answers<'deck/agent/details'>;
  authenticate: Answers<'deck/agent/authenticate'>;
  discover: Answers<'deck/agent/discover'>;
}

/** Small jobs for a model. */
export interface JobRules {
  followups: Answers<'aster/followup/generate'>;
}

export interface SearchRules {
  workspace: Answers<'aster/workspace/search/v1'>;
}

/** All the rules that answer methods. */
export interface Rules {
  readonly sessions: SessionRules;
  readonly runs: RunRules;
  readonly controls: ControlRules;
  readonly inbox: InboxRules;
  readonly tasks: TaskRules;
  readonly agents: AgentRules;
  readonly jobs: JobRules;
  readonly search: SearchRules;
}

/** What the surfaces need of the service itself. */
export interface ServiceControl {
  /** Ends the service after the answer has gone out. */
  stopSoon(reason: string): void;
}
