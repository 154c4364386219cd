import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Deck } from '../deck.js';
import { commandIds } from '../ids.js';
import { readSettings } from '../settings.js';

const { l10n } = vscode;

async function pickFolder(): Promise<string | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  const [only] = folders;
  if (folders.length <= 1) return only?.uri.fsPath;
  const items = folders.map(({ name, uri }) => ({ label: name, description: path.dirname(uri.fsPath), uri }));
  const placeHolder = l10n.t('Folder in which the agent works');
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.uri.fsPath;
}

async function pickAgent({ model }: Deck): Promise<string | undefined> {
  const { agents, defaultAgent } = readSettings();
  const ids = Object.keys(agents);
  if (ids.length <= 1) return ids[0];
  if (defaultAgent !== undefined && ids.includes(defaultAgent)) return defaultAgent;
  const items = ids.map((id) => ({ label: agents[id]?.title ?? model.agentTitle(id), description: id, id }));
  return (await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Agent of the new session') }))?.id;
}

/** Starts a session with a configured agent, `chosen` or asked for, and opens it, ready for the first prompt. */
export async function newSession(deck: Deck, chosen?: string): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    const manage = l10n.t('Manage Workspace Trust');
    const choice = await vscode.window.showWarningMessage(
      l10n.t('Agents are not started in a restricted window.'),
      manage,
    );
    if (choice === manage) await vscode.commands.executeCommand('workbench.trust.manage');
    return;
  }
  if (Object.keys(readSettings().agents).length === 0) {
    await vscode.commands.executeCommand(commandIds.agents);
    return;
  }
  const cwd = await pickFolder();
  if (cwd === undefined) {
    if ((vscode.workspace.workspaceFolders ?? []).length === 0)
      await vscode.window.showInformationMessage(l10n.t('Open a folder first: a session works in one.'));
    return;
  }
  const agent = chosen ?? (await pickAgent(deck));
  if (agent === undefined) return;
  const { sessionId } = await vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: l10n.t('Starting {0}…', deck.model.agentTitle(agent)),
      cancellable: true,
    },
    (_progress, token) =>
      deck.client.request('session/new', { cwd, mcpServers: [], _meta: { agent } }, token),
  );
  deck.panels.show(sessionId, l10n.t('New session')).command('focusPrompt');
}
