import * as vscode from 'vscode';

const { l10n } = vscode;

/** How a step of a form ended: with a value, or by going back, saying no, or leaving everything as it is. */
export type Step<T> = { readonly value: T } | 'back' | 'decline' | 'leave';

/** What stands around the input of one step. */
export interface StepFrame {
  readonly title: string;
  /** 1-based. */
  readonly step: number;
  readonly totalSteps: number;
  /** What is asked for. */
  readonly prompt: string;
}

const decline: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon('circle-slash'),
  get tooltip() {
    return l10n.t('Decline to answer');
  },
};

/** Shows an input until it settles. `settle` may be called more than once; the first counts. */
function until<T>(
  input: vscode.InputBox | vscode.QuickPick<vscode.QuickPickItem>,
  { title, step, totalSteps }: StepFrame,
  wire: (settle: (value: T) => void) => void,
): Promise<Step<T>> {
  input.title = title;
  input.step = step;
  input.totalSteps = totalSteps;
  input.ignoreFocusOut = true;
  input.buttons = [...(step > 1 ? [vscode.QuickInputButtons.Back] : []), decline];
  return new Promise<Step<T>>((resolve) => {
    input.onDidTriggerButton((button) => resolve(button === decline ? 'decline' : 'back'));
    input.onDidHide(() => resolve('leave'));
    wire((value) => resolve({ value }));
    input.show();
  }).finally(() => input.dispose());
}

/** Asks for a line of text. `check` says what is wrong with it, or nothing. */
export function askText(
  frame: StepFrame,
  options: {
    readonly value: string;
    readonly secret: boolean;
    readonly check: (text: string) => string | undefined;
  },
): Promise<Step<string>> {
  const box = vscode.window.createInputBox();
  box.prompt = frame.prompt;
  box.value = options.value;
  box.password = options.secret;
  let tried = false;
  return until<string>(box, frame, (settle) => {
    box.onDidChangeValue((text) => {
      // Nothing is wrong with a text that is still being typed for the first time.
      if (tried) box.validationMessage = options.check(text);
    });
    box.onDidAccept(() => {
      tried = true;
      box.validationMessage = options.check(box.value);
      if (box.validationMessage === undefined) settle(box.value);
    });
  });
}

/** A row that stands for a value. */
export interface ValueItem<T> extends vscode.QuickPickItem {
  readonly value: T;
}

/** Asks for one of several values. */
export function askOne<T>(
  frame: StepFrame,
  items: readonly ValueItem<T>[],
  active: ValueItem<T> | undefined,
): Promise<Step<T>> {
  const pick = vscode.window.createQuickPick<ValueItem<T>>();
  pick.placeholder = frame.prompt;
  pick.items = items;
  pick.matchOnDescription = true;
  if (active) pick.activeItems = [active];
  return until<T>(pick, frame, (settle) => {
    pick.onDidAccept(() => {
      const [chosen] = pick.selectedItems;
      if (chosen) settle(chosen.value);
    });
  });
}

/** Asks for any number of values. `check` says what is wrong with so many, or nothing. */
export function askSome<T>(
  frame: StepFrame,
  items: readonly ValueItem<T>[],
  selected: readonly ValueItem<T>[],
  check: (count: number) => string | undefined,
): Promise<Step<T[]>> {
  const pick = vscode.window.createQuickPick<ValueItem<T>>();
  pick.placeholder = frame.prompt;
  pick.canSelectMany = true;
  pick.items = items;
  pick.selectedItems = selected;
  pick.matchOnDescription = true;
  return until<T[]>(pick, frame, (settle) => {
    pick.onDidAccept(() => {
      const problem = check(pick.selectedItems.length);
      if (problem === undefined) settle(pick.selectedItems.map(({ value }) => value));
      else pick.placeholder = problem;
    });
  });
}
