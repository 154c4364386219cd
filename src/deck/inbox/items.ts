import * as vscode from 'vscode';
import type { InboxItem } from '../../protocol/inbox.js';
import type { SessionRow } from '../../protocol/session.js';
import { escapeMarkdown, plainLine, relativeTime, shorten } from '../format.js';
import { commandIds } from '../ids.js';
import { titleOf } from '../tree/items.js';
import { allowOnce, inOrder, reject } from './choices.js';
import { headline, particulars } from './wording.js';

const { l10n } = vscode;
/** Letters of a row; what stands behind it needs room too. */
const SHORT = 40;

/** What kind of answer an item wants, in a word. */
export function kindWord(item: InboxItem): string {
  switch (item.kind) {
    case 'permission':
      return l10n.t('Permission');
    case 'form':
      return l10n.t('Question');
    case 'url':
      return l10n.t('Web page');
    case 'failed':
      return l10n.t('Failed');
  }
}

/** What an item asks, never empty. */
export function askedOf(item: InboxItem): string {
  const text = headline(item);
  if (text !== '') return text;
  if (item.kind === 'permission') return l10n.t('The agent asks for permission');
  return item.kind === 'failed' ? l10n.t('The run failed') : l10n.t('The agent asks a question');
}

function icon(item: InboxItem): vscode.ThemeIcon {
  const colored = (name: string, color: string) => new vscode.ThemeIcon(name, new vscode.ThemeColor(color));
  switch (item.kind) {
    case 'permission':
      return colored('shield', 'list.warningForeground');
    case 'form':
      return colored('question', 'list.warningForeground');
    case 'url':
      return colored('link-external', 'list.warningForeground');
    case 'failed':
      return colored('error', 'list.errorForeground');
  }
}

/** Words that the menus' `when` clauses look for. */
function contextValue(item: InboxItem): string {
  const words = ['waiting', item.kind];
  if (item.kind === 'permission') {
    if (allowOnce(item.options)) words.push('allow');
    if (reject(item.options)) words.push('reject');
  }
  return words.join(':');
}

/** A fence that the text itself cannot close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

function tooltip(item: InboxItem, row: SessionRow | undefined): vscode.MarkdownString {
  const lines = [`**${escapeMarkdown(askedOf(item))}**`];
  lines.push(...particulars(item).map(fenced));
  if (item.kind === 'permission')
    lines.push(
      escapeMarkdown(
        inOrder(item.options)
          .map(({ name }) => plainLine(name))
          .join(' · '),
      ),
    );
  if (row) {
    lines.push(escapeMarkdown(l10n.t('Session: {0}', titleOf(row))));
    lines.push(escapeMarkdown(row.cwd));
  }
  lines.push(escapeMarkdown(new Date(item.at).toLocaleString(vscode.env.language)));
  return new vscode.MarkdownString(lines.filter((line) => line !== '').join('\n\n'));
}

/** A row of the view. Choosing it answers it, except for a failed run, which is opened. */
export function inboxItem(item: InboxItem, title: string, row: SessionRow | undefined): vscode.TreeItem {
  const asked = askedOf(item);
  const tree = new vscode.TreeItem(shorten(asked, SHORT), vscode.TreeItemCollapsibleState.None);
  const time = relativeTime(item.at, Date.now(), vscode.env.language);
  tree.id = item.id;
  tree.description = `${title} · ${time}`;
  tree.iconPath = icon(item);
  tree.tooltip = tooltip(item, row);
  tree.contextValue = contextValue(item);
  tree.accessibilityInformation = { label: [kindWord(item), asked, title, time].join(', ') };
  const opens = item.kind === 'failed' || !vscode.workspace.isTrusted;
  tree.command = {
    command: opens ? commandIds.openWaiting : commandIds.answer,
    title: opens ? l10n.t('Open') : l10n.t('Answer'),
    arguments: [item],
  };
  return tree;
}
