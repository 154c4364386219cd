import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type * as z from 'zod';
import type {
  AcpListParams,
  AcpListResult,
  ForkHeadParams,
  NewResult,
  SessionIdParams,
  SetTitleParams,
} from '../../protocol/acp.js';
import type {
  DeleteParams,
  DeleteResult,
  ForkParams,
  ForkResult,
  InfoParams,
  ListParams,
  ListResult,
  PageParams,
  PageResult,
} from '../../protocol/aster.js';
import type {
  DeletedResult,
  EntryContentParams,
  EntryContentResult,
  FamilyParams,
  FamilyResult,
  ForkPreviewParams,
  ForkPreviewResult,
  RenameParams,
  Status,
  TextContentParams,
  TurnsParams,
  TurnsResult,
  UndoDeleteParams,
} from '../../protocol/deck.js';
import type { Entry } from '../../protocol/entry.js';
import { unlessAborted } from '../abort.js';
import { GarbageCollection } from '../garbage.js';
import type { Log } from '../log.js';
import type { Scanner } from '../sources/scanner.js';
import type { Source } from '../sources/source.js';
import { SourceWatcher } from '../sources/watch.js';
import type { Store } from '../store/store.js';
import { AgentLists } from './agent_list.js';
import { setArchived } from './archive.js';
import { Book } from './book.js';
import { Catalogue } from './catalogue.js';
import { Changes } from './changes.js';
import type { Client, Clients } from './client.js';
import { Contents } from './contents.js';
import { Cursors } from './cursor.js';
import type { SessionData } from './data.js';
import { Deletions } from './delete.js';
import { family } from './family.js';
import { Files } from './files.js';
import { Forks } from './fork.js';
import { type ForkPoint, forkPoint } from './fork_point.js';
import { Imported, isUnread } from './imported.js';
import { HiddenSessions } from './hidden.js';
import { IndexWriter } from './index_writer.js';
import { Indexer } from './indexer.js';
import { type Details, info } from './info.js';
import { lastTurn, type TurnTexts } from './last_turn.js';
import { acpList, list } from './list.js';
import { type NewSession, OwnSessions, type SessionChanges } from './own_sessions.js';
import { Moves } from './moves.js';
import { Operations } from './operations.js';
import { Pages } from './page.js';
import { Reader } from './reader.js';
import type { SessionRecord } from './record.js';
import { Renderer } from './render.js';
import type { RunControl } from './run_control.js';
import { Shelf } from './shelf.js';
import { statusOf } from './status.js';
import { parseTextUri, transcriptText } from './text.js';
import { titleFromPerson } from './titles.js';
import { Tombstones } from './tombstones.js';
import type { TranscriptWriter } from './transcript.js';
import { Transcripts } from './transcripts.js';
import { Trash } from './trash.js';
import { requireTrustForServers } from './trust.js';
import { turns } from './turns.js';
import { Watchers } from './watchers.js';

/** A first list waits at most this long for the first look at the sources; what comes later is announced. In ms. */
const LIST_WAIT_MS = 3_000;
/** How long after a look that failed there is another one, in ms. */
const LOOK_AGAIN_MS = 5_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const SECRET = 'cursor-secret';

export interface SessionsParts {
  readonly store: Pick<Store, 'records' | 'dir' | 'mode' | 'freeBallast'>;
  readonly sources: readonly Source[];
  readonly scanner: Scanner;
  readonly clients: Clients;
  readonly runs: () => RunControl;
  readonly log: Log;
  /** Of this service, semver. */
  readonly version?: string;
  /** Transcripts are being read in the background until `over`. */
  readonly onIndexing?: (over: Promise<void>) => void;
}

/** The rules of sessions, for surfaces and runs. Each rule is in a module of its own; this one puts them together. */
export class Sessions {
  /** The list is complete from the heads of the files. Never rejects. */
  readonly ready: Promise<void>;
  /** Appends to transcripts of our own. */
  readonly writer: TranscriptWriter;
  /** Merges what agents list with what is known. */
  readonly agentLists: AgentLists;
  private settleReady: () => void = () => undefined;
  private listReady = false;
  /** The store knew sessions when it was opened. */
  private readonly hadSessions: boolean;
  private readonly data: SessionData;
  private readonly shelf: Shelf;
  private readonly files: Files;
  private readonly indexer: Indexer;
  private readonly catalogue: Catalogue;
  private readonly reader: Reader;
  private readonly hidden: HiddenSessions;
  private readonly cursors: Cursors;
  private readonly watchers: Watchers;
  private readonly changes: Changes;
  private readonly pages: Pages;
  private readonly contents: Contents;
  private readonly operations: Operations;
  private readonly own: OwnSessions;
  private readonly forks: Forks;
  private readonly deletions: Deletions;
  private watcher: SourceWatcher | undefined;
  private readonly garbage = new GarbageCollection();
  private daily: NodeJS.Timeout | undefined;
  private lookAgain: NodeJS.Timeout | undefined;
  private readonly background = new Set<Promise<void>>();

  constructor(private readonly parts: SessionsParts) {
    const { store, sources, scanner, clients, runs, log } = parts;
    this.ready = new Promise((resolve) => (this.settleReady = resolve));
    const data: SessionData = store.records;
    const shelf = new Shelf(new Book(), data);
    const files = new Files(data, (id) => shelf.book.get(id) !== undefined);
    const watchers = new Watchers(
      clients,
      (id, ids) => this.reader.byIds(id, ids),
      (client, id) => shelf.sees(client, id),
      log,
    );
    const publish = watchers.publish.bind(watchers);
    const renderer = new Renderer(
      sources,
      (record) => files.holding(record),
      (path) => void this.indexer.recheck(path),
    );
    this.data = data;
    this.hadSessions = shelf.book.all().length > 0;
    this.shelf = shelf;
    this.files = files;
    this.watchers = watchers;
    this.indexer = new Indexer({
      files,
      shelf,
      scanner,
      writer: new IndexWriter(data, shelf, publish),
      log,
      readOnly: store.mode.readOnly,
      onProgress: () => {
        this.changes.markStatus();
        if (!this.indexer.isActive) this.garbage.soon();
      },
      onBegin: (over) => parts.onIndexing?.(over),
    });
    const moves = new Moves();
    this.hidden = new HiddenSessions(data);
    this.catalogue = new Catalogue({
      data,
      files,
      shelf,
      sources,
      indexer: this.indexer,
      moves,
      hidden: this.hidden,
      log,
    });
    this.reader = new Reader(data, shelf, files, this.indexer, renderer);
    this.cursors = new Cursors(secretOf(data, store.mode.readOnly));
    this.changes = new Changes(shelf.book, clients, (client) => this.status(client));
    shelf.onChange((id, before, quiet) => {
      this.changes.mark(id, before, quiet);
      if (before?.state !== shelf.book.get(id)?.state) this.changes.markStatus();
    });
    this.writer = new Transcripts(data, shelf, publish);
    this.pages = new Pages(data, shelf, this.reader, this.cursors, watchers);
    this.contents = new Contents(data, this.reader);
    this.operations = new Operations(data);
    this.agentLists = new AgentLists(shelf, new Tombstones(data));
    this.own = new OwnSessions({
      data,
      shelf,
      files,
      hidden: this.hidden,
      agentLists: this.agentLists,
      onGone: (id) => {
        watchers.forget(id);
        this.follow(this.maintain());
      },
    });
    this.forks = new Forks({ data, shelf, reader: this.reader, operations: this.operations });
    this.deletions = new Deletions({
      data,
      shelf,
      files,
      sources,
      trash: new Trash(join(store.dir, 'trash')),
      moves,
      runs,
      log,
      makeRoom: () => store.freeBallast(),
      onGone: (id) => watchers.forget(id),
      onBack: () => this.look(),
      onFinal: (record) => this.agentLists.bury(record),
    });
  }

  /** Looks at the sources and indexes them in the background, and follows their files from then on. */
  start(): void {
    const { log, store } = this.parts;
    void this.begin()
      .catch((error: unknown) => log.error('the first look at the sources failed', error))
      .finally(() => {
        this.listReady = true;
        this.settleReady();
        this.changes.markStatus();
      });
    if (store.mode.readOnly) return;
    this.daily = setInterval(() => this.follow(this.maintain()), DAY_MS);
    this.daily.unref();
  }

  private async begin(): Promise<void> {
    const { sources, store } = this.parts;
    // What cannot be kept cannot be listed either: a store that is read-only shows what it has.
    if (store.mode.readOnly) return;
    await this.deletions.recover();
    await this.forks.recover();
    this.watcher = new SourceWatcher({
      changed: (paths) => this.follow(this.untilDone(this.catalogue.changed(paths))),
      rescan: () => this.look(),
    });
    const watching = this.watcher.start(sources.flatMap((source) => source.roots()));
    await this.untilDone(this.catalogue.look());
    // What came after the look and before its folder was watched is seen by another one.
    this.follow(watching.then(() => this.catalogue.look()));
    await this.maintain();
  }

  private look(): void {
    this.follow(this.untilDone(this.catalogue.look()));
  }

  /** What a look found and could not be stored, e.g. on a full disk, is found by another one. */
  private async untilDone(look: Promise<void>): Promise<void> {
    try {
      await look;
    } catch (error) {
      clearTimeout(this.lookAgain);
      this.lookAgain = setTimeout(() => this.look(), LOOK_AGAIN_MS).unref();
      throw error;
    }
  }

  /** Lets work go on in the background; the end of the service waits for it. */
  private follow(work: Promise<void>): void {
    const settled = work
      .catch((error: unknown) => this.parts.log.error('work in the background failed', error))
      .finally(() => this.background.delete(settled));
    this.background.add(settled);
  }

  private async maintain(): Promise<void> {
    try {
      this.operations.purge();
      await this.deletions.purge();
    } catch (error) {
      this.parts.log.error('could not clean up', error);
    }
  }

  /** Ends all background work. The store can be closed afterwards. */
  async stop(): Promise<void> {
    clearInterval(this.daily);
    clearTimeout(this.lookAgain);
    this.watcher?.close();
    this.changes.stop();
    this.garbage.stop();
    await this.catalogue.stop();
    await this.indexer.stop();
    await Promise.all(this.background);
    await this.watchers.flushed();
  }

  /** Resolves when all files are in the index. For tests and measurements. */
  async indexed(): Promise<void> {
    await this.ready;
    await this.indexer.idle();
  }

  async list(client: Client, params: ListParams): Promise<ListResult> {
    // An editor is told what the first look changes in what was known; others would have to ask again.
    if (client.surface !== 'editor' || !this.hadSessions) await this.listable();
    return list(this.shelf.book, this.cursors, client, params);
  }

  async acpList(client: Client, params: AcpListParams): Promise<AcpListResult> {
    await this.listable();
    return acpList(this.shelf.book, this.cursors, client, params);
  }

  info(client: Client, params: InfoParams): Details {
    return this.details(client, this.resolve(client, params.sessionId, params.cwd));
  }

  delete(client: Client, params: DeleteParams): Promise<z.infer<typeof DeleteResult>> {
    return this.deletions.delete(client, params);
  }

  async undoDelete(client: Client, params: UndoDeleteParams): Promise<Details> {
    return this.details(client, await this.deletions.undo(client, params.sessionId));
  }

  deleted(client: Client): z.infer<typeof DeletedResult> {
    return this.deletions.list(client);
  }

  /** Throws `invalid_params` for a title that is blank or too long. */
  rename(client: Client, params: RenameParams): Details {
    const record = this.resolve(client, params.sessionId);
    const text = titleFromPerson(params.title);
    this.shelf.save({ ...record, title: { text, by: 'user' } });
    return this.details(client, this.shelf.current(record.id));
  }

  /** `session/fork`: a new session from the last completed turn. Nothing is replayed, and nothing launched. */
  async forkHead(client: Client, params: ForkHeadParams, signal: AbortSignal): Promise<NewResult> {
    const parent = await this.readable(client, params.sessionId, params.cwd, signal);
    requireTrustForServers(client, params.mcpServers);
    const fork = await this.forks.head(client, params, signal);
    const controls = this.parts.runs().forked(parent, fork, params.mcpServers);
    return { sessionId: fork.id, ...controls };
  }

  /** Where a fork branched off; undefined when its agent cannot know. */
  forkPoint(sessionId: string): Promise<ForkPoint | undefined> {
    return forkPoint({ shelf: this.shelf, data: this.data, reader: this.reader }, sessionId);
  }

  family(client: Client, params: FamilyParams): FamilyResult {
    return family(this.shelf, client, params);
  }

  setTitle(client: Client, params: SetTitleParams): { title: string } {
    const { title } = this.rename(client, params);
    return { title: title ?? '' };
  }

  /** Closes a session and hides it from the list, or lists it again. */
  async archive(client: Client, params: SessionIdParams, archived: boolean): Promise<Record<string, never>> {
    const record = this.resolve(client, params.sessionId);
    await setArchived({ shelf: this.shelf, runs: this.parts.runs() }, record, archived);
    return {};
  }

  async page(client: Client, params: PageParams, signal: AbortSignal): Promise<PageResult> {
    await this.readable(client, params.sessionId, params.cwd, signal);
    return this.pages.page(client, params, signal);
  }

  async turns(client: Client, params: TurnsParams): Promise<z.infer<typeof TurnsResult>> {
    await this.reader.freshen(await this.readable(client, params.sessionId));
    return turns(this.data, this.resolve(client, params.sessionId), params);
  }

  /** A transcript as Markdown; see `transcriptText`. */
  async text(client: Client, { uri }: TextContentParams, signal: AbortSignal): Promise<{ text: string }> {
    const { sessionId, from } = parseTextUri(uri);
    await this.reader.freshen(await this.readable(client, sessionId, undefined, signal), signal);
    return {
      text: await transcriptText(
        { data: this.data, reader: this.reader },
        this.resolve(client, sessionId),
        from,
        signal,
      ),
    };
  }

  async forkPreview(client: Client, params: ForkPreviewParams): Promise<z.infer<typeof ForkPreviewResult>> {
    await this.readable(client, params.sessionId);
    return this.forks.preview(client, params);
  }

  async fork(
    client: Client,
    params: ForkParams,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ForkResult> {
    const parent = await this.readable(client, params.sessionId, undefined, signal);
    const result = await this.forks.fork(client, params, signal);
    const fork = this.shelf.book.get(result.sessionId);
    if (fork) this.parts.runs().forked(parent, fork);
    return result;
  }

  entryContent(client: Client, params: EntryContentParams): Promise<EntryContentResult> {
    return this.contents.read(this.resolve(client, params.sessionId), params);
  }

  isWatching(client: Client, sessionId: string): boolean {
    return this.watchers.isWatching(client, sessionId);
  }

  /** Ends the transcript updates of a session to this client. */
  unwatch(client: Client, params: { readonly sessionId: string }): Record<string, never> {
    this.watchers.unwatch(client, params.sessionId);
    return {};
  }

  /** Begins the transcript updates of a session to this client. */
  watch(client: Client, sessionId: string): void {
    this.watchers.watch(client, this.resolve(client, sessionId).id);
  }

  status(client: Client): z.infer<typeof Status> {
    const { store, version = '0.0.0' } = this.parts;
    return statusOf(client, {
      version,
      book: this.shelf.book,
      files: this.files,
      listReady: this.listReady,
      isIndexing: this.indexer.isActive,
      unreadable: this.catalogue.unreadable,
      store,
    });
  }

  /**
   * The session, if the client may see it. Unknown, deleted, out of scope or of another folder than `cwd`: all the same
   * `session_unavailable`.
   */
  resolve(client: Client, sessionId: string, cwd?: string): SessionRecord {
    return this.shelf.resolve(client, sessionId, cwd);
  }

  /** A new session of ours. It is listed once it has a prompt. */
  create(session: NewSession): SessionRecord {
    return this.own.create(session);
  }

  /** Changes what a run tells about a session: durable, then announced. A session that is gone is left alone. */
  update(sessionId: string, changes: SessionChanges): void {
    const before = this.shelf.book.get(sessionId)?.state;
    this.own.update(sessionId, changes);
    const { state } = changes;
    if (before !== state && (state === 'idle' || state === 'failed')) this.indexer.runEnded(sessionId);
  }

  /** A session that an agent has for a small job is no session to show. */
  hide(agent: string, agentSession: string): void {
    this.own.hide(agent, agentSession);
  }

  /** All entries of a session, whole and ascending; see `Reader.replay`. */
  replay(sessionId: string, atEnd?: () => void): AsyncGenerator<Entry[]> {
    return this.reader.replay(sessionId, atEnd);
  }

  /** For the history of a session that its agent listed; undefined when it is here. */
  importing(sessionId: string): Promise<Imported | undefined> {
    const { data, shelf, watchers } = this;
    return Imported.begin(data, shelf, watchers.publish.bind(watchers), sessionId);
  }

  /** Like `resolve`, with the history fetched from its agent if it was only listed. Throws what that throws. */
  private async readable(
    client: Client,
    sessionId: string,
    cwd?: string,
    signal?: AbortSignal,
  ): Promise<SessionRecord> {
    const record = this.resolve(client, sessionId, cwd);
    if (!isUnread(record)) return record;
    const history = this.parts.runs().fetchHistory(client, record);
    // It goes on when nobody waits for it any more.
    await (signal ? unlessAborted(history, signal) : history);
    return this.resolve(client, sessionId, cwd);
  }

  /** What was said in the last turn of a session; undefined when none of it is here. Throws `session_unavailable`. */
  async lastTurn(sessionId: string): Promise<TurnTexts | undefined> {
    await this.reader.freshen(this.shelf.current(sessionId));
    return lastTurn(this.data, this.reader, this.shelf.current(sessionId));
  }

  private details(client: Client, record: SessionRecord): Details {
    return info({ shelf: this.shelf, files: this.files, runs: this.parts.runs() }, client, record);
  }

  async firstLook(): Promise<boolean> {
    if (this.listReady) return false;
    await this.listable();
    return true;
  }

  private async listable(): Promise<void> {
    if (this.listReady) return;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, LIST_WAIT_MS)));
    await Promise.race([this.ready, patience]);
    clearTimeout(timer);
  }
}

function secretOf(data: SessionData, readOnly: boolean): Uint8Array {
  const known = data.getMeta(SECRET);
  if (known !== undefined) return Buffer.from(known, 'base64');
  const secret = randomBytes(32);
  if (!readOnly) data.setMeta(SECRET, secret.toString('base64'));
  return secret;
}
