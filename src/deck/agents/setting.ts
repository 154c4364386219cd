import * as vscode from 'vscode';
import type { AgentDefinition } from '../../protocol/agents.js';
import { SETTINGS_SECTION, settingIds } from '../ids.js';
import { writeSetting } from '../settings.js';

/** The user's own value of the setting, as it was written: what does not fit a schema stays in it. */
function written(): Record<string, unknown> {
  const section = vscode.workspace.getConfiguration(SETTINGS_SECTION);
  const value: unknown = section.inspect(settingIds.agents)?.globalValue;
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Adds an agent to the user's settings, or replaces it. */
export async function addAgent(id: string, definition: AgentDefinition): Promise<void> {
  await writeSetting(settingIds.agents, { ...written(), [id]: definition });
}

/** Takes an agent out of the user's settings; false when it stands elsewhere. */
export async function removeAgent(id: string): Promise<boolean> {
  const { [id]: gone, ...others } = written();
  if (gone === undefined) return false;
  await writeSetting(settingIds.agents, others);
  return true;
}

export async function setDefaultAgent(id: string): Promise<void> {
  await writeSetting(settingIds.defaultAgent, id);
}
