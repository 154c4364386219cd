import * as vscode from 'vscode';
import type { InboxItem } from '../../protocol/inbox.js';
import { viewIds } from '../ids.js';
import type { SessionNames } from '../session_names.js';
import { inboxItem } from './items.js';
import type { InboxModel } from './model.js';

const { l10n } = vscode;
/** Relative times are shown to the minute. */
const TICK_MS = 60_000;

/** The view *Needs You* with its badge. */
export class InboxView implements vscode.TreeDataProvider<InboxItem>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<InboxItem>;
  private readonly subscriptions: { dispose(): unknown }[] = [];

  constructor(
    private readonly model: InboxModel,
    private readonly names: SessionNames,
  ) {
    this.view = vscode.window.createTreeView(viewIds.inbox, { treeDataProvider: this });
    const tick = setInterval(() => {
      if (this.view.visible && model.items.length > 0) this.changed.fire(undefined);
    }, TICK_MS);
    this.subscriptions.push(
      this.view,
      this.changed,
      model.onDidChange(() => this.refresh()),
      names.onDidChange(() => this.changed.fire(undefined)),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.refresh()),
      { dispose: () => clearInterval(tick) },
    );
  }

  /** The items that are selected in the view. */
  get selection(): readonly InboxItem[] {
    return this.view.selection;
  }

  getTreeItem(item: InboxItem): vscode.TreeItem {
    return inboxItem(item, this.names.title(item.sessionId), this.names.row(item.sessionId));
  }

  getChildren(parent?: InboxItem): InboxItem[] {
    if (parent !== undefined) return [];
    this.model.start();
    return [...this.model.items];
  }

  getParent(): undefined {
    return undefined;
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private refresh(): void {
    const count = this.model.items.length;
    const tooltip = count === 1 ? l10n.t('1 item waits for you') : l10n.t('{0} items wait for you', count);
    this.view.badge = count === 0 ? undefined : { value: count, tooltip };
    const restricted = count > 0 && !vscode.workspace.isTrusted;
    this.view.message = restricted
      ? l10n.t('A restricted window only shows what waits; nothing is answered here.')
      : '';
    this.changed.fire(undefined);
  }
}
