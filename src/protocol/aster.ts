import * as z from 'zod';
import { Cut, Entry } from './entry.js';
import { Tooling } from './controls.js';
import { SessionDetails, SessionKind, SessionRow } from './session.js';
import { BackgroundTask } from './tasks.js';

const sessionId = z.string().min(1).max(512);
const operationId = z.string().min(1).max(128);
const cursor = z.string().min(1).max(4096);
const limit = z.number().int().min(1).max(200);
const cwd = z.string().min(1);
/** Of a session, as the list tells it: empty where the session does not tell its folder. */
const toldCwd = z.string();

export const TRANSCRIPT_PAGE_SCHEMA = 'aster.acp.session-transcript-page.v1';
export const TRANSCRIPT_UPDATE_SCHEMA = 'aster.acp.session-transcript-update.v1';
export const PREFIX_FORK_SCHEMA = 'aster.acp.session-prefix-fork.v1';
export const TOOLING_SCHEMA = 'aster.acp.session-tooling.v1';
export const BACKGROUND_TASKS_SCHEMA = 'aster.acp.session-background-tasks.v1';
export const WORKSPACE_SEARCH_SCHEMA = 'aster.acp.workspace-search.v1';

export const Headless = z.enum(['include', 'exclude', 'only']);
export const Archived = z.enum(['include', 'exclude', 'only']);

export const ListParams = z.object({
  cwd: cwd.optional(),
  cursor: cursor.optional(),
  limit: limit.optional(),
  query: z.string().max(1000).optional(),
  headless: Headless.optional(),
  /** Archived sessions are left out unless asked for. */
  archived: Archived.optional(),
  /** Accepted for older hosts; never widens the scope. */
  allowRelax: z.unknown().optional(),
  _meta: z
    .looseObject({
      facets: z.looseObject({ kind: z.union([SessionKind, z.array(SessionKind)]).optional() }).optional(),
    })
    .nullish(),
});
export type ListParams = z.infer<typeof ListParams>;
export const ListResult = z.object({ sessions: z.array(SessionRow), nextCursor: z.string().optional() });
export type ListResult = z.infer<typeof ListResult>;

export const InfoParams = z.object({ sessionId, cwd: toldCwd.optional() });
export type InfoParams = z.infer<typeof InfoParams>;
export const InfoResult = SessionDetails;

export const DeleteParams = z.object({ sessionId, cwd: toldCwd });
export type DeleteParams = z.infer<typeof DeleteParams>;
export const DeleteResult = z.object({ deleted: z.literal(true), undoUntil: z.string() });
export type DeleteResult = z.infer<typeof DeleteResult>;

export const PageAnchor = z.union([
  z.literal('end'),
  z.literal('start'),
  z.object({ entryId: z.string().min(1) }),
  /** Of a generation that the caller knows to hold; a place beyond the end is the end. */
  z.object({ ordinal: z.number().int().min(0) }),
]);
export type PageAnchor = z.infer<typeof PageAnchor>;
export const PageParams = z.object({
  schema: z.literal(TRANSCRIPT_PAGE_SCHEMA),
  sessionId,
  operationId,
  cwd: toldCwd,
  cursor: cursor.optional(),
  limit: limit.optional(),
  /** Only for the first page. An entry anchor yields a page that begins (newer) or ends (older) with it. */
  anchor: PageAnchor.optional(),
  direction: z.enum(['older', 'newer']).optional(),
});
export type PageParams = z.infer<typeof PageParams>;
export const PageResult = z.object({
  schema: z.literal(TRANSCRIPT_PAGE_SCHEMA),
  operationId: z.string(),
  sessionId: z.string(),
  cut: Cut,
  /** Ascending, whatever the direction. */
  entries: z.array(Entry),
  /** Older entries; absent at the start. Its direction travels inside the cursor. */
  prevCursor: z.string().optional(),
  /** Newer entries; absent at the end. */
  nextCursor: z.string().optional(),
  total: z.number().int(),
});
export type PageResult = z.infer<typeof PageResult>;

/** Service -> client. In order, without gaps: a client that sees the revision jump asks for a page. */
export const TranscriptUpdate = z.object({
  schema: z.literal(TRANSCRIPT_UPDATE_SCHEMA),
  sessionId: z.string(),
  cut: Cut,
  /** The revision before these changes; must equal the one the client holds. */
  baseRevision: z.number().int(),
  replay: z.boolean(),
  changes: z.array(z.object({ op: z.enum(['append', 'replace']), entry: Entry })),
  total: z.number().int(),
});
export type TranscriptUpdate = z.infer<typeof TranscriptUpdate>;

export const WorkspaceState = z.object({
  cwd: z.string(),
  git_head: z.string().optional(),
  dirty: z.boolean().optional(),
});
export const ForkParams = z.object({
  schema: z.literal(PREFIX_FORK_SCHEMA),
  sessionId,
  operationId,
  request: z.object({
    boundary_entry_id: z.string().min(1),
    expected_cut: Cut,
    target_session_id: z.string().min(1).max(128),
    expected_workspace: WorkspaceState,
  }),
  /** `_meta.agent`: the fork goes on in that agent instead of the parent's. */
  _meta: z.looseObject({ agent: z.string().max(64).optional() }).nullish(),
});
export type ForkParams = z.infer<typeof ForkParams>;
export const ForkResult = z.object({
  schema: z.literal(PREFIX_FORK_SCHEMA),
  operationId: z.string(),
  sessionId: z.string(),
  parent: z.object({ sessionId: z.string(), boundaryEntryId: z.string() }),
  entryCount: z.number().int(),
  workspace: WorkspaceState.extend({
    /** Files changed in the working directory since the boundary's time; they are not put back. */
    changedSinceBoundary: z.array(z.string()),
  }),
});
export type ForkResult = z.infer<typeof ForkResult>;

/** Longest text of an interjection, in bytes of UTF-8. */
export const MAX_INTERJECTION_BYTES = 1024 * 1024;
export const InterjectParams = z.object({
  sessionId,
  text: z
    .string()
    .min(1)
    .refine((text) => new TextEncoder().encode(text).length <= MAX_INTERJECTION_BYTES, {
      error: `text is longer than ${String(MAX_INTERJECTION_BYTES)} bytes`,
    }),
  interjectionId: z.string().min(1).max(128).optional(),
  expectedRunId: z.string().optional(),
  expectedGeneration: z.number().int().optional(),
});
export type InterjectParams = z.infer<typeof InterjectParams>;
export const InterjectResult = z.object({
  interjectionId: z.string(),
  status: z.enum(['injected', 'queued', 'idle']),
  runId: z.string().optional(),
  generation: z.number().int(),
});
export type InterjectResult = z.infer<typeof InterjectResult>;

export const CompactParams = z.object({ sessionId, userContext: z.string().max(100_000).optional() });
export type CompactParams = z.infer<typeof CompactParams>;
export const CompactResult = z.object({
  compactionId: z.string(),
  status: z.enum(['completed', 'already_running']),
  tokensBefore: z.number().optional(),
  tokensAfter: z.number().optional(),
});
export type CompactResult = z.infer<typeof CompactResult>;

export const ToolingParams = z.object({
  schema: z.literal(TOOLING_SCHEMA),
  sessionId,
  operationId,
  cwd: toldCwd,
});
export type ToolingParams = z.infer<typeof ToolingParams>;
export const ToolingResult = Tooling.extend({ schema: z.literal(TOOLING_SCHEMA), operationId: z.string() });
export type ToolingResult = z.infer<typeof ToolingResult>;
/** Service -> client: the whole catalogue again, of a greater generation. */
export const ToolingUpdate = Tooling.extend({ sessionId: z.string() });
export type ToolingUpdate = z.infer<typeof ToolingUpdate>;

/** Longest suggestion, in characters as a person counts them (grapheme clusters). */
export const MAX_SUGGESTION_LENGTH = 32;
export const MAX_SUGGESTIONS = 3;
export const FollowupParams = z.object({
  sessionId,
  /** Of the turn that ended; of the last one when empty. */
  prompt: z.string().max(1_000_000),
  response: z.string().max(4_000_000),
});
export type FollowupParams = z.infer<typeof FollowupParams>;
export const FollowupResult = z.object({ suggestions: z.array(z.string()).max(MAX_SUGGESTIONS) });
export type FollowupResult = z.infer<typeof FollowupResult>;

const tasksParams = { schema: z.literal(BACKGROUND_TASKS_SCHEMA), sessionId, operationId, cwd: toldCwd };
export const BackgroundTasksParams = z.object(tasksParams);
export type BackgroundTasksParams = z.infer<typeof BackgroundTasksParams>;
export const BackgroundTasksResult = z.object({
  schema: z.literal(BACKGROUND_TASKS_SCHEMA),
  operationId: z.string(),
  tasks: z.array(BackgroundTask),
});
export type BackgroundTasksResult = z.infer<typeof BackgroundTasksResult>;
export const StopTaskParams = z.object({ ...tasksParams, taskId: z.string().min(1).max(512) });
export type StopTaskParams = z.infer<typeof StopTaskParams>;
/** True only when the whole process tree is gone; false for one that had ended before. */
export const StopTaskResult = z.object({ stopped: z.boolean() });

export const CancelSubagentParams = z.object({
  subagentId: z.string().min(1).max(512),
  sessionId: sessionId.optional(),
});
export type CancelSubagentParams = z.infer<typeof CancelSubagentParams>;
export const CancelSubagentResult = z.object({ cancelled: z.boolean() });

export const MAX_SEARCH_RESULTS = 8;
export const SearchRoute = z.enum(['words', 'names', 'meaning']);
export type SearchRoute = z.infer<typeof SearchRoute>;
export const WorkspaceSearchParams = z.object({
  schema: z.literal(WORKSPACE_SEARCH_SCHEMA),
  sessionId,
  operationId,
  cwd,
  query: z.string().trim().min(1).max(1000),
});
export type WorkspaceSearchParams = z.infer<typeof WorkspaceSearchParams>;
export const WorkspaceSearchResult = z.object({
  schema: z.literal(WORKSPACE_SEARCH_SCHEMA),
  operationId: z.string(),
  results: z
    .array(
      z.object({
        /** Relative to `cwd`, with forward slashes. */
        path: z.string(),
        /** 1-based. */
        line: z.number().int().optional(),
        snippet: z.string(),
        /** Reciprocal rank fusion of the routes; only the order means something. */
        score: z.number(),
        routes: z.array(SearchRoute),
      }),
    )
    .max(MAX_SEARCH_RESULTS),
  /** Routes that failed, and why. A route that nobody set up (`meaning`) is not among them. */
  failed: z.array(z.object({ route: SearchRoute, reason: z.string() })),
});
export type WorkspaceSearchResult = z.infer<typeof WorkspaceSearchResult>;
