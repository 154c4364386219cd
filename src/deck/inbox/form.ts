import * as vscode from 'vscode';
import type { ElicitationAnswer, FormItem } from '../../protocol/inbox.js';
import { plainLine } from '../format.js';
import { fieldsOf, type Choice, type Field } from './form_fields.js';
import { choicesMisfit, numberMisfit, textMisfit, type Misfit } from './form_rules.js';
import { askOne, askSome, askText, type Step, type StepFrame, type ValueItem } from './inputs.js';

const { l10n } = vscode;

type Value = string | number | boolean | string[];
/** Absent: left out. */
type Answer = Value | undefined;

function sentence(misfit: Misfit | undefined): string | undefined {
  switch (misfit?.rule) {
    case undefined:
      return undefined;
    case 'required':
      return l10n.t('An answer is needed here.');
    case 'number':
      return l10n.t('A number is needed.');
    case 'integer':
      return l10n.t('A whole number is needed.');
    case 'pattern':
      return l10n.t('This is not in the form that the agent asks for.');
    case 'email':
      return l10n.t('An e-mail address is needed.');
    case 'uri':
      return l10n.t('An address like https://example.com is needed.');
    case 'date':
      return l10n.t('A date like 2026-01-31 is needed.');
    case 'date-time':
      return l10n.t('A time like 2026-01-31T12:00:00Z is needed.');
    case 'minLength':
      return l10n.t('At least {0} characters.', misfit.limit);
    case 'maxLength':
      return l10n.t('At most {0} characters.', misfit.limit);
    case 'minimum':
      return l10n.t('At least {0}.', misfit.limit);
    case 'maximum':
      return l10n.t('At most {0}.', misfit.limit);
    case 'minItems':
      return l10n.t('Choose at least {0}.', misfit.limit);
    case 'maxItems':
      return l10n.t('Choose at most {0}.', misfit.limit);
  }
}

function promptOf({ label, description, required }: Field): string {
  const what = description === undefined ? label : `${label}: ${description}`;
  return required ? what : l10n.t('{0} (optional)', what);
}

const toItem = ({ value, label, description }: Choice): ValueItem<string> => ({
  label,
  ...(description === undefined ? {} : { description }),
  value,
});

/** The row of a field that may be left out. */
const skip = (): ValueItem<undefined> => ({ label: l10n.t('No answer'), value: undefined });

function askOneOf<T>(
  frame: StepFrame,
  field: Field,
  items: readonly ValueItem<T>[],
  current: Answer,
): Promise<Step<T | undefined>> {
  const all: ValueItem<T | undefined>[] = [...items, ...(field.required ? [] : [skip()])];
  return askOne(
    frame,
    all,
    all.find(({ value }) => value === current),
  );
}

async function askField(frame: StepFrame, field: Field, current: Answer): Promise<Step<Answer>> {
  switch (field.kind) {
    case 'text': {
      const value = typeof current === 'string' ? current : (field.initial ?? '');
      const check = (text: string) => sentence(textMisfit(field, text));
      const step = await askText(frame, { value, secret: field.secret, check });
      if (typeof step === 'string') return step;
      return { value: step.value === '' ? undefined : step.value };
    }
    case 'number': {
      const number = typeof current === 'number' ? current : field.initial;
      const value = number === undefined ? '' : String(number);
      const check = (text: string) => sentence(numberMisfit(field, text));
      const step = await askText(frame, { value, secret: false, check });
      if (typeof step === 'string') return step;
      return { value: step.value.trim() === '' ? undefined : Number(step.value) };
    }
    case 'boolean': {
      const items: ValueItem<boolean>[] = [
        { label: l10n.t('Yes'), value: true },
        { label: l10n.t('No'), value: false },
      ];
      return askOneOf(frame, field, items, current ?? field.initial);
    }
    case 'choice':
      return askOneOf(frame, field, field.choices.map(toItem), current ?? field.initial);
    case 'choices': {
      const items = field.choices.map(toItem);
      const chosen = Array.isArray(current) ? current : field.initial;
      const selected = items.filter(({ value }) => chosen.includes(value));
      const step = await askSome(frame, items, selected, (count) => sentence(choicesMisfit(field, count)));
      if (typeof step === 'string') return step;
      return { value: step.value.length === 0 && !field.required ? undefined : step.value };
    }
  }
}

/** Asks the questions of forms one after the other. What was given is kept while the item waits. */
export class Forms {
  private readonly drafts = new Map<string, Map<string, Value>>();

  /** Resolves with the answer, or undefined when the form is left as it is. */
  async fill(item: FormItem, session: string): Promise<ElicitationAnswer | undefined> {
    const fields = fieldsOf(item.schema);
    const given = this.drafts.get(item.id) ?? new Map<string, Value>();
    this.drafts.set(item.id, given);
    const message = plainLine(item.message);
    const title = message === '' ? session : `${session}: ${message}`;
    if (fields.length === 0) return this.confirm(title);
    for (let index = 0; index < fields.length;) {
      const field = fields[index];
      if (!field) break;
      const frame = { title, step: index + 1, totalSteps: fields.length, prompt: promptOf(field) };
      const step = await askField(frame, field, given.get(field.name));
      if (step === 'leave') return undefined;
      if (step === 'decline') return { action: 'decline' };
      if (step === 'back') {
        index -= 1;
        continue;
      }
      if (step.value === undefined) given.delete(field.name);
      else given.set(field.name, step.value);
      index += 1;
    }
    return { action: 'accept', content: Object.fromEntries(given) };
  }

  /** The item is answered or gone. */
  forget(id: string): void {
    this.drafts.delete(id);
  }

  private async confirm(title: string): Promise<ElicitationAnswer | undefined> {
    const items: ValueItem<ElicitationAnswer>[] = [
      { label: l10n.t('Accept'), value: { action: 'accept', content: {} } },
      { label: l10n.t('Decline'), value: { action: 'decline' } },
    ];
    const frame = { title, step: 1, totalSteps: 1, prompt: title };
    const step = await askOne(frame, items, undefined);
    if (step === 'decline') return { action: 'decline' };
    return typeof step === 'string' ? undefined : step.value;
  }
}
