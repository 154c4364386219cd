import * as z from 'zod';

/** Work that outlives its turn, or could: sub-agents, commands in terminals, jobs of the service itself. */

export const BackgroundTaskKind = z.enum(['subagent', 'memory_extraction', 'command', 'service']);
export const BackgroundTaskStatus = z.enum(['running', 'completed', 'failed', 'cancelled']);
export const BackgroundTask = z.object({
  taskId: z.string(),
  kind: BackgroundTaskKind,
  title: z.string(),
  status: BackgroundTaskStatus,
  startedAt: z.string(),
  endedAt: z.string().optional(),
  /** How it ended, one sentence or the sub-agent's last words. */
  result: z.string().optional(),
  /** The end of what it wrote, at most 4,000 characters. */
  outputTail: z.string().optional(),
});
export type BackgroundTask = z.infer<typeof BackgroundTask>;

/** A task with the session that it belongs to; of jobs of the service that belong to none it is absent. */
export const SessionTask = BackgroundTask.extend({ sessionId: z.string().optional() });
export type SessionTask = z.infer<typeof SessionTask>;

export const TasksParams = z.object({});
export const TasksResult = z.object({ tasks: z.array(SessionTask) });
/** Service -> editor; at most four a second for one task. */
export const TasksChanged = z.object({ upserted: z.array(SessionTask), removed: z.array(z.string()) });
export type TasksChanged = z.infer<typeof TasksChanged>;
