import * as vscode from 'vscode';
import type { InboxItem } from '../../protocol/inbox.js';
import { messageOf } from '../errors.js';
import { plainLine } from '../format.js';
import { viewIds } from '../ids.js';
import { notify } from '../notify.js';
import type { Panels } from '../panel/panels.js';
import type { SessionNames } from '../session_names.js';
import type { InboxAnswers } from './answers.js';
import { shortList } from './choices.js';
import { askedOf } from './items.js';
import type { InboxModel } from './model.js';
import { NoticeGate } from './notice_gate.js';
import { particulars } from './wording.js';

const { l10n } = vscode;
const MOST_BUTTONS = 3;
const MOST_LETTERS = 300;

interface Button extends vscode.MessageItem {
  run(): unknown;
}

/** Tells what begins to wait in a session whose transcript nobody sees: one notification, several at once as one. */
export class Notices implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;
  private readonly gate: NoticeGate<InboxItem>;

  constructor(
    private readonly model: InboxModel,
    private readonly answers: InboxAnswers,
    private readonly panels: Panels,
    private readonly names: SessionNames,
    log: vscode.LogOutputChannel,
  ) {
    this.gate = new NoticeGate((items) => {
      this.tell(items.filter((item) => this.isNews(item))).catch((error: unknown) => {
        log.error(`An answer was not given: ${messageOf(error)}`);
        void notify.error(messageOf(error));
      });
    });
    this.subscription = model.onDidArrive((items) => this.gate.add(items));
  }

  dispose(): void {
    this.subscription.dispose();
    this.gate.dispose();
  }

  private isNews(item: InboxItem): boolean {
    return this.model.get(item.id) !== undefined && !this.panels.isVisible(item.sessionId);
  }

  private async tell(items: readonly InboxItem[]): Promise<void> {
    const [item, ...others] = items;
    if (!item) return;
    if (others.length > 0) return this.tellMany(items.length);
    await this.names.find(item.sessionId);
    if (!this.isNews(item)) return;
    const title = this.names.title(item.sessionId);
    const text = [askedOf(item), ...particulars(item).map(plainLine)].join(' — ');
    const short = text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text;
    const buttons = [
      ...(vscode.workspace.isTrusted ? this.buttons(item) : []),
      { title: l10n.t('Open'), run: () => this.answers.open(item) },
    ];
    const severity = item.kind === 'failed' ? 'error' : 'warn';
    const chosen = await notify.choose(severity, l10n.t('“{0}”: {1}', title, short), buttons);
    await chosen?.run();
  }

  private async tellMany(count: number): Promise<void> {
    const show = l10n.t('Show');
    const chosen = await notify.warn(l10n.t('{0} items wait for you.', count), show);
    if (chosen === show) await vscode.commands.executeCommand(`${viewIds.inbox}.focus`);
  }

  private buttons(item: InboxItem): Button[] {
    switch (item.kind) {
      case 'permission':
        return shortList(item.options, MOST_BUTTONS).map(({ name, kind, optionId }) => ({
          title: plainLine(name) || kind,
          run: () => this.answers.send(item, { optionId }),
        }));
      case 'form':
      case 'url':
        return [{ title: l10n.t('Answer…'), run: () => this.answers.answer(item) }];
      case 'failed':
        return [];
    }
  }
}
