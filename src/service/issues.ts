import type * as z from 'zod';

/** The first thing that a schema found wrong: the field's path such as `request.expected_cut.revision`, and why. */
export function describeIssue(error: z.ZodError): { field: string; text: string } {
  const issue = error.issues[0];
  const field = issue?.path.map(String).join('.') || 'params';
  return { field, text: `${field}: ${issue?.message ?? 'not valid'}` };
}
