import type { Entry } from '../protocol/entry.js';

/** What is drawn as one piece of the feed. */
export type Block =
  | { readonly kind: 'entry'; readonly key: string; readonly entry: Entry }
  /** Three or more calls in a row without text between them, folded to one line. */
  | {
      readonly kind: 'steps';
      readonly key: string;
      readonly entries: readonly Entry[];
      readonly calls: number;
    }
  /** The line after a completed turn; `entry` is its boundary. */
  | { readonly kind: 'end'; readonly key: string; readonly entry: Entry };

const FOLD_FROM = 3;

const isQuiet = (entry: Entry) => entry.kind === 'tool' || entry.kind === 'thought';
/** What runs or waits is never folded away, nor the last call when it failed. */
const mustShow = (entry: Entry) =>
  entry.kind === 'tool' && (entry.tool?.status === 'in_progress' || entry.tool?.status === 'pending');

function closeRun(run: Entry[], blocks: Block[]): void {
  const shown: Entry[] = [];
  while (run.length > 0) {
    const last = run.at(-1);
    if (!last || !(mustShow(last) || (shown.length === 0 && last.tool?.status === 'failed'))) break;
    shown.unshift(last);
    run.pop();
  }
  const calls = run.filter((entry) => entry.kind === 'tool').length;
  const [first] = run;
  if (first && calls >= FOLD_FROM)
    blocks.push({ kind: 'steps', key: `steps:${first.id}`, entries: [...run], calls });
  else blocks.push(...run.map(single));
  blocks.push(...shown.map(single));
}

const single = (entry: Entry): Block => ({ kind: 'entry', key: entry.id, entry });

/** Entries, ascending, as pieces of the feed. A turn's end always ends a run of calls. */
export function toBlocks(entries: readonly Entry[]): Block[] {
  const blocks: Block[] = [];
  let run: Entry[] = [];
  for (const entry of entries) {
    if (isQuiet(entry)) run.push(entry);
    else {
      closeRun(run, blocks);
      run = [];
      blocks.push(single(entry));
    }
    if (entry.boundary) {
      closeRun(run, blocks);
      run = [];
      blocks.push({ kind: 'end', key: `end:${entry.id}`, entry });
    }
  }
  closeRun(run, blocks);
  return blocks;
}

/** Whether an entry, by its id, is drawn in a piece. The line after a turn holds none. */
export function holds(block: Block, entryId: string): boolean {
  if (block.kind === 'steps') return block.entries.some((entry) => entry.id === entryId);
  return block.kind === 'entry' && block.entry.id === entryId;
}
