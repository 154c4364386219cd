import * as path from 'node:path';
import * as vscode from 'vscode';
import type {
  FormItem,
  InboxAnswerParams,
  InboxItem,
  PermissionItem,
  UrlItem,
} from '../../protocol/inbox.js';
import type { ServiceClient } from '../client.js';
import { ServiceError } from '../errors.js';
import { plainLine } from '../format.js';
import { notify } from '../notify.js';
import type { DiffDocuments } from '../panel/diff_documents.js';
import type { Panels } from '../panel/panels.js';
import type { SessionNames } from '../session_names.js';
import { allowOnce, inOrder, reject } from './choices.js';
import { Forms } from './form.js';
import { askedOf } from './items.js';
import { particulars } from './wording.js';

const { l10n } = vscode;
/** Answers that come too late; the item has left, or is about to. */
const GONE: ReadonlySet<string | undefined> = new Set(['already_resolved', 'task_unavailable']);

const optionIcons: Record<PermissionItem['options'][number]['kind'], string> = {
  allow_once: 'check',
  allow_always: 'check-all',
  reject_once: 'close',
  reject_always: 'circle-slash',
};

interface Action extends vscode.QuickPickItem {
  run?(): unknown;
}

/** Answers what waits, each kind in its own way, with native inputs. */
export class InboxAnswers {
  private readonly forms = new Forms();

  constructor(
    private readonly client: ServiceClient,
    private readonly names: SessionNames,
    private readonly panels: Panels,
    private readonly diffs: DiffDocuments,
  ) {}

  /** Sends an answer. The first one wins, wherever it was given; a later one is said to be late. */
  async send(item: InboxItem, answer: InboxAnswerParams['answer']): Promise<void> {
    this.forms.forget(item.id);
    try {
      await this.client.request('deck/inbox/answer', { id: item.id, answer });
    } catch (error) {
      if (!(error instanceof ServiceError && GONE.has(error.code))) throw error;
      notify.brief(l10n.t('This was already answered elsewhere.'));
    }
  }

  /** Shows the session, at what it asks. A failed run counts as seen then. */
  async open(item: InboxItem): Promise<void> {
    this.panels.show(item.sessionId, this.names.title(item.sessionId));
    if (item.kind === 'failed' && vscode.workspace.isTrusted) await this.send(item, { dismiss: true });
  }

  async allowOnce(item: InboxItem): Promise<void> {
    const option = item.kind === 'permission' ? allowOnce(item.options) : undefined;
    if (option) await this.send(item, { optionId: option.optionId });
    else await this.answer(item);
  }

  /** The narrowest no. */
  async reject(item: InboxItem): Promise<void> {
    const option = item.kind === 'permission' ? reject(item.options) : undefined;
    if (option) await this.send(item, { optionId: option.optionId });
    else if (item.kind === 'form' || item.kind === 'url') await this.send(item, { action: 'decline' });
  }

  async dismiss(item: InboxItem): Promise<void> {
    if (item.kind === 'failed') await this.send(item, { dismiss: true });
  }

  /** Asks for the answer that an item wants. Leaving the question leaves the item. */
  async answer(item: InboxItem): Promise<void> {
    switch (item.kind) {
      case 'permission':
        return this.permission(item);
      case 'form':
        return this.form(item);
      case 'url':
        return this.url(item);
      case 'failed':
        return this.failed(item);
    }
  }

  private async permission(item: PermissionItem): Promise<void> {
    const asked = [askedOf(item), ...particulars(item).map(plainLine)].join(' — ');
    const options = inOrder(item.options).map((option): Action => {
      const { kind, name, optionId } = option;
      return {
        label: `$(${optionIcons[kind]}) ${plainLine(name) || kind}`,
        run: () => this.send(item, { optionId }),
      };
    });
    const changes = item.tool.diffs.map((diff): Action => {
      const name = path.basename(diff.path);
      return {
        label: `$(diff) ${l10n.t('Show the change of {0}', name)}`,
        description: diff.path,
        run: () => this.diffs.open(diff, l10n.t('{0} (asked for by the agent)', name)),
      };
    });
    await this.choose(this.names.title(item.sessionId), asked, [
      ...options,
      { label: '', kind: vscode.QuickPickItemKind.Separator },
      ...changes,
      this.openAction(item),
    ]);
  }

  private async form(item: FormItem): Promise<void> {
    const answer = await this.forms.fill(item, this.names.title(item.sessionId));
    if (answer) await this.send(item, answer);
  }

  private async url(item: UrlItem): Promise<void> {
    const { url } = item;
    // Nothing but the web: an address of another kind could start a program.
    const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    const open = l10n.t('Open in Browser');
    const decline = l10n.t('Decline');
    const detail = isWeb
      ? l10n.t('{0}\n\nThe page is on {1}.', url, new URL(url).host)
      : l10n.t('{0}\n\nAddresses of this kind are not opened.', url);
    const buttons = isWeb ? [open, decline] : [decline];
    const title = `${this.names.title(item.sessionId)}: ${askedOf(item)}`;
    const choice = await notify.ask(title, detail, ...buttons);
    if (choice === decline) await this.send(item, { action: 'decline' });
    if (choice !== open) return;
    if (await vscode.env.openExternal(vscode.Uri.parse(url, true)))
      await this.send(item, { action: 'accept' });
  }

  private async failed(item: InboxItem): Promise<void> {
    await this.choose(this.names.title(item.sessionId), askedOf(item), [
      this.openAction(item),
      { label: `$(check) ${l10n.t('Dismiss')}`, run: () => this.dismiss(item) },
    ]);
  }

  private openAction(item: InboxItem): Action {
    return { label: `$(go-to-file) ${l10n.t('Open Session')}`, run: () => this.open(item) };
  }

  private async choose(title: string, placeHolder: string, actions: readonly Action[]): Promise<void> {
    const chosen = await vscode.window.showQuickPick(actions, { title, placeHolder, ignoreFocusOut: true });
    await chosen?.run?.();
  }
}
