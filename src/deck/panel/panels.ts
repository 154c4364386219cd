import * as vscode from 'vscode';
import { ReadingPlace } from '../../protocol/webview.js';
import { contextKeys, PANEL_TYPE } from '../ids.js';
import { type PanelHost, TranscriptPanel } from './transcript_panel.js';

const { l10n } = vscode;

/** The open transcripts, one panel a session; brings them back after a reload. */
export class Panels implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private readonly open = new Map<string, TranscriptPanel>();
  private readonly viewChanged = new vscode.EventEmitter<void>();
  /** A transcript came on screen, left it, or became the active editor. */
  readonly onDidChangeView = this.viewChanged.event;
  private readonly registration: vscode.Disposable;

  constructor(private readonly host: PanelHost) {
    this.registration = vscode.window.registerWebviewPanelSerializer(PANEL_TYPE, this);
  }

  /** The panel that is the active editor. */
  get active(): TranscriptPanel | undefined {
    return [...this.open.values()].find(({ panel }) => panel.active);
  }

  /** Whether a session's transcript is on screen. */
  isVisible(sessionId: string): boolean {
    return this.open.get(sessionId)?.panel.visible ?? false;
  }

  /** Shows a session, in the panel that has it or a new one. */
  show(sessionId: string, title: string): TranscriptPanel {
    const known = this.open.get(sessionId);
    if (known) {
      known.reveal();
      return known;
    }
    const panel = vscode.window.createWebviewPanel(
      PANEL_TYPE,
      title,
      { viewColumn: vscode.ViewColumn.Active },
      { enableScripts: true },
    );
    return this.adopt(panel, sessionId);
  }

  /** After a reload: only who and where is kept, everything else is asked for again. */
  deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Thenable<void> {
    const place = ReadingPlace.safeParse(state);
    if (place.success && !this.open.has(place.data.sessionId)) this.adopt(panel, place.data.sessionId);
    else panel.dispose();
    return Promise.resolve();
  }

  dispose(): void {
    this.registration.dispose();
    for (const panel of [...this.open.values()]) panel.panel.dispose();
    this.viewChanged.dispose();
  }

  private adopt(panel: vscode.WebviewPanel, sessionId: string): TranscriptPanel {
    const transcript = new TranscriptPanel(panel, sessionId, this.host);
    this.open.set(sessionId, transcript);
    transcript.onDidDispose(() => {
      this.open.delete(sessionId);
      this.setContext();
    });
    transcript.onDidChangeDetails(() => this.setContext());
    panel.onDidChangeViewState(() => this.setContext());
    if (panel.title === '') panel.title = l10n.t('Session');
    this.setContext();
    return transcript;
  }

  private setContext(): void {
    this.viewChanged.fire();
    const { active } = this;
    void vscode.commands.executeCommand('setContext', contextKeys.panelActive, active !== undefined);
    void vscode.commands.executeCommand('setContext', contextKeys.panelRunning, active?.isRunning ?? false);
  }
}
