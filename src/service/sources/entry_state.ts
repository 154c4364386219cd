import * as z from 'zod';
import { EntryKind } from '../../protocol/entry.js';

/** An indexed entry as data: in the state that a scan goes on from, and on the way from the scan worker. */
export const EntryState = z.object({
  id: z.string(),
  turnId: z.string(),
  kind: EntryKind,
  at: z.number(),
  status: z.enum(['in_progress', 'completed', 'failed', 'cancelled']).exactOptional(),
  boundary: z.boolean(),
  ranges: z.array(z.tuple([z.number(), z.number()])),
  block: z.number().exactOptional(),
  preview: z.string(),
});
export type EntryState = z.infer<typeof EntryState>;
