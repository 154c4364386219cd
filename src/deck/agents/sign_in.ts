import * as vscode from 'vscode';
import type { AuthMethod } from '../../protocol/agents.js';
import type { Deck } from '../deck.js';
import { ServiceError } from '../errors.js';
import { plainLine } from '../format.js';
import { notify } from '../notify.js';

const { l10n } = vscode;

/** The agent that a failed request wants the person to sign in to. */
export function wantsSignIn(error: unknown): string | undefined {
  if (!(error instanceof ServiceError) || error.data?.['authRequired'] !== true) return undefined;
  const agent = error.data['agent'];
  return typeof agent === 'string' ? agent : undefined;
}

/** Runs the agent's own sign-in program in a terminal; it is a program with arguments, no line for a shell. */
function inTerminal(title: string, { command, args, env }: NonNullable<AuthMethod['terminal']>): void {
  const terminal = vscode.window.createTerminal({
    name: l10n.t('Sign in to {0}', title),
    shellPath: command,
    shellArgs: args,
    env,
    iconPath: new vscode.ThemeIcon('key'),
    isTransient: true,
  });
  terminal.show();
}

const cancellable = <T>(title: string, run: (token: vscode.CancellationToken) => Promise<T>): Thenable<T> =>
  vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    (_progress, token) => run(token),
  );

/** Starts the agent, asks which of its ways to sign in, and goes that way. */
export async function signIn({ client }: Deck, agent: string, title: string): Promise<void> {
  const details = await cancellable(l10n.t('Starting {0}…', title), (token) =>
    client.request('deck/agent/details', { agent }, token),
  );
  const items = details.authMethods.map((method) => ({
    label: plainLine(method.name),
    ...(method.terminal === undefined ? {} : { description: l10n.t('in a terminal') }),
    detail: plainLine(method.description ?? ''),
    method,
  }));
  if (items.length === 0) {
    await notify.info(l10n.t('{0} offers no way to sign in. Do it in its own program.', title));
    return;
  }
  const chosen = await vscode.window.showQuickPick(items, {
    title: l10n.t('Sign in to {0}', title),
    placeHolder: l10n.t('How to sign in'),
  });
  if (!chosen) return;
  const { method } = chosen;
  if (method.terminal) {
    inTerminal(title, method.terminal);
    return;
  }
  await cancellable(l10n.t('Signing in to {0}…', title), (token) =>
    client.request('deck/agent/authenticate', { agent, methodId: method.id }, token),
  );
  notify.brief(l10n.t('Signed in to {0}.', title));
}
