import type * as z from 'zod';

type Issue = z.core.$ZodIssue;

/** The first thing that a schema found wrong: the field's path such as `request.expected_cut.revision`, and why. */
export function describeIssue(error: z.ZodError): { field: string; text: string } {
  const { path, message } = mostTelling(error.issues[0]);
  const field = path.map(String).join('.') || 'params';
  return { field, text: `${field}: ${message}` };
}

/** Of several shapes that a value could have had, the one that it misses by least says what is wrong with it. */
function mostTelling(issue: Issue | undefined): { path: PropertyKey[]; message: string } {
  if (!issue) return { path: [], message: 'not valid' };
  if (issue.code !== 'invalid_union') return issue;
  const fewest = Math.min(...issue.errors.map((shape) => shape.length));
  const [nearest, ...others] = issue.errors.filter((shape) => shape.length === fewest);
  if (!nearest || others.length > 0) return issue;
  const { path, message } = mostTelling(nearest[0]);
  return { path: [...issue.path, ...path], message };
}
