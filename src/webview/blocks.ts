import type { Entry } from '../protocol/entry.js';

/** What is drawn as one piece of the feed. */
export type Block =
  | {
      readonly kind: 'entry';
      readonly key: string;
      readonly entry: Entry;
      /** The last edit of a completed turn: open until a person folds it. */
      readonly lead: boolean;
    }
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
/** A longer run is several lines, so that a line stands for few entries. It is cut where ordinals divide by this. */
const RUN_LENGTH = 100;
/** Characters of an edit that opens by itself, both sides together. */
const LEAD_LENGTH = 8_000;

const isQuiet = (entry: Entry) => entry.kind === 'tool' || entry.kind === 'thought';
/** What runs or waits is never folded away, nor the last call when it failed. */
const mustShow = (entry: Entry) =>
  entry.status === 'in_progress' ||
  (entry.kind === 'tool' && (entry.tool?.status === 'in_progress' || entry.tool?.status === 'pending'));

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
  else blocks.push(...run.map((entry) => single(entry)));
  blocks.push(...shown.map((entry) => single(entry)));
}

const single = (entry: Entry, lead = false): Block => ({ kind: 'entry', key: entry.id, entry, lead });

const isShortEdit = ({ tool }: Entry) => {
  const diffs = tool?.diffs ?? [];
  const length = diffs.reduce((sum, diff) => sum + (diff.oldText?.length ?? 0) + diff.newText.length, 0);
  return tool?.status === 'completed' && diffs.length > 0 && length < LEAD_LENGTH;
};

/** The last edit of each turn that ends among the entries, when it is short. */
function leads(entries: readonly Entry[]): ReadonlySet<Entry> {
  const found = new Set<Entry>();
  let turn: number | undefined;
  for (const entry of entries.toReversed()) {
    if (entry.boundary) turn = entry.turn;
    if (entry.turn !== turn || entry.tool?.kind !== 'edit') continue;
    if (isShortEdit(entry)) found.add(entry);
    turn = undefined;
  }
  return found;
}

/** Entries, ascending, as pieces of the feed. A turn's end always ends a run of calls. */
export function toBlocks(entries: readonly Entry[]): Block[] {
  const blocks: Block[] = [];
  const open = leads(entries);
  let run: Entry[] = [];
  const close = () => {
    closeRun(run, blocks);
    run = [];
  };
  for (const entry of entries) {
    if (isQuiet(entry) && !open.has(entry)) {
      if (entry.ordinal % RUN_LENGTH === 0) close();
      run.push(entry);
    } else {
      close();
      blocks.push(single(entry, open.has(entry)));
    }
    if (!entry.boundary) continue;
    close();
    blocks.push({ kind: 'end', key: `end:${entry.id}`, entry });
  }
  close();
  return blocks;
}

/** The entries that a piece stands for. */
export const entriesOf = (block: Block): readonly Entry[] =>
  block.kind === 'steps' ? block.entries : [block.entry];

/** Whether an entry, by its id, is drawn in a piece. The line after a turn holds none. */
export function holds(block: Block, entryId: string): boolean {
  if (block.kind === 'steps') return block.entries.some((entry) => entry.id === entryId);
  return block.kind === 'entry' && block.entry.id === entryId;
}
