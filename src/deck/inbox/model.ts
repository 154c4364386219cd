import * as vscode from 'vscode';
import type { InboxItem } from '../../protocol/inbox.js';
import type { ServiceClient } from '../client.js';
import { messageOf } from '../errors.js';
import { Waiting } from './waiting.js';

/** Everything that waits for a person, kept up to date by the service. */
export class InboxModel implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly arrived = new vscode.EventEmitter<readonly InboxItem[]>();
  /** Items that came while the window was connected; what waited before that is not news. */
  readonly onDidArrive = this.arrived.event;
  private readonly waiting = new Waiting();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly client: ServiceClient,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscriptions = [
      client.on('deck/inbox/changed', (change) => {
        const fresh = this.waiting.apply(change);
        this.changed.fire();
        if (fresh.length > 0) this.arrived.fire(fresh);
      }),
      client.onDidChangeState((state) => {
        if (state === 'ready') void this.load();
        else this.reset([]);
      }),
    ];
  }

  get items(): readonly InboxItem[] {
    return this.waiting.all;
  }

  get(id: string): InboxItem | undefined {
    return this.waiting.get(id);
  }

  sessionAfter(sessionId: string | undefined): string | undefined {
    return this.waiting.sessionAfter(sessionId);
  }

  /** Starts the service when it is not there; what waits comes with it. */
  start(): void {
    // Why it cannot start, the view of the sessions says.
    this.client.start().catch((error: unknown) => this.log.debug(messageOf(error)));
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    this.changed.dispose();
    this.arrived.dispose();
  }

  private async load(): Promise<void> {
    try {
      this.reset((await this.client.request('deck/inbox', {})).items);
    } catch (error) {
      this.log.error(`What waits could not be read: ${messageOf(error)}`);
    }
  }

  private reset(items: readonly InboxItem[]): void {
    this.waiting.reset(items);
    this.changed.fire();
  }
}
