/** Which of the window's models does small jobs; pure, so that it is tested without an editor. */

interface Model {
  readonly id: string;
  readonly family: string;
}

/** Words in the names of small, quick models. */
const SMALL = /\b(mini|nano|haiku|flash|lite|small|fast)\b/i;
const isSmall = ({ id, family }: Model) => SMALL.test(family.replaceAll('_', '-')) || SMALL.test(id);

/** Orders small models first; among equals the order of the editor stays. */
export function bySmallness(a: Model, b: Model): number {
  return Number(isSmall(b)) - Number(isSmall(a));
}
