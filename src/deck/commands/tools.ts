import * as vscode from 'vscode';
import { v7 as uuid } from 'uuid';
import { TOOLING_SCHEMA } from '../../protocol/aster.js';
import { currentName } from '../../protocol/choices.js';
import type { ConfigOption, Tooling } from '../../protocol/controls.js';
import type { SessionRow } from '../../protocol/session.js';
import type { Deck } from '../deck.js';
import { plainLine } from '../format.js';
import { titleOf } from '../tree/items.js';

const { l10n } = vscode;

/** A row of the catalogue; some do something. */
type Item = vscode.QuickPickItem & { readonly opens?: boolean };

const separator = (label: string): Item => ({ label, kind: vscode.QuickPickItemKind.Separator });
const section = (label: string, items: readonly Item[]): Item[] =>
  items.length === 0 ? [] : [separator(label), ...items];
const text = (value: string | null | undefined) => plainLine(value ?? '');

function originOf(origin: Tooling['tools'][number]['origin']): string {
  if (origin === 'agent') return l10n.t('of the agent');
  if (origin === 'host') return l10n.t('of this window');
  return l10n.t('of the MCP server {0}', plainLine(origin.slice('mcp:'.length)));
}

/** What is there or not, with the reason. */
function available(
  name: string,
  description: string,
  isThere: boolean,
  detail: string,
  reason?: string,
): Item {
  const why = isThere ? detail : [l10n.t('Not available'), text(reason)].filter(Boolean).join(': ');
  return {
    label: `$(${isThere ? 'check' : 'error'}) ${plainLine(name)}`,
    ...(description === '' ? {} : { description }),
    ...(why === '' ? {} : { detail: why }),
  };
}

function valueOf(option: ConfigOption): string {
  if (option.type === 'select') return plainLine(currentName(option));
  return option.currentValue ? l10n.t('On') : l10n.t('Off');
}

/** The catalogue as rows, grouped. */
function itemsOf({ tools, mcp, commands, modes, configOptions, live }: Tooling): Item[] {
  const open: Item[] = [
    {
      label: `$(plug) ${l10n.t('Open in the agent')}`,
      detail: l10n.t('The session is not open in a running agent: this is what it said last.'),
      opens: true,
    },
  ];
  const rows = [
    ...section(
      l10n.t('Tools'),
      tools.map((tool) =>
        available(
          tool.title ?? tool.name,
          originOf(tool.origin),
          tool.available,
          text(tool.description),
          tool.reason,
        ),
      ),
    ),
    ...section(
      l10n.t('MCP servers'),
      mcp.map((server) => available(server.server, '', server.available, '', server.reason)),
    ),
    ...section(
      l10n.t('Commands'),
      commands.map(({ name, description, input }) => ({
        label: `$(terminal) /${plainLine(name)}`,
        ...(input ? { description: text(input.hint) } : {}),
        detail: text(description),
      })),
    ),
    ...section(
      l10n.t('Modes'),
      (modes?.availableModes ?? []).map((mode) => ({
        label: `$(${mode.id === modes?.currentModeId ? 'circle-filled' : 'circle-outline'}) ${plainLine(mode.name)}`,
        ...(mode.id === modes?.currentModeId ? { description: l10n.t('current') } : {}),
        detail: text(mode.description),
      })),
    ),
    ...section(
      l10n.t('Options'),
      configOptions.map((option) => ({
        label: `$(settings) ${plainLine(option.name)}`,
        description: valueOf(option),
        detail: text(option.description),
      })),
    ),
  ];
  if (rows.length === 0) rows.push({ label: l10n.t('The agent has announced nothing yet.') });
  return live ? rows : [...(vscode.workspace.isTrusted ? open : []), ...rows];
}

/** Shows what a session's agent announced: tools, MCP servers, commands, modes and options; follows changes. */
export async function showTools(deck: Deck, row: SessionRow): Promise<void> {
  const { client } = deck;
  const { sessionId, cwd } = row;
  const pick = vscode.window.createQuickPick<Item>();
  let shown: Tooling | undefined;
  // All rows are of one generation; an older one that arrives late is left out.
  const show = (tooling: Tooling) => {
    if (shown && tooling.generation < shown.generation) return;
    shown = tooling;
    pick.items = itemsOf(tooling);
  };
  pick.title = l10n.t('Tools of “{0}”', titleOf(row));
  pick.placeholder = l10n.t('Words to look for');
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.busy = true;
  const updates = client.on('aster/session/tooling/update', (update) => {
    if (update.sessionId === sessionId) show(update);
  });
  const hidden = new Promise<void>((resolve) => pick.onDidHide(resolve));
  pick.show();
  try {
    const params = { schema: TOOLING_SCHEMA, sessionId, operationId: uuid(), cwd } as const;
    show(await client.request('aster/session/tooling/v1', params));
    pick.busy = false;
    const wantsToOpen = new Promise<boolean>((resolve) => {
      pick.onDidAccept(() => {
        if (pick.activeItems[0]?.opens === true) resolve(true);
      });
      void hidden.then(() => resolve(false));
    });
    if (!(await wantsToOpen)) return;
    pick.busy = true;
    show(await client.request('deck/session/open', { sessionId }));
    pick.busy = false;
    await hidden;
  } finally {
    updates.dispose();
    pick.dispose();
  }
}
