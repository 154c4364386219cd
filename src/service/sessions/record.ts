import type { Usage } from '../../protocol/entry.js';
import type {
  Parent as ParentSchema,
  SessionKind,
  SessionRow,
  SessionState,
  SourceKind,
} from '../../protocol/session.js';
import type * as z from 'zod';

type Parent = z.infer<typeof ParentSchema>;

/**
 * Who gave a title, from weak to strong: made from the first prompt, an agent, a person in the tool that wrote the
 * transcript, a person here. A weaker one never replaces a stronger one.
 */
export type TitleBy = 'prompt' | 'agent' | 'tool' | 'user';

/** A session as the rules know it. Times are in ms since the epoch. Never changed in place. */
export interface SessionRecord {
  readonly id: string;
  readonly source: SourceKind;
  /** Absolute; empty when its source does not tell. */
  readonly cwd: string;
  readonly title?: { readonly text: string; readonly by: TitleBy };
  readonly preview?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly kind: SessionKind;
  readonly headless: boolean;
  readonly state: SessionState;
  readonly archived: boolean;
  readonly agent?: string;
  /** The agent's own id of the session; of a session that a tool left on disk, that tool's id. */
  readonly agentSession?: string;
  readonly model?: string;
  readonly parent?: Parent;
  readonly messageCount?: number;
  readonly hasErrors: boolean;
  readonly unreadable?: string;
  /** No prompt and no answer yet: not listed. */
  readonly empty: boolean;
  readonly generation: number;
  readonly revision: number;
  readonly entryCount: number;
  readonly turnCount: number;
  readonly usage?: Usage;
  readonly skipped: number;
  readonly offBranch: number;
  /** Further roots of its workspace, absolute; as given last. */
  readonly directories?: readonly string[];
  readonly deletedAt?: number;
  readonly undoUntil?: number;
}

/** A fork that is being copied, or was when the service died: no session yet. */
export const isUnfinished = (record: SessionRecord): boolean =>
  record.parent?.relation === 'fork' && record.source === 'deck' && record.revision === 0;

type Optional = 'title' | 'unreadable' | 'directories' | 'deletedAt' | 'undoUntil';

/** The record without some of its fields. */
export function without(record: SessionRecord, ...fields: readonly Optional[]): SessionRecord {
  const copy: { -readonly [K in keyof SessionRecord]: SessionRecord[K] } = { ...record };
  for (const field of fields) Reflect.deleteProperty(copy, field);
  return copy;
}

const strength = { prompt: 0, agent: 1, tool: 2, user: 3 } as const;

type Title = NonNullable<SessionRecord['title']>;

/** The stronger title; the newer one of two equals. */
export function strongerTitle(known: Title | undefined, found: Title | undefined): Title | undefined {
  if (!known || !found) return known ?? found;
  return strength[found.by] >= strength[known.by] ? found : known;
}

const iso = (ms: number) => new Date(ms).toISOString();

/** The row as it goes out. */
export function toRow(record: SessionRecord, childCount: number): SessionRow {
  const { title, preview, agent, model, parent, messageCount, unreadable } = record;
  return {
    sessionId: record.id,
    cwd: record.cwd,
    ...(record.directories === undefined ? {} : { additionalDirectories: [...record.directories] }),
    ...(title === undefined ? {} : { title: title.text }),
    updatedAt: iso(record.updatedAt),
    createdAt: iso(record.createdAt),
    kind: record.kind,
    headless: record.headless,
    state: record.state,
    archived: record.archived,
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    source: record.source,
    ...(parent === undefined ? {} : { parent }),
    ...(messageCount === undefined ? {} : { messageCount }),
    hasErrors: record.hasErrors,
    ...(unreadable === undefined ? {} : { unreadable }),
    ...(preview === undefined ? {} : { preview }),
    childCount,
  };
}
