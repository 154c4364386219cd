import * as vscode from 'vscode';
import type { ServiceClient } from '../client.js';
import { contextKeys, viewIds } from '../ids.js';
import { groupRows } from './grouping.js';
import { type DeckNode, toItem } from './items.js';
import type { DeckModel } from './model.js';

const { l10n } = vscode;
/** Relative times are shown to the minute. */
const TICK_MS = 60_000;
const CHANGE_MS = 100;

/** The view *Sessions*: groups, sessions, what hangs below them, and its message. */
export class SessionsView implements vscode.TreeDataProvider<DeckNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<DeckNode | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<DeckNode>;
  private readonly subscriptions: { dispose(): unknown }[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly model: DeckModel,
    private readonly client: ServiceClient,
  ) {
    this.view = vscode.window.createTreeView(viewIds.sessions, {
      treeDataProvider: this,
      canSelectMany: true,
      showCollapseAll: true,
    });
    const tick = setInterval(() => {
      if (this.view.visible) this.changed.fire(undefined);
    }, TICK_MS);
    this.subscriptions.push(
      this.view,
      this.changed,
      model.onDidChange(() => this.changeSoon()),
      { dispose: () => clearInterval(tick) },
    );
    this.setContext();
  }

  /** The nodes that are selected in the view. */
  get selection(): readonly DeckNode[] {
    return this.view.selection;
  }

  getTreeItem(node: DeckNode): vscode.TreeItem {
    return toItem(node, this.model.agentTitle);
  }

  async getChildren(node?: DeckNode): Promise<DeckNode[]> {
    if (node === undefined) return this.roots();
    if (node.kind === 'group') return node.group.rows.map((row) => ({ kind: 'session', row }));
    if (node.kind === 'more') return [];
    const rows = await this.model.children(node.row.sessionId);
    return rows.map((row) => ({ kind: 'session', row, parent: node }));
  }

  getParent(node: DeckNode): DeckNode | undefined {
    return node.kind === 'session' ? node.parent : undefined;
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private async roots(): Promise<DeckNode[]> {
    await this.model.ensureLoaded();
    const groups = groupRows(this.model.all, this.model.groupBy, new Date());
    this.decorate();
    return [
      ...groups.map((group): DeckNode => ({ kind: 'group', group })),
      ...(this.model.hasMore ? [{ kind: 'more' } as const] : []),
    ];
  }

  private changeSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.decorate();
      this.changed.fire(undefined);
    }, CHANGE_MS);
  }

  private decorate(): void {
    this.setContext();
    this.view.message = this.message() ?? '';
    this.view.description = this.model.filter === '' ? '' : `“${this.model.filter}”`;
  }

  private message(): string | undefined {
    const { status, problem, filter, all } = this.model;
    if (problem !== undefined) return problem;
    if (filter !== '' && all.length === 0) return l10n.t('No session matches “{0}”.', filter);
    if (status?.store.readOnly === true) return status.store.reason ?? l10n.t('The store can only be read.');
    if (status && !status.listReady) return l10n.t('Looking for sessions…');
    if (status?.indexing.active === true && status.indexing.files.total > 0) {
      const { done, total } = status.indexing.files;
      return l10n.t('Indexing {0} of {1} sessions…', done, total);
    }
    return undefined;
  }

  private setContext(): void {
    const service = this.model.problem !== undefined ? 'failed' : this.client.state;
    const set = (key: string, value: unknown) =>
      void vscode.commands.executeCommand('setContext', key, value);
    set(contextKeys.service, service);
    set(contextKeys.filtered, this.model.filter !== '');
    set(contextKeys.archivedShown, this.model.showsArchived);
    set(contextKeys.hasAgents, (this.model.status?.agents.length ?? 0) > 0);
  }
}
