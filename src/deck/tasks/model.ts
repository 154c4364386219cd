import * as vscode from 'vscode';
import type { SessionTask } from '../../protocol/tasks.js';
import type { ServiceClient } from '../client.js';
import { messageOf } from '../errors.js';
import { TaskList } from './task_list.js';

/** Background tasks of all sessions in scope, kept up to date by the service. */
export class TasksModel implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly list = new TaskList();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly client: ServiceClient,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscriptions = [
      client.on('deck/tasks/changed', (change) => {
        this.list.apply(change);
        this.changed.fire();
      }),
      client.onDidChangeState((state) => {
        if (state === 'ready') void this.load();
        else this.reset([]);
      }),
    ];
  }

  get tasks(): readonly SessionTask[] {
    return this.list.all;
  }

  get running(): number {
    return this.list.running;
  }

  get(taskId: string): SessionTask | undefined {
    return this.list.get(taskId);
  }

  /** Starts the service when it is not there; the tasks come with it. */
  start(): void {
    // Why it cannot start, the view of the sessions says.
    this.client.start().catch((error: unknown) => this.log.debug(messageOf(error)));
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    this.changed.dispose();
  }

  private async load(): Promise<void> {
    try {
      this.reset((await this.client.request('deck/tasks', {})).tasks);
    } catch (error) {
      this.log.error(`The background tasks could not be read: ${messageOf(error)}`);
    }
  }

  private reset(tasks: readonly SessionTask[]): void {
    this.list.reset(tasks);
    this.changed.fire();
  }
}
