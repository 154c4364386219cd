import * as vscode from 'vscode';
import type { SessionTask } from '../../protocol/tasks.js';
import { duration, escapeMarkdown, plainLine, shorten } from '../format.js';
import { commandIds } from '../ids.js';
import { elapsed, lastLine } from './task_list.js';

const { l10n } = vscode;
/** Letters of a row; what stands behind it needs room too. */
const SHORT = 32;

const kindIcons: Record<SessionTask['kind'], string> = {
  subagent: 'type-hierarchy-sub',
  memory_extraction: 'lightbulb',
  command: 'terminal',
  service: 'gear',
};

export function kindWord({ kind }: SessionTask): string {
  switch (kind) {
    case 'subagent':
      return l10n.t('Sub-agent');
    case 'memory_extraction':
      return l10n.t('Memory');
    case 'command':
      return l10n.t('Command');
    case 'service':
      return l10n.t('Session service');
  }
}

/** A word for a task that did not simply succeed. */
export function statusWord({ status }: SessionTask): string | undefined {
  switch (status) {
    case 'running':
      return l10n.t('Running');
    case 'failed':
      return l10n.t('Failed');
    case 'cancelled':
      return l10n.t('Stopped');
    case 'completed':
      return undefined;
  }
}

export function taskTitle(task: SessionTask): string {
  return plainLine(task.title) || kindWord(task);
}

function icon(task: SessionTask): vscode.ThemeIcon {
  if (task.status === 'running')
    return new vscode.ThemeIcon(kindIcons[task.kind], new vscode.ThemeColor('charts.blue'));
  if (task.status === 'failed')
    return new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
  return new vscode.ThemeIcon(task.status === 'cancelled' ? 'circle-slash' : kindIcons[task.kind]);
}

/** A row of the view. Choosing it shows its output. */
export function taskItem(task: SessionTask, session: string | undefined): vscode.TreeItem {
  const title = taskTitle(task);
  const item = new vscode.TreeItem(shorten(title, SHORT), vscode.TreeItemCollapsibleState.None);
  const time = duration(elapsed(task, Date.now()), vscode.env.language);
  const word = statusWord(task);
  const last = lastLine(task);
  const facts = [word, session, time].filter((part) => part !== undefined);
  item.id = task.taskId;
  item.description = [...facts, ...(last === '' ? [] : [last])].join(' · ');
  item.iconPath = icon(task);
  item.contextValue = [
    'task',
    task.kind,
    task.status,
    ...(task.status === 'running' && task.sessionId !== undefined ? ['stoppable'] : []),
    ...(task.sessionId === undefined ? [] : ['session']),
  ].join(':');
  const lines = [
    `**${escapeMarkdown(title)}**`,
    escapeMarkdown([kindWord(task), ...facts].join(' · ')),
    escapeMarkdown(plainLine(task.result ?? '')),
    escapeMarkdown(last),
  ];
  item.tooltip = new vscode.MarkdownString([...new Set(lines)].filter((line) => line !== '').join('\n\n'));
  item.accessibilityInformation = { label: [kindWord(task), title, ...facts].join(', ') };
  item.command = { command: commandIds.showTaskOutput, title: l10n.t('Show Output'), arguments: [task] };
  return item;
}
