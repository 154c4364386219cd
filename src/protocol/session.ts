import * as z from 'zod';
import { Cut, Usage } from './entry.js';

export const SessionState = z.enum(['idle', 'running', 'needs_input', 'failed']);
export type SessionState = z.infer<typeof SessionState>;

export const SessionKind = z.enum(['build', 'chat']);
export type SessionKind = z.infer<typeof SessionKind>;

/** Where a transcript lives: our store, a tool's own files, or (`agent`) an agent that listed it and was not asked for it yet. */
export const SourceKind = z.enum(['deck', 'claude-code', 'codex', 'agent']);
export type SourceKind = z.infer<typeof SourceKind>;

export const Parent = z.object({
  sessionId: z.string(),
  boundaryEntryId: z.string().optional(),
  relation: z.enum(['fork', 'subagent']),
});
export type Parent = z.infer<typeof Parent>;

/** ACP `SessionInfo` with what the deck knows besides. */
export const SessionRow = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  /** Further roots of its workspace, as they were given last. */
  additionalDirectories: z.array(z.string()).optional(),
  title: z.string().optional(),
  /** ISO 8601, like all times on the wire. */
  updatedAt: z.string(),
  createdAt: z.string(),
  kind: SessionKind,
  /** Started by a program, not by a person. */
  headless: z.boolean(),
  state: SessionState,
  archived: z.boolean(),
  /** Id of the agent the session is bound to. */
  agent: z.string().optional(),
  model: z.string().optional(),
  source: SourceKind,
  parent: Parent.optional(),
  /** Prompts and answers. Absent until the transcript is indexed. */
  messageCount: z.number().int().optional(),
  hasErrors: z.boolean(),
  /** The file cannot be read: why. */
  unreadable: z.string().optional(),
  /** First prompt, one line. */
  preview: z.string().optional(),
  /** How many sub-agent sessions and forks hang below it. */
  childCount: z.number().int(),
});
export type SessionRow = z.infer<typeof SessionRow>;

export const ActiveRun = z.object({
  runId: z.string(),
  kind: z.enum(['prompt', 'interjection', 'compaction']),
  state: z.enum(['running', 'needs_input']),
  startedAt: z.string(),
  turnId: z.string(),
});
export type ActiveRun = z.infer<typeof ActiveRun>;

export const SessionDetails = SessionRow.extend({
  cut: Cut,
  entryCount: z.number().int(),
  turnCount: z.number().int(),
  usage: Usage.optional(),
  activeRun: ActiveRun.optional(),
  children: z.array(SessionRow),
  sourceInfo: z.object({
    kind: SourceKind,
    path: z.string().optional(),
    /** Records that could not be parsed; they are shown raw. */
    skipped: z.number().int(),
    /** Entries on branches that are not the active one. */
    offBranch: z.number().int(),
    indexing: z.boolean(),
    /** Its agent listed it; the history is fetched from the agent when it is opened. */
    unread: z.boolean().optional(),
  }),
  /** What can be done with it now. */
  can: z.object({ prompt: z.boolean(), compact: z.boolean(), reason: z.string().optional() }),
});
export type SessionDetails = z.infer<typeof SessionDetails>;

/** Titles are cut to this many characters when they are made from a prompt. */
export const AUTO_TITLE_LENGTH = 80;
/** A longer title set by a person is refused. */
export const MAX_TITLE_LENGTH = 200;
