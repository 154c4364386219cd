import * as z from 'zod';
import { PermissionOption } from './acp.js';
import { FileDiff, ToolKind } from './content.js';
import { ElicitationAnswer, ElicitationSchema } from './elicitation.js';

export { ElicitationAnswer, ElicitationSchema };

/** What waits for a person. An item leaves when it is answered, wherever that happens. */

const common = {
  /** Of the item; never used again. */
  id: z.string(),
  sessionId: z.string(),
  /** ISO 8601. */
  at: z.string(),
  runId: z.string(),
};

export const PermissionItem = z.object({
  ...common,
  kind: z.literal('permission'),
  entryId: z.string(),
  /** One line: what the agent wants to do. */
  title: z.string(),
  tool: z.object({
    kind: ToolKind,
    /** The command line, where it is one. */
    command: z.string().optional(),
    locations: z.array(z.object({ path: z.string(), line: z.number().int().optional() })),
    diffs: z.array(FileDiff),
  }),
  options: z.array(PermissionOption),
});
export type PermissionItem = z.infer<typeof PermissionItem>;

export const FormItem = z.object({
  ...common,
  kind: z.literal('form'),
  entryId: z.string(),
  message: z.string(),
  schema: ElicitationSchema,
});
export type FormItem = z.infer<typeof FormItem>;

export const UrlItem = z.object({
  ...common,
  kind: z.literal('url'),
  entryId: z.string(),
  message: z.string(),
  url: z.string(),
});
export type UrlItem = z.infer<typeof UrlItem>;

/** A run that failed and was not looked at yet. */
export const FailedItem = z.object({ ...common, kind: z.literal('failed'), message: z.string() });
export type FailedItem = z.infer<typeof FailedItem>;

export const InboxItem = z.discriminatedUnion('kind', [PermissionItem, FormItem, UrlItem, FailedItem]);
export type InboxItem = z.infer<typeof InboxItem>;

export const InboxParams = z.object({});
export const InboxResult = z.object({ items: z.array(InboxItem) });

/** Service -> editor. `removed` says why: answered (here or elsewhere), withdrawn by the agent or the run's end. */
export const InboxChanged = z.object({
  upserted: z.array(InboxItem),
  removed: z.array(z.object({ id: z.string(), reason: z.enum(['answered', 'withdrawn', 'dismissed']) })),
});
export type InboxChanged = z.infer<typeof InboxChanged>;

export const InboxAnswerParams = z.object({
  id: z.string().min(1),
  answer: z.union([
    z.object({ optionId: z.string() }),
    ElicitationAnswer,
    /** Of a failed run: seen. */
    z.object({ dismiss: z.literal(true) }),
  ]),
});
export type InboxAnswerParams = z.infer<typeof InboxAnswerParams>;
