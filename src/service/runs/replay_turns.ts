import { v7 as uuid } from 'uuid';
import type { ContentBlock } from '../../protocol/content.js';
import type { AgentUpdate } from '../agents/updates.js';
import type { ImportedTurn } from '../sessions/imported.js';
import type { EntryDraft } from '../sessions/transcript.js';
import { TurnEntries } from './turn_entries.js';

interface Prompt {
  readonly id: string;
  readonly messageId: string | undefined;
  readonly content: ContentBlock[];
  /** Its next chunk belongs to it; false once the agent has spoken. */
  isGrowing: boolean;
}

/** Makes turns of what an agent replays of a session: each message of the person begins one. */
export class ReplayTurns {
  private prompt: Prompt | undefined;
  private entries: TurnEntries | undefined;

  constructor(
    /** When it all was, ISO 8601: a replay does not tell. */
    private readonly at: string,
    private readonly emit: (turn: ImportedTurn) => void,
  ) {}

  apply(update: AgentUpdate, raw: unknown): void {
    switch (update.type) {
      case 'info':
      case 'usage':
      case 'settings':
        return;
      case 'message':
        if (update.role === 'user') this.typed(update.content, update.messageId);
        else this.said(update, raw);
        return;
      default:
        this.said(update, raw);
    }
  }

  /** The replay is over. */
  end(): void {
    const { prompt, entries, at } = this;
    this.prompt = undefined;
    this.entries = undefined;
    entries?.finish('completed');
    const drafts = [
      ...(prompt ? [{ id: prompt.id, kind: 'user', at, content: prompt.content } as const] : []),
      ...(entries?.take() ?? []).map(withoutDuration),
    ];
    if (drafts.length > 0) this.emit({ entries: drafts });
  }

  private typed(block: ContentBlock, messageId: string | undefined): void {
    const known = this.prompt;
    if (!known?.isGrowing || known.messageId !== messageId) {
      this.end();
      this.prompt = { id: uuid(), messageId, content: [block], isGrowing: true };
      return;
    }
    const last = known.content.at(-1);
    if (last?.type === 'text' && block.type === 'text')
      known.content.splice(-1, 1, { type: 'text', text: last.text + block.text });
    else known.content.push(block);
  }

  private said(update: AgentUpdate, raw: unknown): void {
    if (this.prompt) this.prompt.isGrowing = false;
    this.entries ??= new TurnEntries(
      { id: uuid(), kind: 'user', at: this.at, content: this.prompt?.content ?? [] },
      () => new Date(this.at),
    );
    this.entries.apply(update, raw);
  }
}

/** How long a call took is not told by a replay. */
function withoutDuration(draft: EntryDraft): EntryDraft {
  if (draft.tool?.durationMs === undefined) return draft;
  const tool = { ...draft.tool };
  delete tool.durationMs;
  return { ...draft, tool };
}
