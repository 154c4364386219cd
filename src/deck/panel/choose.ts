import * as vscode from 'vscode';
import { currentName, groupsOf, modesOf } from '../../protocol/choices.js';
import type { ConfigOption, Tooling } from '../../protocol/controls.js';
import type { PageAction } from '../../protocol/webview.js';
import { plainLine } from '../format.js';

const { l10n } = vscode;

type Control = Extract<PageAction, { action: 'choose' }>['control'];
type Choice =
  | { readonly kind: 'mode'; readonly modeId: string }
  | { readonly kind: 'select'; readonly configId: string; readonly value: string }
  | { readonly kind: 'boolean'; readonly configId: string; readonly value: boolean }
  /** Not a value yet: goes on to the values of this one. */
  | { readonly kind: 'control'; readonly control: Control };
type Item = vscode.QuickPickItem & { readonly choice?: Choice };

/** What choosing needs of its session. */
export interface Choosable {
  /** What is known, also when the agent is not running. */
  readonly tooling: Tooling | undefined;
  /** Starts the agent; the answer is live. */
  open(token: vscode.CancellationToken): Promise<Tooling>;
  setMode(modeId: string): Promise<void>;
  setOption(configId: string, value: string | boolean): Promise<void>;
  /** Tells the page how far it is. */
  tell(starting: boolean): void;
}

const separator = (label: string): Item => ({ label, kind: vscode.QuickPickItemKind.Separator });
const valueItem = (
  name: string,
  description: string | null | undefined,
  current: boolean,
  choice: Choice,
): Item => ({
  label: plainLine(name),
  ...(description === null || description === undefined ? {} : { detail: plainLine(description) }),
  ...(current ? { description: l10n.t('current') } : {}),
  iconPath: new vscode.ThemeIcon(current ? 'check' : 'blank'),
  choice,
});

function optionItems(option: ConfigOption): Item[] {
  const configId = option.id;
  if (option.type === 'boolean')
    return [true, false].map((value) =>
      valueItem(value ? l10n.t('On') : l10n.t('Off'), undefined, option.currentValue === value, {
        kind: 'boolean',
        configId,
        value,
      }),
    );
  return groupsOf(option).flatMap(({ name: group, values }): Item[] => [
    ...(group === undefined ? [] : [separator(plainLine(group))]),
    ...values.map(({ value, name, description }) =>
      valueItem(name, description, value === option.currentValue, { kind: 'select', configId, value }),
    ),
  ]);
}

const shownValue = (option: ConfigOption): string => {
  if (option.type === 'select') return currentName(option);
  return option.currentValue ? l10n.t('On') : l10n.t('Off');
};

function itemsOf(tooling: Tooling, control: Control): { title: string; items: Item[] } {
  const { modes, configOptions } = tooling;
  if (control.kind === 'mode')
    return {
      title: l10n.t('Mode'),
      items: (modes?.availableModes ?? []).map(({ id, name, description }) =>
        valueItem(name, description, id === modes?.currentModeId, { kind: 'mode', modeId: id }),
      ),
    };
  if (control.kind === 'option') {
    const option = configOptions.find(({ id }) => id === control.configId);
    return { title: plainLine(option?.name ?? ''), items: option ? optionItems(option) : [] };
  }
  const modeItem = modes?.availableModes.find(({ id }) => id === modes.currentModeId);
  return {
    title: l10n.t('Choose for this session'),
    items: [
      ...(modes && modesOf(tooling)
        ? [
            {
              label: l10n.t('Mode'),
              description: plainLine(modeItem?.name ?? modes.currentModeId),
              choice: { kind: 'control' as const, control: { kind: 'mode' as const } },
            },
          ]
        : []),
      ...configOptions.map((option) => ({
        label: plainLine(option.name),
        description: plainLine(shownValue(option)),
        choice: { kind: 'control' as const, control: { kind: 'option' as const, configId: option.id } },
      })),
    ],
  };
}

/**
 * Lets the person choose a mode or the value of an option; starts the agent first when it is not running. Throws what
 * starting and setting throw; choosing nothing is no error.
 */
export async function choose(session: Choosable, control: Control): Promise<void> {
  const pick = vscode.window.createQuickPick<Item>();
  const cancel = new vscode.CancellationTokenSource();
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  const show = (tooling: Tooling, what: Control) => {
    const { title, items } = itemsOf(tooling, what);
    pick.title = title;
    pick.placeholder = items.length === 0 ? l10n.t('The agent offers nothing to choose here.') : '';
    pick.items = items;
    pick.activeItems = items.filter(({ description }) => description === l10n.t('current'));
  };
  try {
    const chosen = new Promise<Choice | undefined>((resolve) => {
      pick.onDidAccept(() => {
        const choice = pick.selectedItems[0]?.choice;
        if (choice?.kind !== 'control') resolve(choice);
        else if (tooling) {
          pick.value = '';
          show(tooling, choice.control);
        }
      });
      pick.onDidHide(() => {
        cancel.cancel();
        resolve(undefined);
      });
    });
    let { tooling } = session;
    pick.show();
    if (tooling?.live !== true) {
      pick.busy = true;
      pick.placeholder = l10n.t('Starting the agent…');
      session.tell(true);
      tooling = await session.open(cancel.token);
      session.tell(false);
      pick.busy = false;
    }
    show(tooling, control);
    const choice = await chosen;
    pick.hide();
    if (choice?.kind === 'mode') await session.setMode(choice.modeId);
    else if (choice?.kind === 'select' || choice?.kind === 'boolean')
      await session.setOption(choice.configId, choice.value);
  } finally {
    pick.dispose();
    cancel.dispose();
  }
}
