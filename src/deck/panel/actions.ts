import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { PageAction } from '../../protocol/webview.js';
import { fork } from '../commands/fork.js';
import { rename } from '../commands/rename.js';
import { compact } from '../commands/steer.js';
import type { Deck } from '../deck.js';
import { pickAction } from './more.js';
import type { TranscriptPanel } from './transcript_panel.js';

const { l10n } = vscode;

async function openFile(name: string, cwd: string, line: number | undefined): Promise<void> {
  const file = path.resolve(cwd, name);
  // Looking at a network path would sign in to whatever machine a transcript names.
  if (file.startsWith('\\\\') && !cwd.startsWith('\\\\'))
    throw new Error(l10n.t('Files on other machines are not opened: {0}', file));
  try {
    if (!(await fs.stat(file)).isFile()) throw new Error('not a file');
  } catch {
    // A transcript names files as they once were.
    await vscode.window.showInformationMessage(l10n.t('{0} is not there any more.', file));
    return;
  }
  const place = line === undefined ? undefined : new vscode.Range(line - 1, 0, line - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), {
    preview: true,
    ...(place === undefined ? {} : { selection: place }),
  });
}

/** Only the web: a transcript must not start anything else. */
async function openLink(href: string): Promise<void> {
  if (!/^https?:/i.test(href)) {
    await vscode.window.showInformationMessage(l10n.t('Links of this kind are not opened: {0}', href));
    return;
  }
  await vscode.env.openExternal(vscode.Uri.parse(href, true));
}

async function openDiff(deck: Deck, panel: TranscriptPanel, entryId: string, index: number): Promise<void> {
  const entry = await panel.entry(entryId);
  // A question shows the changes that it is about, which its entry does not hold.
  const diff = (panel.facts.question(entryId)?.tool.diffs ?? entry?.tool?.diffs)?.[index];
  if (!diff) {
    await vscode.window.showInformationMessage(l10n.t('This change is not in the transcript any more.'));
    return;
  }
  await deck.diffs.open(diff, l10n.t('{0} (change by the agent)', path.basename(diff.path)));
}

/** The address of a question, shown in full before it is opened. */
async function openQuestionUrl(url: string): Promise<void> {
  if (!/^https?:/i.test(url)) {
    await openLink(url);
    return;
  }
  const open = l10n.t('Open');
  const copy = l10n.t('Copy');
  const choice = await vscode.window.showInformationMessage(
    l10n.t('The agent asks you to visit this address'),
    { modal: true, detail: url },
    open,
    copy,
  );
  if (choice === open) await openLink(url);
  else if (choice === copy) await vscode.env.clipboard.writeText(url);
}

/** Runs a command of ours on the panel's session, as the tree does. */
async function onSession(panel: TranscriptPanel, command: string): Promise<void> {
  const { details } = panel;
  if (details) await vscode.commands.executeCommand(command, { kind: 'session', row: details });
}

/** Carries out what a person chose on the page. */
export async function act(deck: Deck, panel: TranscriptPanel, action: PageAction): Promise<void> {
  const { details } = panel;
  switch (action.action) {
    case 'fork':
      if (details) await fork(deck, details, action.boundaryEntryId);
      return;
    case 'cancelRun':
      await deck.client.cancelRun(panel.sessionId);
      return;
    case 'compact':
      if (details) await compact(deck, details);
      return;
    case 'rename':
      if (details) await rename(deck, details);
      return;
    case 'copyText':
      await vscode.env.clipboard.writeText(action.text);
      return;
    case 'openFile':
      if (details) await openFile(action.path, details.cwd, action.line);
      return;
    case 'openDiff':
      await openDiff(deck, panel, action.entryId, action.index);
      return;
    case 'openLink':
      await openLink(action.href);
      return;
    case 'openSession':
      deck.panels.show(action.sessionId, l10n.t('Session'));
      return;
    case 'showLog':
      deck.log.show();
      return;
    case 'choose':
      await panel.choose(action.control);
      return;
    case 'pickFiles':
      await panel.pickFiles();
      return;
    case 'dropImages':
      await panel.images.drop(action.ids);
      return;
    case 'more': {
      const chosen = details && (await pickAction(details));
      if (chosen) await act(deck, panel, chosen);
      return;
    }
    case 'showTasks':
      await vscode.commands.executeCommand('sessionDeck.tasks.focus');
      return;
    case 'showTools':
      await onSession(panel, 'sessionDeck.showTools');
      return;
    case 'showFamily':
      await onSession(panel, 'sessionDeck.showFamily');
      return;
    case 'compareWithParent':
      await onSession(panel, 'sessionDeck.compareWithParent');
      return;
    case 'unarchive':
      if (details) await deck.client.request('session/unarchive', { sessionId: details.sessionId });
      return;
    case 'signIn':
      await onSession(panel, 'sessionDeck.signIn');
      return;
    case 'openQuestionUrl':
      await openQuestionUrl(action.url);
      return;
  }
}
