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

/** Who gave a title. One of a person is never overwritten, one of an agent only by a person or the agent. */
export type TitleBy = 'prompt' | 'agent' | 'user';

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
  /** The agent's own id of the session. */
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
  readonly deletedAt?: number;
  readonly undoUntil?: number;
}

const iso = (ms: number) => new Date(ms).toISOString();

/** The row as it goes out. */
export function toRow(record: SessionRecord, childCount: number): SessionRow {
  const { title, preview, agent, model, parent, messageCount, unreadable } = record;
  return {
    sessionId: record.id,
    cwd: record.cwd,
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
