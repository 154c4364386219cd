import * as vscode from 'vscode';
import type { Entry } from '../../protocol/entry.js';
import type { SessionDetails } from '../../protocol/session.js';
import { TRANSCRIPT_PAGE_SCHEMA } from '../../protocol/aster.js';
import { FromPage, type PageAction, type PageCall, type ToPage } from '../../protocol/webview.js';
import type { ServiceClient } from '../client.js';
import { messageOf, ServiceError } from '../errors.js';
import { plainLine } from '../format.js';
import { send } from './send.js';
import { pageHtml } from './html.js';
import { translatedStrings } from './strings.js';

const { l10n } = vscode;
const PAGE = 50;
const DETAILS_MS = 250;

/** What a panel asks of the rest of the deck. */
export interface PanelHost {
  readonly client: ServiceClient;
  readonly extensionUri: vscode.Uri;
  readonly log: vscode.LogOutputChannel;
  /** Carries out what a person chose on the page, with native UI. */
  act(panel: TranscriptPanel, action: PageAction): Promise<void>;
}

type PageCommand = Extract<ToPage, { kind: 'command' }>['command'];

/** One session's transcript in an editor tab. The page draws; this gives it data and carries its actions out. */
export class TranscriptPanel implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[] = [];
  private readonly ended = new vscode.EventEmitter<void>();
  readonly onDidDispose = this.ended.event;
  private readonly detailsChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeDetails = this.detailsChanged.event;
  private detailsTimer: NodeJS.Timeout | undefined;
  private ready = false;
  private queued: ToPage[] = [];
  private operations = 0;
  details: SessionDetails | undefined;

  constructor(
    readonly panel: vscode.WebviewPanel,
    readonly sessionId: string,
    private readonly host: PanelHost,
  ) {
    const { client, extensionUri } = host;
    // A restored panel still has the folders of the version that made it.
    panel.webview.options = {
      enableScripts: true,
      enableForms: false,
      localResourceRoots: [vscode.Uri.joinPath(extensionUri, 'dist')],
    };
    panel.iconPath = vscode.Uri.joinPath(extensionUri, 'media', 'session.svg');
    this.subscriptions.push(
      panel.onDidDispose(() => this.dispose()),
      panel.webview.onDidReceiveMessage((message: unknown) => void this.receive(message)),
      panel.onDidChangeViewState(() => {
        // A hidden page is torn down; shown again it starts anew and asks for everything.
        if (!panel.visible) this.ready = false;
      }),
      client.on('aster/session/transcript/update/v1', (update) => {
        if (update.sessionId === sessionId) this.post({ kind: 'update', update });
      }),
      client.on('deck/interjection/update', (interjection) => {
        if (interjection.sessionId === sessionId) this.post({ kind: 'interjection', interjection });
      }),
      client.on('deck/sessions/changed', ({ upserted, removed, reset }) => {
        if (removed.includes(sessionId)) this.gone('deleted');
        else if (reset || upserted.some((row) => row.sessionId === sessionId)) this.refreshSoon();
      }),
      client.onDidChangeState((state) => {
        if (state === 'ready' && this.ready) this.reset();
      }),
    );
    panel.webview.html = pageHtml(panel.webview, extensionUri, sessionId);
  }

  get isRunning(): boolean {
    return this.details?.activeRun !== undefined;
  }

  get title(): string {
    const title = plainLine(this.details?.title ?? this.details?.preview ?? '');
    return title === '' ? l10n.t('Untitled session') : title;
  }

  reveal(column?: vscode.ViewColumn): void {
    this.panel.reveal(column);
  }

  command(command: PageCommand): void {
    this.post({ kind: 'command', command });
  }

  /** Goes to the entry with this ordinal. */
  jump(ordinal: number): void {
    this.post({ kind: 'jump', ordinal });
  }

  dispose(): void {
    clearTimeout(this.detailsTimer);
    for (const subscription of this.subscriptions.splice(0)) subscription.dispose();
    if (this.host.client.state === 'ready')
      this.host.client
        .request('deck/session/unwatch', { sessionId: this.sessionId })
        .catch((error: unknown) => {
          this.host.log.debug(`unwatch: ${messageOf(error)}`);
        });
    this.ended.fire();
    this.ended.dispose();
    this.detailsChanged.dispose();
  }

  /** One entry, whole as a page gives it; undefined when it is not there any more. */
  async entry(entryId: string): Promise<Entry | undefined> {
    const page = await this.page({ anchor: { entryId }, direction: 'newer', limit: 1 });
    return page.entries.find((entry) => entry.id === entryId);
  }

  private async receive(raw: unknown): Promise<void> {
    const message = FromPage.safeParse(raw);
    if (!message.success) {
      this.host.log.error(`A message of the transcript page is not valid: ${message.error.message}`);
      return;
    }
    if (message.data.kind === 'action') {
      try {
        await this.host.act(this, message.data);
      } catch (error) {
        if (!(error instanceof vscode.CancellationError))
          await vscode.window.showErrorMessage(messageOf(error));
      }
      return;
    }
    const { id } = message.data;
    try {
      this.post({ kind: 'reply', id, result: await this.answer(message.data) }, true);
    } catch (error) {
      const code = error instanceof ServiceError ? error.code : undefined;
      this.post(
        { kind: 'reply', id, error: { message: messageOf(error), ...(code === undefined ? {} : { code }) } },
        true,
      );
    }
  }

  private async answer(call: PageCall): Promise<unknown> {
    const { client } = this.host;
    const { sessionId } = this;
    switch (call.method) {
      case 'ready':
        return this.start();
      case 'page':
        return this.page(call.params);
      case 'turns':
        return client.request('deck/turns', { sessionId, ...call.params });
      case 'content':
        return client.request('deck/entry/content', { sessionId, ...call.params });
      case 'send':
        return { delivery: await send(client, sessionId, call.params.text) };
      case 'discardInterjection':
        return client.request('deck/interjection/discard', { sessionId, ...call.params });
    }
  }

  private async start() {
    const { client } = this.host;
    const [details, { interjections }] = await Promise.all([
      client.request('aster/session/info', { sessionId: this.sessionId }),
      client.request('deck/interjections', { sessionId: this.sessionId }),
    ]);
    this.setDetails(details);
    setImmediate(() => {
      this.ready = true;
      for (const message of this.queued.splice(0)) this.post(message);
    });
    return {
      details,
      interjections,
      pageSize: PAGE,
      strings: translatedStrings(),
      locale: vscode.env.language,
      trusted: vscode.workspace.isTrusted,
    };
  }

  private async page(params: Extract<PageCall, { method: 'page' }>['params']) {
    const { cwd } =
      this.details ?? (await this.host.client.request('aster/session/info', { sessionId: this.sessionId }));
    this.operations += 1;
    return this.host.client.request('aster/session/transcript/page/v1', {
      schema: TRANSCRIPT_PAGE_SCHEMA,
      sessionId: this.sessionId,
      operationId: `page-${String(this.operations)}`,
      cwd,
      ...params,
    });
  }

  private refreshSoon(): void {
    this.detailsTimer ??= setTimeout(() => {
      this.detailsTimer = undefined;
      this.host.client.request('aster/session/info', { sessionId: this.sessionId }).then(
        (details) => {
          this.setDetails(details);
          this.post({ kind: 'details', details });
        },
        (error: unknown) => {
          if (error instanceof ServiceError && error.code === 'session_unavailable') this.gone('unavailable');
          else this.host.log.warn(`The details of a session could not be read: ${messageOf(error)}`);
        },
      );
    }, DETAILS_MS);
  }

  private setDetails(details: SessionDetails): void {
    this.details = details;
    this.panel.title = this.title.length > 40 ? `${this.title.slice(0, 39)}…` : this.title;
    this.detailsChanged.fire();
  }

  private gone(reason: 'deleted' | 'unavailable'): void {
    const message =
      reason === 'deleted'
        ? l10n.t('This session was deleted. Undo Delete brings it back.')
        : l10n.t('This session is not available in this window.');
    this.post({ kind: 'gone', reason, message });
  }

  private reset(): void {
    this.post({ kind: 'reset', reason: 'reconnected' });
    this.refreshSoon();
  }

  /** Before it is ready a page gets replies only; commands wait for it. */
  private post(message: ToPage, isReply = false): void {
    if (!isReply && !this.ready) {
      if (message.kind === 'command' || message.kind === 'jump') this.queued.push(message);
      return;
    }
    this.panel.webview.postMessage(message).then(undefined, (error: unknown) => {
      this.host.log.debug(`The page took no message: ${messageOf(error)}`);
    });
  }
}
