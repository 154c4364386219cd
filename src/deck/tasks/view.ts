import * as vscode from 'vscode';
import type { SessionTask } from '../../protocol/tasks.js';
import { viewIds } from '../ids.js';
import type { SessionNames } from '../session_names.js';
import { taskItem } from './items.js';
import type { TasksModel } from './model.js';

/** Durations of what runs are shown to this. */
const TICK_MS = 5_000;
const CHANGE_MS = 200;

/** The view *Background Tasks*. */
export class TasksView implements vscode.TreeDataProvider<SessionTask>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<SessionTask>;
  private readonly subscriptions: { dispose(): unknown }[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly model: TasksModel,
    private readonly names: SessionNames,
  ) {
    this.view = vscode.window.createTreeView(viewIds.tasks, { treeDataProvider: this });
    const tick = setInterval(() => {
      if (this.view.visible && model.running > 0) this.changed.fire(undefined);
    }, TICK_MS);
    this.subscriptions.push(
      this.view,
      this.changed,
      model.onDidChange(() => this.changeSoon()),
      names.onDidChange(() => this.changeSoon()),
      { dispose: () => clearInterval(tick) },
    );
  }

  getTreeItem(task: SessionTask): vscode.TreeItem {
    return taskItem(task, task.sessionId === undefined ? undefined : this.names.title(task.sessionId));
  }

  getChildren(parent?: SessionTask): SessionTask[] {
    if (parent !== undefined) return [];
    this.model.start();
    return [...this.model.tasks];
  }

  getParent(): undefined {
    return undefined;
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private changeSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.changed.fire(undefined);
    }, CHANGE_MS);
  }
}
