import * as z from 'zod';

/** ACP `elicitation/create`: an agent asks the person to fill in a form, or to visit an address. */

/** A JSON schema of flat fields. */
export const ElicitationSchema = z.looseObject({
  type: z.literal('object').optional(),
  properties: z.record(z.string(), z.looseObject({ type: z.string().optional() })).default({}),
  required: z.array(z.string()).nullish(),
});
export type ElicitationSchema = z.infer<typeof ElicitationSchema>;

const scope = {
  sessionId: z.string().min(1),
  toolCallId: z.string().nullish(),
  message: z.string(),
  _meta: z.record(z.string(), z.unknown()).nullish(),
};

/** Service -> client; an agent sends the same, with its own ids. */
export const ElicitationParams = z.discriminatedUnion('mode', [
  z.object({ ...scope, mode: z.literal('form'), requestedSchema: ElicitationSchema }),
  z.object({
    ...scope,
    mode: z.literal('url'),
    elicitationId: z.string().min(1),
    url: z.url({ protocol: /^https?$/ }),
  }),
]);
export type ElicitationParams = z.infer<typeof ElicitationParams>;

/** By field name. */
export const ElicitationContent = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);
export type ElicitationContent = z.infer<typeof ElicitationContent>;

export const ElicitationAnswer = z.discriminatedUnion('action', [
  /** `content` is absent for a URL: to accept means that the person opened it. */
  z.object({ action: z.literal('accept'), content: ElicitationContent.nullish() }),
  z.object({ action: z.literal('decline') }),
  z.object({ action: z.literal('cancel') }),
]);
export type ElicitationAnswer = z.infer<typeof ElicitationAnswer>;

/** Service -> client: what was to be done at the address is done; the question needs no answer any more. */
export const ElicitationComplete = z.object({ elicitationId: z.string() });
export type ElicitationComplete = z.infer<typeof ElicitationComplete>;

/** Whether what is typed into a field must not be kept: `format: "password"` or `writeOnly`. */
export function isSecret(field: Record<string, unknown>): boolean {
  return field['format'] === 'password' || field['writeOnly'] === true;
}

/** Stands for a secret wherever an answer is shown. */
export const SECRET_TEXT = '•••';
