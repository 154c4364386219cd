import * as z from 'zod';
import { Cut, Turn } from './entry.js';
import { SessionRow } from './session.js';
import { AgentDefinition } from './agents.js';
import { WorkspaceState } from './aster.js';
import { Tooling } from './controls.js';

const sessionId = z.string().min(1).max(512);
const limit = z.number().int().min(1).max(200);

/** Methods of our own, prefix `deck/`. */

export const RenameParams = z.object({ sessionId, title: z.string() });
export type RenameParams = z.infer<typeof RenameParams>;

export const UndoDeleteParams = z.object({ sessionId });
export type UndoDeleteParams = z.infer<typeof UndoDeleteParams>;

export const DeletedParams = z.object({});
export const DeletedResult = z.object({
  sessions: z.array(z.object({ session: SessionRow, deletedAt: z.string(), undoUntil: z.string() })),
});
export type DeletedResult = z.infer<typeof DeletedResult>;

export const EntryContentParams = z.object({
  sessionId,
  ref: z.string().min(1).max(1024),
  /** Bytes. */
  offset: z.number().int().min(0).optional(),
  limit: z
    .number()
    .int()
    .min(1)
    .max(4 * 1024 * 1024)
    .optional(),
});
export type EntryContentParams = z.infer<typeof EntryContentParams>;
/** Text is cut at character borders, so `nextOffset` may be a few bytes short of `offset + limit`. */
export const EntryContentResult = z.object({
  encoding: z.enum(['utf8', 'base64']),
  data: z.string(),
  bytes: z.number().int(),
  nextOffset: z.number().int().optional(),
  mimeType: z.string().optional(),
});
export type EntryContentResult = z.infer<typeof EntryContentResult>;

export const TurnsParams = z.object({
  sessionId,
  /** 1-based number of the first turn wanted; negative counts from the end. */
  from: z.number().int().optional(),
  limit: limit.optional(),
});
export type TurnsParams = z.infer<typeof TurnsParams>;
export const TurnsResult = z.object({ cut: Cut, turns: z.array(Turn), total: z.number().int() });
export type TurnsResult = z.infer<typeof TurnsResult>;

export const ForkPreviewParams = z.object({ sessionId, boundaryEntryId: z.string().min(1) });
export type ForkPreviewParams = z.infer<typeof ForkPreviewParams>;
export const ForkPreviewResult = z.object({
  cut: Cut,
  entryCount: z.number().int(),
  workspace: WorkspaceState.extend({ changedSinceBoundary: z.array(z.string()) }),
});
export type ForkPreviewResult = z.infer<typeof ForkPreviewResult>;

export const InterjectionState = z.enum(['pending', 'injected', 'queued', 'returned', 'idle', 'discarded']);
export const Interjection = z.object({
  interjectionId: z.string(),
  sessionId: z.string(),
  runId: z.string().optional(),
  text: z.string(),
  state: InterjectionState,
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type Interjection = z.infer<typeof Interjection>;
export const InterjectionsParams = z.object({ sessionId });
export const InterjectionsResult = z.object({ interjections: z.array(Interjection) });
export const DiscardInterjectionParams = z.object({ sessionId, interjectionId: z.string() });
export type DiscardInterjectionParams = z.infer<typeof DiscardInterjectionParams>;

/** LSP 3.18. `session-deck:/<session id>/<any name>.md`, with `?from=<entry id>` only what comes after that entry. */
export const TextContentParams = z.object({ uri: z.string().min(1).max(4096) });
export type TextContentParams = z.infer<typeof TextContentParams>;
export const TextContentResult = z.object({ text: z.string() });

export const UnwatchParams = z.object({ sessionId });

export const StatusParams = z.object({});
/** What the service is doing, for the tree's header and the status bar. */
export const Status = z.object({
  version: z.string(),
  pid: z.number().int(),
  /** False until the first look at the sources is complete. */
  listReady: z.boolean(),
  indexing: z.object({
    active: z.boolean(),
    files: z.object({ done: z.number().int(), total: z.number().int() }),
    bytes: z.object({ done: z.number(), total: z.number() }),
  }),
  /** Files that cannot be read at all. */
  unreadable: z.number().int(),
  store: z.object({ path: z.string(), readOnly: z.boolean(), reason: z.string().optional() }),
  counts: z.object({
    total: z.number().int(),
    running: z.number().int(),
    needsInput: z.number().int(),
  }),
  agents: z.array(z.object({ id: z.string(), title: z.string(), default: z.boolean() })),
});
export type Status = z.infer<typeof Status>;

/** Service -> editor: rows that are new or changed, and ids that are gone. `reset` asks for a fresh list. */
export const SessionsChanged = z.object({
  upserted: z.array(SessionRow),
  removed: z.array(z.string()),
  reset: z.boolean(),
});
export type SessionsChanged = z.infer<typeof SessionsChanged>;

/** An OpenAI-compatible endpoint. `url` ends before `/chat/completions` or `/embeddings`. */
export const ModelEndpoint = z.object({
  url: z.url({ protocol: /^https?$/ }),
  model: z.string().min(1),
  /** Name of the environment variable that holds the key; a key never stands in a setting. */
  apiKeyEnv: z.string().min(1).optional(),
});
export type ModelEndpoint = z.infer<typeof ModelEndpoint>;
/** Who does small jobs: titles, follow-ups, summaries. `auto`: the first of editor, endpoint and agent that can. */
export const SmallJobsModel = z.enum(['off', 'auto', 'editor', 'endpoint', 'agent']);
export type SmallJobsModel = z.infer<typeof SmallJobsModel>;
export const SmallJobs = z.object({
  model: SmallJobsModel,
  endpoint: ModelEndpoint.optional(),
  /** `auto` may ask the session's own agent, in a hidden side session. */
  allowAgent: z.boolean().optional(),
});
export type SmallJobs = z.infer<typeof SmallJobs>;
export const ServiceConfig = z.object({
  agents: z.record(z.string().min(1).max(64), AgentDefinition).optional(),
  defaultAgent: z.string().optional(),
  /** Sources to leave out, e.g. `{ "codex": false }`. */
  sources: z.record(z.string(), z.boolean()).optional(),
  /** Absent: off. */
  smallJobs: SmallJobs.optional(),
  /** For searches by meaning. Absent: none, and nothing is sent anywhere. */
  embeddings: ModelEndpoint.optional(),
  /** Path of a ripgrep program; the editor tells its own. */
  ripgrep: z.string().optional(),
});
export type ServiceConfig = z.infer<typeof ServiceConfig>;
/** What the editor sends: `initializationOptions`, and again when a setting or the folders change. */
export const ClientOptions = z.object({
  /** Absolute paths. Empty with `allFolders` false: no session is in scope. */
  workspaces: z.array(z.string()),
  allFolders: z.boolean(),
  /** False in a restricted window: nothing is launched for it. */
  trusted: z.boolean(),
  config: ServiceConfig,
  /** The window has a language model of its own for small jobs. */
  hasModel: z.boolean().optional(),
});
export type ClientOptions = z.infer<typeof ClientOptions>;

export const StopServiceParams = z.object({
  /** Also when runs are active; they end as cancelled. */
  force: z.boolean().optional(),
});
export const StopServiceResult = z.object({ stopping: z.boolean(), activeRuns: z.number().int() });
export const Empty = z.object({});

/** Opens a session in its agent without a prompt, so that modes, models and commands can be chosen. */
export const OpenSessionParams = z.object({ sessionId });
export type OpenSessionParams = z.infer<typeof OpenSessionParams>;
export const OpenSessionResult = Tooling;

/** The fork family of a session: everything that descends from the same first session. */
export const FamilyParams = z.object({ sessionId });
export type FamilyParams = z.infer<typeof FamilyParams>;
export const FamilyResult = z.object({
  rootId: z.string(),
  /** Parents before their forks, oldest first. Those out of scope are left out. */
  members: z.array(SessionRow),
});
export type FamilyResult = z.infer<typeof FamilyResult>;

/** Service -> editor: asks the window's own language model. Answered with an error when it has none. */
export const CompleteParams = z.object({ prompt: z.string(), maxOutputTokens: z.number().int() });
export type CompleteParams = z.infer<typeof CompleteParams>;
export const CompleteResult = z.object({ text: z.string() });
export type CompleteResult = z.infer<typeof CompleteResult>;
