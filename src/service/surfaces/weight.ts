/** What a value without text weighs, and a property besides its name. */
const BASE = 8;

/**
 * About how many bytes a value takes as JSON: its text, names and a little for each part. For limits only; much cheaper
 * than writing it out.
 */
export function weigh(value: unknown): number {
  let weight = 0;
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    weight += BASE;
    if (typeof next === 'string') weight += next.length;
    else if (Array.isArray(next)) for (const item of next) left.push(item);
    else if (typeof next === 'object' && next !== null)
      for (const [name, item] of Object.entries(next)) {
        weight += name.length;
        left.push(item);
      }
  }
  return weight;
}
