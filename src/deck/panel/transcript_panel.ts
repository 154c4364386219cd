import * as vscode from 'vscode';
import type { Entry } from '../../protocol/entry.js';
import type { SessionDetails } from '../../protocol/session.js';
import { FromPage, type PageAction, type PageCall, type ToPage } from '../../protocol/webview.js';
import type { ServiceClient } from '../client.js';
import { messageOf, ServiceError } from '../errors.js';
import { plainLine } from '../format.js';
import { SETTINGS_SECTION } from '../ids.js';
import { pickFiles } from './attach.js';
import { choose } from './choose.js';
import { pageHtml } from './html.js';
import type { KeptFiles } from './kept_files.js';
import { PageAnswers } from './page_answers.js';
import { SessionFacts } from './session_facts.js';

const { l10n } = vscode;
const DETAILS_MS = 250;

/** What a panel asks of the rest of the deck. */
export interface PanelHost {
  readonly client: ServiceClient;
  readonly extensionUri: vscode.Uri;
  readonly log: vscode.LogOutputChannel;
  /** Pictures of the prompts that are being written. */
  readonly images: KeptFiles;
  /** The person switched a model for small jobs on. */
  followups(): boolean;
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
  readonly facts: SessionFacts;
  private readonly answers: PageAnswers;
  details: SessionDetails | undefined;

  constructor(
    readonly panel: vscode.WebviewPanel,
    readonly sessionId: string,
    private readonly host: PanelHost,
  ) {
    const { client, extensionUri, log } = host;
    this.facts = new SessionFacts(client, sessionId, log, (message) => this.post(message));
    this.answers = new PageAnswers(this);
    // A restored panel still has the folders of the version that made it.
    panel.webview.options = {
      enableScripts: true,
      enableForms: false,
      localResourceRoots: [vscode.Uri.joinPath(extensionUri, 'dist')],
    };
    panel.iconPath = vscode.Uri.joinPath(extensionUri, 'media', 'session.svg');
    this.subscriptions.push(
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.reset()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(SETTINGS_SECTION))
          this.post({ kind: 'followups', available: this.followups() });
      }),
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

  get client(): ServiceClient {
    return this.host.client;
  }

  get images(): KeptFiles {
    return this.host.images;
  }

  followups(): boolean {
    return this.host.followups();
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
    this.facts.dispose();
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
    const page = await this.answers.page({ anchor: { entryId }, direction: 'newer', limit: 1 });
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
    if (call.method !== 'ready') return this.answers.answer(call);
    const ready = await this.answers.start();
    this.setDetails(ready.details);
    setImmediate(() => {
      this.ready = true;
      for (const message of this.queued.splice(0)) this.post(message);
    });
    return ready;
  }

  /** Lets the person choose a mode or the value of an option; the page hears how it went. */
  async choose(control: Parameters<typeof choose>[1]): Promise<void> {
    const { client } = this.host;
    const { sessionId, facts } = this;
    const tell = (starting: boolean, problem?: string) =>
      this.post({ kind: 'controls', starting, ...(problem === undefined ? {} : { problem }) });
    const confirmed = async (answer: Promise<unknown>) => {
      await answer;
      await facts.readTooling(await this.answers.cwd());
    };
    try {
      await choose(
        {
          tooling: facts.tooling,
          open: async (token) => {
            const tooling = await client.request('deck/session/open', { sessionId }, token);
            facts.take(tooling);
            return tooling;
          },
          setMode: (modeId) => confirmed(client.request('session/set_mode', { sessionId, modeId })),
          setOption: (configId, value) =>
            confirmed(
              client.request(
                'session/set_config_option',
                typeof value === 'boolean'
                  ? { sessionId, configId, type: 'boolean', value }
                  : { sessionId, configId, value },
              ),
            ),
          tell: (starting) => tell(starting),
        },
        control,
      );
      tell(false);
    } catch (error) {
      tell(false, error instanceof vscode.CancellationError ? undefined : messageOf(error));
    }
  }

  /** Asks for files and hands them to the page. */
  async pickFiles(): Promise<void> {
    const result = await pickFiles(this.images, this.details?.cwd, (uri) => this.answers.transcript(uri));
    if (result) this.post({ kind: 'attached', result });
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
