import * as vscode from 'vscode';
import { v7 as uuid } from 'uuid';
import { PREFIX_FORK_SCHEMA } from '../../protocol/aster.js';
import type { Turn } from '../../protocol/entry.js';
import type { SessionRow } from '../../protocol/session.js';
import type { Deck } from '../deck.js';
import { plainLine, relativeTime } from '../format.js';
import { agentName, shortTitle } from '../tree/items.js';

const { l10n } = vscode;
const TURNS = 200;
const SHOWN_FILES = 8;

/** A turn, or the row that asks for older ones. */
type TurnItem = vscode.QuickPickItem & { readonly turn?: Turn };

const count = (number: number, one: string, many: string): string | undefined => {
  if (number === 0) return undefined;
  return number === 1 ? one : many;
};

function turnItem(turn: Turn): TurnItem {
  const facts = [
    count(turn.tools, l10n.t('1 step'), l10n.t('{0} steps', turn.tools)),
    count(turn.files.length, l10n.t('1 file'), l10n.t('{0} files', turn.files.length)),
    relativeTime(turn.at, Date.now(), vscode.env.language),
  ].filter((fact) => fact !== undefined);
  return {
    label: `${String(turn.number)}  ${plainLine(turn.prompt)}`,
    description: facts.join(' · '),
    turn,
    ...(turn.boundaryEntryId === undefined
      ? {
          detail: l10n.t('Still running: a fork cuts after a completed turn.'),
          iconPath: new vscode.ThemeIcon('loading~spin'),
        }
      : {}),
  };
}

/** Asks where to cut: completed turns, newest first, older ones on demand. Resolves with the boundary's entry. */
async function pickTurn(deck: Deck, row: SessionRow): Promise<string | undefined> {
  const { sessionId } = row;
  const loaded: Turn[] = [];
  for (;;) {
    const first = loaded[0]?.number;
    if (first === undefined || first > 1) {
      const from = first === undefined ? -TURNS : Math.max(1, first - TURNS);
      const limit = first === undefined ? TURNS : first - from;
      const { turns } = await deck.client.request('deck/turns', { sessionId, from, limit });
      loaded.unshift(...turns);
    }
    const oldest = loaded[0];
    if (!oldest) {
      await vscode.window.showInformationMessage(l10n.t('“{0}” has no completed turn yet.', shortTitle(row)));
      return undefined;
    }
    const items: TurnItem[] = [...loaded].reverse().map(turnItem);
    if (oldest.number > 1) items.push({ label: l10n.t('Older turns…') });
    const chosen = await vscode.window.showQuickPick(items, {
      title: l10n.t('Fork “{0}”', shortTitle(row)),
      placeHolder: l10n.t('The fork keeps everything up to the end of the turn that you choose'),
      matchOnDescription: true,
    });
    if (chosen === undefined) return undefined;
    if (chosen.turn?.boundaryEntryId !== undefined) return chosen.turn.boundaryEntryId;
    // A running turn cannot be chosen: its row says why. It may have ended meanwhile, so all is read anew.
    if (chosen.turn) loaded.length = 0;
  }
}

/**
 * Asks in which agent the fork goes on, when there is a choice: the parent's own first. Resolves with its id, or with
 * an empty text for the parent's own; undefined: not chosen.
 */
async function pickAgent(deck: Deck, row: SessionRow): Promise<string | undefined> {
  const agents = deck.model.status?.agents ?? [];
  const others = agents.filter(({ id }) => id !== row.agent);
  // What the parent's agent is, only the service knows when the session came from a tool's own files.
  if (!vscode.workspace.isTrusted || others.length === 0 || (row.agent === undefined && agents.length <= 1))
    return '';
  const own = { label: agentName(row, deck.model.agentTitle), description: l10n.t('as before'), id: '' };
  const items = others.map(({ id, title }) => ({ label: plainLine(title), description: '', id }));
  const chosen = await vscode.window.showQuickPick([own, ...items], {
    title: l10n.t('Fork “{0}”', shortTitle(row)),
    placeHolder: l10n.t('Agent in which the fork goes on'),
  });
  return chosen?.id;
}

function changedText(files: readonly string[]): string {
  if (files.length === 0) return l10n.t('No file changed since.');
  const names = files.slice(0, SHOWN_FILES).join(', ');
  const more = files.length > SHOWN_FILES ? ` ${l10n.t('and {0} more', files.length - SHOWN_FILES)}` : '';
  return l10n.t('Changed since, and not put back: {0}', names + more);
}

/**
 * Forks a session after a completed turn: asks where and in which agent, says what is kept and which files changed since,
 * asks for a name, and opens the new session. With `boundaryEntryId` the place is known already.
 */
export async function fork(deck: Deck, row: SessionRow, boundaryEntryId?: string): Promise<void> {
  const { sessionId } = row;
  const boundary = boundaryEntryId ?? (await pickTurn(deck, row));
  if (boundary === undefined) return;
  const agent = await pickAgent(deck, row);
  if (agent === undefined) return;
  const preview = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: l10n.t('Looking for changed files…') },
    () => deck.client.request('deck/fork/preview', { sessionId, boundaryEntryId: boundary }),
  );
  const title = await vscode.window.showInputBox({
    title: l10n.t('Fork “{0}”: {1} entries are kept', shortTitle(row), preview.entryCount),
    prompt: changedText(preview.workspace.changedSinceBoundary),
    value: l10n.t('{0} (fork)', shortTitle(row)),
    validateInput: (text) => (text.trim() === '' ? l10n.t('A name is needed.') : undefined),
    ignoreFocusOut: true,
  });
  if (title === undefined) return;
  const { cwd, git_head, dirty } = preview.workspace;
  const result = await deck.client.request('aster/session/fork/prefix/v1', {
    schema: PREFIX_FORK_SCHEMA,
    sessionId,
    operationId: uuid(),
    request: {
      boundary_entry_id: boundary,
      expected_cut: preview.cut,
      target_session_id: uuid(),
      expected_workspace: {
        cwd,
        ...(git_head === undefined ? {} : { git_head }),
        ...(dirty === undefined ? {} : { dirty }),
      },
    },
    ...(agent === '' ? {} : { _meta: { agent } }),
  });
  deck.panels.show(result.sessionId, title);
  await deck.client.request('deck/session/rename', { sessionId: result.sessionId, title });
}
