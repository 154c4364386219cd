import * as path from 'node:path';
import * as vscode from 'vscode';
import type { SessionRow, SourceKind } from '../../protocol/session.js';
import { escapeMarkdown, plainLine, relativeTime, shorten } from '../format.js';
import { commandIds } from '../ids.js';
import type { DayClass, Group } from './grouping.js';

const { l10n } = vscode;
/** Letters of a title in a row. */
const SHORT = 48;

/** A node of the tree. Actions of the context menus get one of these. */
export type DeckNode =
  | { readonly kind: 'group'; readonly group: Group }
  | { readonly kind: 'session'; readonly row: SessionRow; readonly parent?: DeckNode }
  | { readonly kind: 'more' };

const sourceNames: Record<SourceKind, string> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  deck: 'Session Deck',
  agent: 'Agent',
};

/** The title of an agent by its id, as far as it is known. */
export type AgentTitles = (id: string) => string;

export function agentName(row: Pick<SessionRow, 'agent' | 'source'>, titles: AgentTitles): string {
  return row.agent === undefined ? sourceNames[row.source] : titles(row.agent);
}

export function titleOf(row: SessionRow): string {
  const title = plainLine(row.title ?? row.preview ?? '');
  return title === '' ? l10n.t('Untitled session') : title;
}

/** A title that leaves room for what stands behind it; the hover has the whole. */
export function shortTitle(row: SessionRow): string {
  return shorten(titleOf(row), SHORT);
}

/** A word for every state that is worth one; idle is silence. */
export function stateWord(row: SessionRow): string | undefined {
  if (row.unreadable !== undefined) return l10n.t('Unreadable');
  switch (row.state) {
    case 'running':
      return l10n.t('Running');
    case 'needs_input':
      return l10n.t('Needs you');
    case 'failed':
      return l10n.t('Failed');
    case 'idle':
      return row.archived ? l10n.t('Archived') : undefined;
  }
}

function icon(row: SessionRow): vscode.ThemeIcon {
  const colored = (name: string, color: string) => new vscode.ThemeIcon(name, new vscode.ThemeColor(color));
  if (row.unreadable !== undefined) return colored('warning', 'list.warningForeground');
  switch (row.state) {
    case 'running':
      return colored('loading~spin', 'charts.blue');
    case 'needs_input':
      return colored('bell-dot', 'list.warningForeground');
    case 'failed':
      return colored('error', 'list.errorForeground');
    case 'idle':
      if (row.archived) return new vscode.ThemeIcon('archive');
      if (row.parent?.relation === 'fork') return new vscode.ThemeIcon('repo-forked');
      if (row.parent?.relation === 'subagent') return new vscode.ThemeIcon('type-hierarchy-sub');
      return new vscode.ThemeIcon('comment-discussion');
  }
}

function tooltip(row: SessionRow, titles: AgentTitles): vscode.MarkdownString {
  const lines = [`**${escapeMarkdown(titleOf(row))}**`];
  const preview = plainLine(row.preview ?? '');
  if (preview !== '' && preview !== titleOf(row)) lines.push(escapeMarkdown(preview));
  const facts = [
    stateWord(row),
    agentName(row, titles),
    row.model,
    row.messageCount === undefined ? undefined : l10n.t('{0} messages', row.messageCount),
  ];
  lines.push(
    facts.flatMap((fact) => (fact === undefined ? [] : [escapeMarkdown(plainLine(fact))])).join(' · '),
  );
  lines.push(escapeMarkdown(row.cwd));
  lines.push(escapeMarkdown(new Date(row.updatedAt).toLocaleString(vscode.env.language)));
  if (row.unreadable !== undefined) lines.push(escapeMarkdown(plainLine(row.unreadable)));
  return new vscode.MarkdownString(lines.filter((line) => line !== '').join('\n\n'));
}

/** Words that the menus' `when` clauses look for. */
function contextValue(row: SessionRow): string {
  const words = ['session', row.source === 'deck' ? 'own' : 'tool', row.state];
  if (row.state === 'running' || row.state === 'needs_input') words.push('active');
  if (row.unreadable !== undefined) words.push('unreadable');
  words.push(row.archived ? 'archived' : 'listed');
  if (row.parent?.relation === 'fork') words.push('fork');
  return words.join(':');
}

function sessionItem(node: Extract<DeckNode, { kind: 'session' }>, titles: AgentTitles): vscode.TreeItem {
  const { row, parent } = node;
  const item = new vscode.TreeItem(
    shortTitle(row),
    row.childCount > 0 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
  );
  const time = relativeTime(row.updatedAt, Date.now(), vscode.env.language);
  const word = stateWord(row);
  const above = parent?.kind === 'session' ? `${parent.row.sessionId}/` : '';
  item.id = `session:${above}${row.sessionId}`;
  item.description = word === undefined ? time : `${word} · ${time}`;
  item.iconPath = icon(row);
  item.tooltip = tooltip(row, titles);
  item.contextValue = contextValue(row);
  item.accessibilityInformation = {
    label: [titleOf(row), word, agentName(row, titles), time].filter((part) => part !== undefined).join(', '),
  };
  item.command = { command: commandIds.open, title: l10n.t('Open'), arguments: [node] };
  return item;
}

const dayNames: Record<DayClass, () => string> = {
  today: () => l10n.t('Today'),
  yesterday: () => l10n.t('Yesterday'),
  week: () => l10n.t('Last 7 days'),
  month: () => l10n.t('Last 30 days'),
  older: () => l10n.t('Older'),
};
const isDay = (name: string): name is DayClass => Object.hasOwn(dayNames, name);
const isSource = (name: string): name is SourceKind => Object.hasOwn(sourceNames, name);

function groupName(group: Group, titles: AgentTitles): string {
  if (group.kind === 'active') return l10n.t('Running and waiting');
  if (group.kind === 'date') return isDay(group.name) ? dayNames[group.name]() : group.name;
  if (group.kind === 'agent') return isSource(group.name) ? sourceNames[group.name] : titles(group.name);
  return group.name === '' ? l10n.t('Unknown folder') : path.basename(group.name) || group.name;
}

function groupItem(group: Group, titles: AgentTitles): vscode.TreeItem {
  const item = new vscode.TreeItem(groupName(group, titles), vscode.TreeItemCollapsibleState.Expanded);
  item.id = `group:${group.key}`;
  item.contextValue = 'group';
  item.description = String(group.rows.length);
  if (group.kind === 'folder' && group.name !== '') item.tooltip = group.name;
  return item;
}

function moreItem(): vscode.TreeItem {
  const item = new vscode.TreeItem(l10n.t('Load more…'));
  item.id = 'more';
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.command = { command: commandIds.loadMore, title: l10n.t('Load more…') };
  return item;
}

export function toItem(node: DeckNode, titles: AgentTitles): vscode.TreeItem {
  switch (node.kind) {
    case 'group':
      return groupItem(node.group, titles);
    case 'session':
      return sessionItem(node, titles);
    case 'more':
      return moreItem();
  }
}
