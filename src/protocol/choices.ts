import type * as z from 'zod';
import type { ConfigOption, ConfigValue, ConfigValueGroup, Tooling } from './controls.js';

/** How the values of an option are shown, the same in the page and in the editor's own lists. */

type Value = z.infer<typeof ConfigValue>;
type Group = z.infer<typeof ConfigValueGroup>;
export type SelectOption = Extract<ConfigOption, { type: 'select' }>;
export type BooleanOption = Extract<ConfigOption, { type: 'boolean' }>;

const isGroup = (one: Value | Group): one is Group => Array.isArray(one['options']);

/** The values of an option under the names of their groups; one group without a name when there are none. */
export function groupsOf(option: SelectOption): { name?: string; values: Value[] }[] {
  const groups: { name?: string; values: Value[] }[] = [];
  for (const one of option.options) {
    if (isGroup(one)) {
      groups.push({ name: one.name, values: one.options });
      continue;
    }
    const last = groups.at(-1);
    if (last && last.name === undefined) last.values.push(one);
    else groups.push({ values: [one] });
  }
  return groups;
}

/** The name of the value that an option has now. */
export const currentName = (option: SelectOption): string =>
  groupsOf(option)
    .flatMap(({ values }) => values)
    .find(({ value }) => value === option.currentValue)?.name ?? option.currentValue;

/** The modes, unless an option of the agent stands for them: then that one counts. */
export const modesOf = ({ modes, configOptions }: Tooling): Tooling['modes'] =>
  configOptions.some(({ category }) => category === 'mode') ? undefined : modes;
