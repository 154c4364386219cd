import * as vscode from 'vscode';
import * as z from 'zod';
import { AgentDefinition } from '../protocol/agents.js';
import type { ClientOptions } from '../protocol/deck.js';
import { SETTINGS_SECTION, settingIds } from './ids.js';

export const GroupBy = z.enum(['folder', 'date', 'agent']);
export type GroupBy = z.infer<typeof GroupBy>;

const Agents = z.record(z.string().min(1).max(64), AgentDefinition);

/** A setting that does not fit is left out and named in `problems`; the others still hold. */
export interface Settings {
  readonly agents: z.infer<typeof Agents>;
  readonly defaultAgent?: string;
  readonly allFolders: boolean;
  readonly groupBy: GroupBy;
  readonly problems: readonly string[];
}

export function readSettings(): Settings {
  const section = vscode.workspace.getConfiguration(SETTINGS_SECTION);
  const problems: string[] = [];
  const read = <T>(id: string, schema: z.ZodType<T>, fallback: T): T => {
    const raw: unknown = section.get(id);
    const parsed = schema.safeParse(raw ?? fallback);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    const where = [SETTINGS_SECTION, id, ...(issue?.path ?? [])].map(String).join('.');
    problems.push(`${where}: ${issue?.message ?? ''}`);
    return fallback;
  };
  const agents = read(settingIds.agents, Agents, {});
  const defaultAgent = read(settingIds.defaultAgent, z.string(), '');
  return {
    agents,
    ...(defaultAgent === '' ? {} : { defaultAgent }),
    allFolders: read(settingIds.allFolders, z.boolean(), false),
    groupBy: read(settingIds.groupBy, GroupBy, 'folder'),
    problems,
  };
}

/** What the service is told about this window. */
export function clientOptions(settings: Settings): ClientOptions {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return {
    workspaces: folders.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath),
    allFolders: settings.allFolders,
    trusted: vscode.workspace.isTrusted,
    config: {
      agents: settings.agents,
      ...(settings.defaultAgent === undefined ? {} : { defaultAgent: settings.defaultAgent }),
    },
  };
}
