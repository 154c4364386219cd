import * as z from 'zod';
import type { Fold, EntryDraft } from '../fold.js';
import type { Fact } from './facts.js';

/** A slash command whose effect is not known yet: it opens a turn when the model answers, else it is a notice. */
export const PendingCommand = z.object({
  id: z.string(),
  at: z.number(),
  range: z.tuple([z.number(), z.number()]),
  text: z.string(),
});
export type PendingCommand = z.infer<typeof PendingCommand>;

/** Applies what records say to a fold, in order. */
export class Applier {
  pending: PendingCommand | undefined;

  constructor(
    readonly fold: Fold,
    pending?: PendingCommand,
  ) {
    this.pending = pending;
  }

  /** A kept record. */
  apply(fact: Fact): void {
    const { fold } = this;
    const { act } = fact;
    if (fact.at !== undefined) fold.seen(fact.at);
    const at = fact.at ?? fold.updatedAt;
    const id = fact.uuid ?? `o${fact.offset.toString(36)}`;
    const range = [fact.offset, fact.length] as const;
    const draft = (kind: EntryDraft['kind'], preview: string): EntryDraft => ({
      id,
      kind,
      at,
      range,
      preview,
    });
    if (act.do !== 'meta' && act.do !== 'nothing' && act.do !== 'assistant' && act.do !== 'title')
      this.#flush();

    switch (act.do) {
      case 'nothing':
      case 'meta':
        return;
      case 'prompt':
        fold.begin(draft('user', act.preview));
        return;
      case 'command':
        this.pending = { id, at, range: [fact.offset, fact.length], text: act.text };
        return;
      case 'interjection':
        this.#interject(draft('user', act.preview));
        return;
      case 'notice':
        fold.add(draft('notice', act.preview), false);
        if (act.error) fold.failed();
        if (act.end) fold.end(act.end, at);
        return;
      case 'interrupt':
        fold.add(draft('notice', act.preview), false);
        fold.end('cancelled', at);
        return;
      case 'results':
        for (const result of act.results) {
          const status = result.failed ? 'failed' : 'completed';
          if (fold.result(result.callId, range, status, at)) continue;
          fold.add(
            { ...draft('tool', result.preview), id: blockId(id, result.n), status, block: result.n },
            true,
          );
        }
        if (act.then?.do === 'interjection')
          this.#interject({ ...draft('user', act.then.preview), id: `${id}:t` });
        if (act.then?.do === 'interrupt') {
          fold.add({ ...draft('notice', act.then.preview), id: `${id}:t` }, false);
          fold.end('cancelled', at);
        }
        return;
      case 'assistant':
        this.#assistant(fact, id, at);
        return;
      case 'compaction':
        fold.add(draft('compaction', act.preview), false);
        return;
      case 'summary': {
        const last = fold.lastEntry;
        if (last?.kind === 'compaction' && fold.extend(last.id, range)) return;
        fold.add(draft('compaction', act.preview), false);
        return;
      }
      case 'turnEnd':
        if (fold.running) fold.end('completed', at);
        return;
      case 'title':
        fold.title(act.text, act.by);
        return;
      case 'raw':
        fold.skip();
        fold.add({ ...draft('raw', act.preview), id: act.id }, false);
        return;
    }
  }

  #interject(draft: EntryDraft): void {
    if (this.fold.hasTurn) this.fold.add(draft, true);
    else this.fold.begin(draft);
  }

  #assistant(fact: Fact, id: string, at: number): void {
    const { fold } = this;
    const { act } = fact;
    if (act.do !== 'assistant') return;
    const range = [fact.offset, fact.length] as const;
    if (this.pending) {
      const { text, ...command } = this.pending;
      this.pending = undefined;
      fold.begin({ ...command, kind: 'user', preview: text }, false);
    }
    if (act.model !== undefined) fold.model(act.model);
    for (const block of act.blocks) {
      const { kind, preview } = block;
      const draft = { id: blockId(id, block.n), kind, at, range, preview, block: block.n };
      if (block.callId === undefined) fold.add(draft, true);
      else fold.call(block.callId, draft, block.files);
    }
    countUsage(fold, fact, true);
    if (act.final) fold.end('completed', at);
  }

  #flush(): void {
    if (!this.pending) return;
    const { text, ...command } = this.pending;
    this.pending = undefined;
    this.fold.add({ ...command, kind: 'notice', preview: text }, false);
  }
}

/** Tokens count wherever the record is: they were spent. */
export function countUsage(fold: Fold, fact: Fact, inTurn: boolean): void {
  const { act } = fact;
  if (act.do !== 'assistant' || !act.usage) return;
  const messageId = act.messageId ?? fact.uuid ?? `o${fact.offset.toString(36)}`;
  const at = fact.at ?? fold.updatedAt;
  fold.use({ messageId, at, usage: act.usage, ...(act.model !== undefined && { model: act.model }) }, inTurn);
}

/** How many entries a record would show. */
export function entriesIn({ act }: Fact): number {
  switch (act.do) {
    case 'assistant':
      return act.blocks.length;
    case 'prompt':
    case 'command':
    case 'interjection':
    case 'notice':
    case 'interrupt':
    case 'compaction':
      return 1;
    default:
      return 0;
  }
}

function blockId(uuid: string, n: number): string {
  return n === 0 ? uuid : `${uuid}:${n}`;
}
