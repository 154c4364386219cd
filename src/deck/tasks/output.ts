import * as vscode from 'vscode';
import type { SessionTask } from '../../protocol/tasks.js';
import { duration, plainLine } from '../format.js';
import { TASK_SCHEME } from '../ids.js';
import type { TasksModel } from './model.js';
import { kindWord, statusWord, taskTitle } from './items.js';
import { elapsed, plainOutput } from './task_list.js';

const { l10n } = vscode;

/** The end of a task's output as a read-only document that follows it while it is open. */
export class TaskOutput implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: { dispose(): unknown }[];

  constructor(private readonly model: TasksModel) {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(TASK_SCHEME, this),
      model.onDidChange(() => {
        for (const { uri } of vscode.workspace.textDocuments)
          if (uri.scheme === TASK_SCHEME) this.changed.fire(uri);
      }),
      this.changed,
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const task = this.model.get(uri.query);
    return task ? textOf(task) : l10n.t('This task is not there any more.');
  }

  /** Shows a task's output, at its end. */
  async show(task: SessionTask): Promise<void> {
    const name = taskTitle(task)
      .replaceAll(/[\\/]+/g, ' ')
      .slice(0, 60);
    const uri = vscode.Uri.from({ scheme: TASK_SCHEME, path: `/${name}.log`, query: task.taskId });
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document, { preview: true });
    const end = document.lineAt(document.lineCount - 1).range.end;
    editor.revealRange(new vscode.Range(end, end));
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }
}

/** What a task is and did, then the end of what it wrote. */
function textOf(task: SessionTask): string {
  const time = duration(elapsed(task, Date.now()), vscode.env.language);
  const state = statusWord(task) ?? l10n.t('Done');
  const facts = task.endedAt === undefined ? [kindWord(task), state] : [kindWord(task), state, time];
  const result = plainLine(task.result ?? '');
  const output = plainOutput(task.outputTail ?? '').trimEnd();
  return [
    taskTitle(task),
    facts.join(' · '),
    ...(result === '' ? [] : [result]),
    '',
    output === '' ? l10n.t('No output.') : output,
    '',
  ].join('\n');
}
