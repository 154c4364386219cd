const FAMILIES = ['aster/', 'deck/'];

/**
 * The plain name of a method. The families of our own are also served with a leading underscore, because ACP reserves
 * such names for extensions and older clients can send no others.
 */
export function plainName(method: string): { name: string; underscored: boolean } {
  const rest = method.slice(1);
  const underscored = method.startsWith('_') && FAMILIES.some((family) => rest.startsWith(family));
  return { name: underscored ? rest : method, underscored };
}

/** Whether the (plain) name belongs to a family that has two names. */
export function isExtension(name: string): boolean {
  return FAMILIES.some((family) => name.startsWith(family));
}
