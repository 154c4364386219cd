import * as vscode from 'vscode';
import type { SessionRow } from '../protocol/session.js';
import type { ServiceClient } from './client.js';
import { messageOf } from './errors.js';
import { shortTitle } from './tree/items.js';
import type { DeckModel } from './tree/model.js';

/** Rows of sessions by id, for views that list something else: those of the tree, others are asked for once. */
export class SessionNames implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** A row came in that was asked for. */
  readonly onDidChange = this.changed.event;
  private readonly asked = new Map<string, Promise<SessionRow | undefined>>();
  private readonly rows = new Map<string, SessionRow>();
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly client: ServiceClient,
    private readonly model: DeckModel,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscription = client.on('deck/sessions/changed', ({ upserted, removed }) => {
      for (const id of removed) this.rows.delete(id);
      for (const row of upserted) if (this.rows.has(row.sessionId)) this.rows.set(row.sessionId, row);
    });
  }

  /** The row if it is at hand; else it is asked for, and `onDidChange` tells when it came. */
  row(sessionId: string): SessionRow | undefined {
    const known = this.model.get(sessionId) ?? this.rows.get(sessionId);
    if (known === undefined) void this.find(sessionId);
    return known;
  }

  /** The title of a session; a word that stands for it while it is not known. */
  title(sessionId: string): string {
    const row = this.row(sessionId);
    return row ? shortTitle(row) : vscode.l10n.t('Session');
  }

  /** The row, asked for if need be; undefined when the session is not available. */
  async find(sessionId: string): Promise<SessionRow | undefined> {
    const known = this.model.get(sessionId) ?? this.rows.get(sessionId);
    if (known) return known;
    const request = this.asked.get(sessionId) ?? this.ask(sessionId);
    this.asked.set(sessionId, request);
    return request;
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }

  private async ask(sessionId: string): Promise<SessionRow | undefined> {
    try {
      const row = await this.client.request('aster/session/info', { sessionId });
      this.rows.set(sessionId, row);
      this.changed.fire();
      return row;
    } catch (error) {
      this.log.debug(`A session could not be looked up: ${messageOf(error)}`);
      return undefined;
    } finally {
      this.asked.delete(sessionId);
    }
  }
}
