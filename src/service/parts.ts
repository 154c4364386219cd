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
  list: Answers<'aster/session/list'>;
  acpList: Answers<'session/list'>;
  info: Answers<'aster/session/info'>;
  delete: Answers<'aster/session/delete'>;
  undoDelete: Answers<'deck/session/undo_delete'>;
  deleted(client: Client): ReturnType<Answers<'deck/session/deleted'>>;
  rename: Answers<'deck/session/rename'>;
  page: Answers<'aster/session/transcript/page/v1'>;
  turns: Answers<'deck/turns'>;
  forkPreview: Answers<'deck/fork/preview'>;
  fork: Answers<'aster/session/fork/prefix/v1'>;
  entryContent: Answers<'deck/entry/content'>;
  unwatch: Answers<'deck/session/unwatch'>;
  status(client: Client): ReturnType<Answers<'deck/status'>>;
  /** Throws `session_unavailable`: unknown, deleted, or out of the client's scope. */
  resolve(client: Client, sessionId: string): { readonly id: string; readonly cwd: string };
  /** All entries, ascending. */
  replay(sessionId: string): AsyncIterable<Entry[]>;
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
  interject: Answers<'aster/interject'>;
  compact: Answers<'aster/compact_conversation'>;
  interjections: Answers<'deck/interjections'>;
  discardInterjection: Answers<'deck/interjection/discard'>;
}

/** What the surfaces need of the service itself. */
export interface ServiceControl {
  /** Ends the service after the answer has gone out. */
  stopSoon(reason: string): void;
}
