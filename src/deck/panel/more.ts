import * as vscode from 'vscode';
import type { SessionDetails } from '../../protocol/session.js';
import type { PageAction } from '../../protocol/webview.js';

const { l10n } = vscode;
type Item = vscode.QuickPickItem & { readonly action: PageAction };

const item = (label: string, icon: string, action: PageAction): Item => ({
  label,
  iconPath: new vscode.ThemeIcon(icon),
  action,
});

/** What can be done with a session, for a page that has no room for all the buttons. Undefined: nothing was chosen. */
export async function pickAction(details: SessionDetails): Promise<PageAction | undefined> {
  const { parent, children, can, activeRun, archived } = details;
  const isFork = parent?.relation === 'fork';
  const items = [
    ...(can.compact && activeRun === undefined
      ? [item(l10n.t('Compact'), 'fold', { kind: 'action', action: 'compact' })]
      : []),
    item(l10n.t('Tools of the agent'), 'tools', { kind: 'action', action: 'showTools' }),
    ...(isFork || children.some((one) => one.parent?.relation === 'fork')
      ? [item(l10n.t('Fork family'), 'type-hierarchy', { kind: 'action', action: 'showFamily' })]
      : []),
    ...(isFork
      ? [
          item(l10n.t('Compare with parent'), 'diff-sidebyside', {
            kind: 'action',
            action: 'compareWithParent',
          }),
        ]
      : []),
    ...(archived ? [item(l10n.t('Unarchive'), 'archive', { kind: 'action', action: 'unarchive' })] : []),
    item(l10n.t('Rename'), 'pencil', { kind: 'action', action: 'rename' }),
  ];
  return (await vscode.window.showQuickPick(items, { placeHolder: l10n.t('More actions') }))?.action;
}
