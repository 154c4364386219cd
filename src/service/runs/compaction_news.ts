import type { ContentBlock } from '../../protocol/content.js';
import type { AgentUpdate } from '../agents/updates.js';

type Update = Record<string, unknown>;

/**
 * What clients are told while a session is compacted on demand: the protocol's updates of one compaction under the id
 * of its entry, whatever the agent says of it.
 */
export class CompactionNews {
  constructor(private readonly compactionId: string) {}

  began(): Update {
    return { sessionUpdate: 'compaction_update', compactionId: this.compactionId, status: 'in_progress' };
  }

  /** What an update of the agent becomes; undefined for its own news of the compaction. */
  said(update: AgentUpdate, raw: Update): Update | undefined {
    if (update.type === 'compaction') return undefined;
    const isSummary =
      update.type === 'compaction_chunk' || (update.type === 'message' && update.role === 'assistant');
    if (!isSummary) return raw;
    const { compactionId } = this;
    return { sessionUpdate: 'compaction_summary_chunk', compactionId, content: raw['content'] };
  }

  ended(
    status: 'completed' | 'failed' | 'cancelled',
    content: readonly ContentBlock[],
    error?: string,
  ): Update {
    const summary = content.filter(({ type }) => type === 'text');
    return {
      sessionUpdate: 'compaction_update',
      compactionId: this.compactionId,
      status,
      ...(status === 'completed' && summary.length > 0 ? { summary } : {}),
      ...(error === undefined ? {} : { error }),
    };
  }
}
