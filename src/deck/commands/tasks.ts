import * as vscode from 'vscode';
import { v7 as uuid } from 'uuid';
import { BACKGROUND_TASKS_SCHEMA } from '../../protocol/aster.js';
import { SessionTask } from '../../protocol/tasks.js';
import type { Deck } from '../deck.js';
import { notify } from '../notify.js';
import { kindWord, statusWord, taskTitle } from '../tasks/items.js';

const { l10n } = vscode;

/** The task that a row gave, as it is now; else one that is picked. */
async function taskFor(
  deck: Deck,
  given: unknown,
  placeHolder: string,
  suits: (task: SessionTask) => boolean,
): Promise<SessionTask | undefined> {
  const parsed = SessionTask.safeParse(given);
  if (parsed.success) return deck.tasks.get(parsed.data.taskId) ?? parsed.data;
  await deck.client.start();
  const items = deck.tasks.tasks.filter(suits).map((task) => ({
    label: taskTitle(task),
    description: [kindWord(task), statusWord(task)].filter((word) => word !== undefined).join(' · '),
    ...(task.sessionId === undefined ? {} : { detail: deck.names.title(task.sessionId) }),
    task,
  }));
  if (items.length === 0) {
    notify.brief(l10n.t('There is no background task.'));
    return undefined;
  }
  return (await vscode.window.showQuickPick(items, { placeHolder, matchOnDetail: true }))?.task;
}

export async function showTaskOutput(deck: Deck, given: unknown): Promise<void> {
  const task = await taskFor(deck, given, l10n.t('Task whose output is shown'), () => true);
  if (task) await deck.taskOutput.show(task);
}

export function openTaskSession(deck: Deck, given: unknown): void {
  const { sessionId } = SessionTask.parse(given);
  if (sessionId !== undefined) deck.panels.show(sessionId, deck.names.title(sessionId));
}

/** Ends a task; asks first when a process is killed. */
export async function stopTask(deck: Deck, given: unknown): Promise<void> {
  const task = await taskFor(
    deck,
    given,
    l10n.t('Task to stop'),
    ({ status, sessionId }) => status === 'running' && sessionId !== undefined,
  );
  if (task?.sessionId === undefined) return;
  const stop = l10n.t('Stop');
  if (task.kind === 'command') {
    const detail = l10n.t('The process ends, and all that it started.');
    if ((await notify.ask(l10n.t('Stop “{0}”?', taskTitle(task)), detail, stop)) !== stop) return;
  }
  const row = await deck.names.find(task.sessionId);
  const { stopped } = await deck.client.request('aster/session/background-tasks/stop/v1', {
    schema: BACKGROUND_TASKS_SCHEMA,
    sessionId: task.sessionId,
    operationId: uuid(),
    cwd: row?.cwd ?? '',
    taskId: task.taskId,
  });
  notify.brief(
    stopped ? l10n.t('Stopped: {0}', taskTitle(task)) : l10n.t('“{0}” had already ended.', taskTitle(task)),
  );
}
