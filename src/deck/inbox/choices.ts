import type { PermissionOption } from '../../protocol/acp.js';

/** The narrowest yes first, then the wider one, then the ways to say no. */
const order: readonly PermissionOption['kind'][] = [
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
];
const rank = ({ kind }: PermissionOption) => order.indexOf(kind);

export function inOrder(options: readonly PermissionOption[]): PermissionOption[] {
  return [...options].sort((a, b) => rank(a) - rank(b));
}

/** The option that says yes to this one time only. */
export function allowOnce(options: readonly PermissionOption[]): PermissionOption | undefined {
  return options.find(({ kind }) => kind === 'allow_once');
}

/** The narrowest no that is offered. */
export function reject(options: readonly PermissionOption[]): PermissionOption | undefined {
  return inOrder(options).find(({ kind }) => kind === 'reject_once' || kind === 'reject_always');
}

/** At most `most` options for a place with little room: the narrowest yes and no are always among them. */
export function shortList(options: readonly PermissionOption[], most: number): PermissionOption[] {
  const all = inOrder(options);
  const no = reject(all);
  const first = [all[0], no].filter((option) => option !== undefined);
  const others = all.filter((option) => !first.includes(option));
  return inOrder([...new Set(first), ...others].slice(0, most));
}
