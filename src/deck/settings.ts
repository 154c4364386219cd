import * as vscode from 'vscode';
import type { ClientOptions } from '../protocol/deck.js';
import { SETTINGS_SECTION } from './ids.js';
import { findRipgrep } from './ripgrep.js';
import { parseSettings, type Settings } from './settings_schema.js';

export { GroupBy, type Settings } from './settings_schema.js';

export function readSettings(): Settings {
  const section = vscode.workspace.getConfiguration(SETTINGS_SECTION);
  return parseSettings((id) => section.get(id));
}

/** Writes a setting for the user, on the machine where the agents run. */
export async function writeSetting(id: string, value: unknown): Promise<void> {
  const section = vscode.workspace.getConfiguration(SETTINGS_SECTION);
  await section.update(id, value, vscode.ConfigurationTarget.Global);
}

/** What the service is told about this window. `hasModel`: the window has a language model of its own. */
export function clientOptions(settings: Settings, hasModel: boolean): ClientOptions {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const { agents, defaultAgent, smallJobs, embeddings } = settings;
  const ripgrep = findRipgrep(vscode.env.appRoot);
  return {
    workspaces: folders.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath),
    allFolders: settings.allFolders,
    trusted: vscode.workspace.isTrusted,
    hasModel,
    config: {
      agents,
      ...(defaultAgent === undefined ? {} : { defaultAgent }),
      smallJobs,
      ...(embeddings === undefined ? {} : { embeddings }),
      ...(ripgrep === undefined ? {} : { ripgrep }),
    },
  };
}
