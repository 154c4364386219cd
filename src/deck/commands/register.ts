import * as vscode from 'vscode';
import * as z from 'zod';
import type { SessionRow } from '../../protocol/session.js';
import { discover } from '../agents/discover.js';
import { manageAgents, pickConfigured } from '../agents/manage.js';
import { signIn, wantsSignIn } from '../agents/sign_in.js';
import type { Deck } from '../deck.js';
import { messageOf } from '../errors.js';
import { type CommandId, commandIds, SETTINGS_SECTION, settingIds } from '../ids.js';
import { notify } from '../notify.js';
import type { TranscriptPanel } from '../panel/transcript_panel.js';
import { titleOf } from '../tree/items.js';
import { archive, unarchive } from './archive.js';
import { compareWithParent, openAsText } from './compare.js';
import { showFamily } from './family.js';
import { fork } from './fork.js';
import { nextWaiting, onItem, openWaiting } from './inbox.js';
import { newSession } from './new_session.js';
import { remove, undoDelete } from './remove.js';
import { rename } from './rename.js';
import { compact, interject, prompt } from './steer.js';
import { target, targets } from './target.js';
import { openTaskSession, showTaskOutput, stopTask } from './tasks.js';
import { showTools } from './tools.js';
import { chooseGrouping, filterTree, goToTurn, toggleAllFolders } from './tree.js';

const { l10n } = vscode;

/** What an error that wants a sign-in passes. */
const AgentNode = z.object({ kind: z.literal('agent'), agent: z.string() });

type Handler = (deck: Deck, ...args: unknown[]) => unknown;

const onSession =
  (placeHolder: () => string, run: (deck: Deck, row: SessionRow) => unknown): Handler =>
  async (deck, node) => {
    const row = await target(deck, node, placeHolder());
    if (row) await run(deck, row);
  };

const onSessions =
  (placeHolder: () => string, run: (deck: Deck, rows: readonly SessionRow[]) => unknown): Handler =>
  async (deck, node, selected) => {
    const rows = targets(deck, node, selected);
    if (rows.length > 0) return run(deck, rows);
    const row = await target(deck, undefined, placeHolder());
    return row && run(deck, [row]);
  };

const onPanel =
  (run: (panel: TranscriptPanel, deck: Deck) => unknown): Handler =>
  async (deck) => {
    const panel = deck.panels.active;
    if (panel) await run(panel, deck);
  };

async function restart({ client, log }: Deck): Promise<void> {
  const running = client.state === 'ready' ? (await client.request('deck/status', {})).counts : undefined;
  const active = (running?.running ?? 0) + (running?.needsInput ?? 0);
  if (active > 0) {
    const yes = l10n.t('Restart');
    const choice = await vscode.window.showWarningMessage(
      l10n.t('Restart the session service? {0} runs are stopped, in all windows.', active),
      { modal: true },
      yes,
    );
    if (choice !== yes) return;
  }
  log.info('Restarts the session service');
  await client.restart();
}

/** One entry for every command; forgetting one does not compile. */
const handlers: Record<CommandId, Handler> = {
  [commandIds.newSession]: (deck) => newSession(deck),
  [commandIds.open]: onSession(
    () => l10n.t('Session to open'),
    (deck, row) => void deck.panels.show(row.sessionId, titleOf(row)),
  ),
  [commandIds.prompt]: onSession(() => l10n.t('Session to prompt'), prompt),
  [commandIds.interject]: onSession(() => l10n.t('Session to add text to'), interject),
  [commandIds.cancelRun]: onSession(
    () => l10n.t('Session whose run is cancelled'),
    (deck, row) => deck.client.cancelRun(row.sessionId),
  ),
  [commandIds.fork]: onSession(
    () => l10n.t('Session to fork'),
    (deck, row) => fork(deck, row),
  ),
  [commandIds.compact]: onSession(() => l10n.t('Session to compact'), compact),
  [commandIds.rename]: onSession(() => l10n.t('Session to rename'), rename),
  [commandIds.delete]: onSessions(() => l10n.t('Session to delete'), remove),
  [commandIds.undoDelete]: (deck) => undoDelete(deck),
  [commandIds.copySessionId]: onSession(
    () => l10n.t('Session whose id is copied'),
    async (_deck, row) => {
      await vscode.env.clipboard.writeText(row.sessionId);
      vscode.window.setStatusBarMessage(l10n.t('Session id copied.'), 3_000);
    },
  ),
  [commandIds.refresh]: ({ model }) => model.refresh(),
  [commandIds.filter]: (deck) => filterTree(deck),
  [commandIds.clearFilter]: ({ model }) => model.setFilter(''),
  [commandIds.groupBy]: () => chooseGrouping(),
  [commandIds.toggleAllFolders]: () => toggleAllFolders(),
  [commandIds.loadMore]: ({ model }) => model.loadMore(),
  [commandIds.goToStart]: onPanel((panel) => panel.command('start')),
  [commandIds.goToEnd]: onPanel((panel) => panel.command('end')),
  [commandIds.goToTurn]: onPanel((panel, deck) => goToTurn(deck, panel)),
  [commandIds.previousTurn]: onPanel((panel) => panel.command('previousTurn')),
  [commandIds.nextTurn]: onPanel((panel) => panel.command('nextTurn')),
  [commandIds.toggleOutline]: onPanel((panel) => panel.command('toggleOutline')),
  [commandIds.focusPrompt]: onPanel((panel) => panel.command('focusPrompt')),
  [commandIds.showLog]: ({ log }) => log.show(),
  [commandIds.restartService]: (deck) => restart(deck),
  [commandIds.configureAgents]: () =>
    vscode.commands.executeCommand(
      'workbench.action.openSettings',
      `${SETTINGS_SECTION}.${settingIds.agents}`,
    ),
  [commandIds.answer]: onItem((deck, item) => deck.answers.answer(item)),
  [commandIds.allowOnce]: onItem((deck, item) => deck.answers.allowOnce(item)),
  [commandIds.reject]: onItem((deck, item) => deck.answers.reject(item)),
  [commandIds.decline]: onItem((deck, item) => deck.answers.reject(item)),
  [commandIds.dismiss]: onItem((deck, item) => deck.answers.dismiss(item)),
  [commandIds.openWaiting]: openWaiting,
  [commandIds.nextWaiting]: (deck) => nextWaiting(deck),
  [commandIds.stopTask]: stopTask,
  [commandIds.showTaskOutput]: showTaskOutput,
  [commandIds.openTaskSession]: openTaskSession,
  [commandIds.showTools]: onSession(() => l10n.t('Session whose tools are shown'), showTools),
  [commandIds.agents]: (deck) => manageAgents(deck),
  [commandIds.signIn]: async (deck, node) => {
    const named = AgentNode.safeParse(node).data?.agent ?? targets(deck, node, undefined)[0]?.agent;
    const agent = named ?? (await pickConfigured(deck, l10n.t('Agent to sign in to')))?.id;
    if (agent !== undefined) await signIn(deck, agent, deck.model.agentTitle(agent));
  },
  [commandIds.discover]: async (deck) => {
    const agent = await pickConfigured(deck, l10n.t('Agent whose sessions are listed'));
    if (agent) await discover(deck, agent.id, agent.title);
  },
  [commandIds.archive]: onSessions(() => l10n.t('Session to archive'), archive),
  [commandIds.unarchive]: onSessions(() => l10n.t('Session to list again'), unarchive),
  [commandIds.showArchived]: ({ model }) => model.showArchived(true),
  [commandIds.hideArchived]: ({ model }) => model.showArchived(false),
  [commandIds.showFamily]: onSession(() => l10n.t('Session whose forks are shown'), showFamily),
  [commandIds.compareWithParent]: onSession(
    () => l10n.t('Fork to compare with its parent'),
    compareWithParent,
  ),
  [commandIds.openAsText]: onSession(() => l10n.t('Session to open as text'), openAsText),
};

/** Says what went wrong, with the way out that there is: to sign in, or the log. */
async function tellError(deck: Deck, error: unknown): Promise<void> {
  const agent = wantsSignIn(error);
  const login = l10n.t('Sign In…');
  const showLog = l10n.t('Show Log');
  const chosen = await notify.error(messageOf(error), ...(agent === undefined ? [] : [login]), showLog);
  if (chosen === showLog) deck.log.show();
  if (chosen === login && agent !== undefined)
    await vscode.commands.executeCommand(commandIds.signIn, { kind: 'agent', agent });
}

/** Registers every command; what goes wrong is said once, with a way to the log. */
export function registerCommands(deck: Deck): vscode.Disposable[] {
  return Object.entries(handlers).map(([id, handler]) =>
    vscode.commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        await handler(deck, ...args);
      } catch (error) {
        if (error instanceof vscode.CancellationError) return;
        deck.log.error(`${id}: ${messageOf(error)}`);
        await tellError(deck, error);
      }
    }),
  );
}
