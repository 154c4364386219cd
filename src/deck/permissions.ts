import * as vscode from 'vscode';
import * as z from 'zod';
import type { PermissionOption, PermissionParams, PermissionResult } from '../protocol/acp.js';
import type { SessionRow } from '../protocol/session.js';
import type { ServiceClient } from './client.js';
import { plainLine } from './format.js';
import { shortTitle } from './tree/items.js';

const { l10n } = vscode;
const MAX_DETAIL = 1_500;
/** The narrowest yes first, then the wider one, then the ways to say no. */
const order: readonly PermissionOption['kind'][] = [
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
];

const Command = z.looseObject({ command: z.union([z.string(), z.array(z.string())]) });
const Locations = z.array(z.looseObject({ path: z.string() }));

/** What the agent wants to do, as text of the question; never markup. */
function detailOf(params: PermissionParams): string {
  const { toolCall } = params;
  const lines: string[] = [];
  const command = Command.safeParse(toolCall['rawInput']);
  if (command.success) lines.push([command.data.command].flat().join(' '));
  const locations = Locations.safeParse(toolCall['locations']);
  if (locations.success) lines.push(...locations.data.map(({ path }) => path));
  const text = lines.join('\n');
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL)}…` : text;
}

/** Shows what agents ask as modal choices, one at a time; one that is answered elsewhere is taken back. */
export class PermissionDialogs {
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    client: ServiceClient,
    private readonly rowOf: (sessionId: string) => SessionRow | undefined,
  ) {
    client.askPermission = (params, token) => {
      const answer = this.last.then(() => this.ask(params, token));
      this.last = answer.catch(() => undefined);
      return answer;
    };
  }

  private async ask(params: PermissionParams, token: vscode.CancellationToken): Promise<PermissionResult> {
    if (token.isCancellationRequested) return { outcome: { outcome: 'cancelled' } };
    const options = [...params.options].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
    // Closing the dialog is the narrowest no that the agent offers.
    const close = options.find(({ kind }) => kind === 'reject_once');
    const items = options.map((option) => ({
      title: plainLine(option.name),
      optionId: option.optionId,
      isCloseAffordance: option === close,
    }));
    const title = plainLine(params.toolCall.title ?? '') || l10n.t('The agent asks for permission');
    const row = this.rowOf(params.sessionId);
    const detail = [
      row === undefined ? '' : [l10n.t('Session: {0}', shortTitle(row)), row.cwd].join('\n'),
      detailOf(params),
    ];
    const elsewhere = new Promise<undefined>((resolve) => {
      token.onCancellationRequested(() => resolve(undefined));
    });
    const question = vscode.window.showWarningMessage(
      title,
      { modal: true, detail: detail.filter((line) => line !== '').join('\n\n') },
      ...items,
    );
    const chosen = await Promise.race([question, elsewhere]);
    if (!chosen) return { outcome: { outcome: 'cancelled' } };
    return { outcome: { outcome: 'selected', optionId: chosen.optionId } };
  }
}
