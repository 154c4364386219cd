import * as vscode from 'vscode';
import type { Status } from '../../protocol/deck.js';
import type { SessionRow } from '../../protocol/session.js';
import type { ServiceClient } from '../client.js';
import { messageOf } from '../errors.js';
import type { GroupBy } from '../settings.js';
import { RowList } from './row_list.js';

const PAGE = 200;
const RELOAD_MS = 250;

/** What the tree shows: pages of the list, kept up to date by the service. */
export class DeckModel implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[] = [];
  private readonly rows = new RowList();
  private readonly childRows = new Map<string, readonly SessionRow[]>();
  private cursor: string | undefined;
  private query = '';
  private archived = false;
  private generation = 0;
  /** Pages that are loaded, and are loaded again on a refresh. */
  private pages = 1;
  private loaded: Promise<void> | undefined;
  private reloadTimer: NodeJS.Timeout | undefined;
  private lastStatus: Status | undefined;
  /** The last list could not be read: why. */
  problem: string | undefined;

  constructor(
    private readonly client: ServiceClient,
    private readonly log: vscode.LogOutputChannel,
    public groupBy: GroupBy,
  ) {
    this.subscriptions.push(
      client.on('deck/sessions/changed', ({ upserted, removed, reset }) => {
        for (const row of upserted) if (row.parent) this.childRows.delete(row.parent.sessionId);
        for (const id of removed) this.childRows.delete(id);
        if (reset || this.query !== '') {
          this.reloadSoon();
          return;
        }
        const isShown = (row: SessionRow) => !row.archived || this.archived;
        this.rows.apply(
          upserted.filter((row) => row.parent?.relation !== 'subagent' && isShown(row)),
          [...removed, ...upserted.filter((row) => !isShown(row)).map(({ sessionId }) => sessionId)],
        );
        this.changed.fire();
      }),
      client.on('deck/status/update', (status) => this.takeStatus(status)),
      client.onDidChangeState((state) => {
        if (state === 'ready') this.reloadSoon();
        else this.changed.fire();
      }),
    );
  }

  get status(): Status | undefined {
    return this.lastStatus;
  }

  get filter(): string {
    return this.query;
  }

  get hasMore(): boolean {
    return this.rows.hasMore;
  }

  get all(): readonly SessionRow[] {
    return this.rows.all;
  }

  get(sessionId: string): SessionRow | undefined {
    return this.rows.get(sessionId);
  }

  setFilter(text: string): void {
    if (text.trim() === this.query) return;
    this.query = text.trim();
    this.pages = 1;
    this.reloadSoon();
  }

  get showsArchived(): boolean {
    return this.archived;
  }

  showArchived(shown: boolean): void {
    if (shown === this.archived) return;
    this.archived = shown;
    this.pages = 1;
    this.reloadSoon();
  }

  /** The title of an agent, or its id while it is not known. */
  readonly agentTitle = (id: string): string =>
    this.lastStatus?.agents.find((agent) => agent.id === id)?.title ?? id;

  setGroupBy(groupBy: GroupBy): void {
    this.groupBy = groupBy;
    this.changed.fire();
  }

  /** The first page, loaded once; later ones come by `loadMore`. Starts the service. */
  ensureLoaded(): Promise<void> {
    this.loaded ??= this.load();
    return this.loaded;
  }

  /** Reads everything that is loaded anew. */
  async refresh(): Promise<void> {
    this.childRows.clear();
    this.loaded = this.load();
    await this.loaded;
    this.changed.fire();
  }

  async loadMore(): Promise<void> {
    const { cursor, generation } = this;
    if (cursor === undefined) return;
    const page = await this.client.request('aster/session/list', this.params(cursor));
    if (generation !== this.generation) return;
    this.pages += 1;
    this.cursor = page.nextCursor;
    this.rows.addPage(page.sessions, page.nextCursor !== undefined);
    this.changed.fire();
  }

  /** Sub-agents and forks of a session. */
  async children(sessionId: string): Promise<readonly SessionRow[]> {
    const known = this.childRows.get(sessionId);
    if (known) return known;
    const { children } = await this.client.request('aster/session/info', { sessionId });
    this.childRows.set(sessionId, children);
    return children;
  }

  dispose(): void {
    clearTimeout(this.reloadTimer);
    for (const subscription of this.subscriptions) subscription.dispose();
    this.changed.dispose();
  }

  private params(cursor?: string) {
    return {
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
      ...(this.query === '' ? {} : { query: this.query }),
      archived: this.archived ? ('include' as const) : ('exclude' as const),
    };
  }

  private async load(): Promise<void> {
    this.generation += 1;
    const { generation } = this;
    try {
      const [status, first] = await Promise.all([
        this.client.request('deck/status', {}),
        this.client.request('aster/session/list', this.params()),
      ]);
      const sessions = [...first.sessions];
      let cursor = first.nextCursor;
      for (let loaded = 1; loaded < this.pages && cursor !== undefined; loaded += 1) {
        const page = await this.client.request('aster/session/list', this.params(cursor));
        sessions.push(...page.sessions);
        cursor = page.nextCursor;
      }
      if (generation !== this.generation) return;
      this.problem = undefined;
      this.cursor = cursor;
      this.rows.reset(sessions, cursor !== undefined);
      this.lastStatus = status;
    } catch (error) {
      if (generation !== this.generation) return;
      this.problem = messageOf(error);
      this.log.error(`The list of sessions could not be read: ${this.problem}`);
    }
  }

  private takeStatus(status: Status): void {
    const wasReady = this.lastStatus?.listReady ?? true;
    this.lastStatus = status;
    if (!wasReady && status.listReady) this.reloadSoon();
    else this.changed.fire();
  }

  private reloadSoon(): void {
    if (this.loaded === undefined) return;
    clearTimeout(this.reloadTimer);
    this.reloadTimer = setTimeout(() => {
      void this.refresh();
    }, RELOAD_MS);
  }
}
