import * as vscode from 'vscode';
import type { CompleteParams, CompleteResult, SmallJobsModel } from '../protocol/deck.js';
import { bySmallness } from './model_choice.js';

const { l10n } = vscode;
/** Letters per token, roughly; more than asked for is cut off. */
const LETTERS = 6;

/** The window's own language models, for the small jobs of the service. */
export class LanguageModel implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** `available` changed. */
  readonly onDidChange = this.changed.event;
  private readonly subscription: vscode.Disposable;
  private known = false;
  private wanted = false;

  constructor(private readonly log: vscode.LogOutputChannel) {
    this.subscription = vscode.lm.onDidChangeChatModels(() => void this.look());
  }

  /** Whether the window has a model at all. Whether this extension may use it, the person is asked at the first use. */
  get available(): boolean {
    return this.known;
  }

  /** Models are looked for only when the setting has a use for them: looking may start another extension. */
  follow(setting: SmallJobsModel): void {
    this.wanted = setting === 'auto' || setting === 'editor';
    void this.look();
  }

  /** Does one job. VS Code asks for consent itself. Throws when there is no model or it refuses. */
  async complete(
    { prompt, maxOutputTokens }: CompleteParams,
    token: vscode.CancellationToken,
  ): Promise<CompleteResult> {
    const [model] = [...(await vscode.lm.selectChatModels())].sort(bySmallness);
    if (!model) throw new Error(l10n.t('This window has no language model.'));
    const response = await model.sendRequest(
      [vscode.LanguageModelChatMessage.User(prompt)],
      { justification: l10n.t('Titles and suggestions for your agent sessions.') },
      token,
    );
    let text = '';
    for await (const part of response.text) {
      text += part;
      if (text.length > maxOutputTokens * LETTERS) break;
    }
    return { text };
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }

  private async look(): Promise<void> {
    try {
      const available = this.wanted && (await vscode.lm.selectChatModels()).length > 0;
      if (available === this.known) return;
      this.known = available;
      this.changed.fire();
    } catch (error) {
      this.log.debug(`The language models of the window could not be listed: ${String(error)}`);
    }
  }
}
