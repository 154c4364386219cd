import type * as vscode from 'vscode';
import { TOOLING_SCHEMA } from '../../protocol/aster.js';
import type { Tooling } from '../../protocol/controls.js';
import type { InboxItem, PermissionItem } from '../../protocol/inbox.js';
import type { ToPage } from '../../protocol/webview.js';
import type { ServiceClient } from '../client.js';
import { messageOf } from '../errors.js';

/** What stands beside the transcript: the agent's controls, what waits for the person, how many tasks run. */
export class SessionFacts implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];
  private readonly running = new Set<string>();
  private readonly waiting = new Map<string, InboxItem>();
  private operations = 0;
  /** Of the greatest generation that was heard of. */
  tooling: Tooling | undefined;

  constructor(
    private readonly client: ServiceClient,
    private readonly sessionId: string,
    private readonly log: vscode.LogOutputChannel,
    private readonly post: (message: ToPage) => void,
  ) {
    this.subscriptions = [
      client.on('aster/session/tooling/update', ({ sessionId: id, ...tooling }) => {
        if (id === sessionId) this.take(tooling);
      }),
      client.on('deck/inbox/changed', ({ upserted, removed }) => {
        const own = upserted.filter((item) => item.sessionId === sessionId);
        for (const item of own) this.waiting.set(item.id, item);
        for (const { id } of removed) this.waiting.delete(id);
        if (own.length > 0 || removed.length > 0)
          post({ kind: 'inbox', changed: { upserted: own, removed } });
      }),
      client.on('deck/tasks/changed', ({ upserted, removed }) => {
        const before = this.running.size;
        for (const task of upserted) {
          if (task.sessionId !== sessionId) continue;
          if (task.status === 'running') this.running.add(task.taskId);
          else this.running.delete(task.taskId);
        }
        for (const id of removed) this.running.delete(id);
        if (this.running.size !== before) post({ kind: 'tasks', running: this.running.size });
      }),
    ];
  }

  /** Takes a catalogue, unless a newer one is known. */
  take(tooling: Tooling): void {
    if (this.tooling && tooling.generation < this.tooling.generation) return;
    this.tooling = tooling;
    this.post({ kind: 'tooling', tooling });
  }

  /** The catalogue as it is now. */
  async readTooling(cwd: string): Promise<Tooling> {
    this.operations += 1;
    const tooling = await this.client.request('aster/session/tooling/v1', {
      schema: TOOLING_SCHEMA,
      sessionId: this.sessionId,
      operationId: `tooling-${String(this.operations)}`,
      cwd,
    });
    this.take(tooling);
    return tooling;
  }

  /** All of it, for a page that begins. The transcript is shown also when some of it cannot be told. */
  async read(cwd: string): Promise<{ tooling?: Tooling; inbox: InboxItem[]; runningTasks: number }> {
    const [tooling, inbox, tasks] = await Promise.all([
      this.try(this.readTooling(cwd)),
      this.try(this.client.request('deck/inbox', {})),
      this.try(this.client.request('deck/tasks', {})),
    ]);
    this.running.clear();
    for (const task of tasks?.tasks ?? [])
      if (task.sessionId === this.sessionId && task.status === 'running') this.running.add(task.taskId);
    this.waiting.clear();
    for (const item of inbox?.items ?? [])
      if (item.sessionId === this.sessionId) this.waiting.set(item.id, item);
    return {
      ...(tooling ? { tooling } : {}),
      inbox: [...this.waiting.values()],
      runningTasks: this.running.size,
    };
  }

  /** The permission that an entry shows and that waits. */
  question(entryId: string): PermissionItem | undefined {
    return [...this.waiting.values()].find(
      (item): item is PermissionItem => item.kind === 'permission' && item.entryId === entryId,
    );
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private async try<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer;
    } catch (error) {
      this.log.warn(`A fact about a session could not be read: ${messageOf(error)}`);
      return undefined;
    }
  }
}
