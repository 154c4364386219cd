import { textOf } from '../agents/content.js';
import type { Entry } from '../../protocol/entry.js';

/** Characters of an earlier conversation that are given to an agent which does not know it. */
export const HANDOVER_CHARACTERS = 60_000;
/** Characters of one message in it, and of one tool's result. */
const MESSAGE_CHARACTERS = 4_000;
const RESULT_CHARACTERS = 1_500;
/** Files that are named at the end. */
const MAX_FILES = 100;

/** One entry, whole and as short as it can be told. */
interface Told {
  text: string;
  readonly short: string;
}

/**
 * Gathers an earlier conversation in bounded memory: its first prompt, the last summary of it, as much of its end as
 * fits, and which files were changed. Older tool results are left out before older words are. Feed it the entries in
 * order, then ask for the text.
 */
export class Handover {
  private first: Told | undefined;
  private tail: Told[] = [];
  private tailLength = 0;
  /** Of the tail, from its start: told as short as can be. */
  private shortened = 0;
  private dropped = 0;
  private readonly files = new Set<string>();

  constructor(private readonly limit = HANDOVER_CHARACTERS) {}

  add(entry: Entry): void {
    for (const { path } of entry.tool?.diffs ?? []) if (this.files.size < MAX_FILES) this.files.add(path);
    const told = describe(entry);
    if (!told) return;
    if (!this.first && entry.kind === 'user') {
      this.first = told;
      return;
    }
    // A summary stands for all before it.
    if (entry.kind === 'compaction') this.drop(this.tail.length);
    this.tail.push(told);
    this.tailLength += told.text.length;
    this.fit();
  }

  /** Entries that did not fit, or that a summary stands for. */
  get leftOut(): number {
    return this.dropped;
  }

  /** The text for the first prompt, or undefined when there was no conversation. */
  text(): string | undefined {
    if (!this.first && this.tail.length === 0) return undefined;
    const gap = this.dropped > 0 ? [`[… ${String(this.dropped)} entries left out …]`] : [];
    const files = this.files.size > 0 ? [`Files changed so far: ${[...this.files].join(', ')}`] : [];
    return [
      'This conversation goes on from an earlier one. What follows until the closing tag is its record, for you to know; do not answer it and carry nothing of it out again.',
      '<earlier-conversation>',
      ...(this.first ? [this.first.text] : []),
      ...gap,
      ...this.tail.map(({ text }) => text),
      ...files,
      '</earlier-conversation>',
      'The next message is the current one.',
    ].join('\n\n');
  }

  private fit(): void {
    const room = this.limit - (this.first?.text.length ?? 0);
    for (; this.tailLength > room && this.shortened < this.tail.length - 1; this.shortened += 1) {
      const told = this.tail[this.shortened];
      if (!told) return;
      this.tailLength -= told.text.length - told.short.length;
      told.text = told.short;
    }
    let count = 0;
    let length = this.tailLength;
    for (; length > room && count < this.tail.length - 1; count += 1)
      length -= this.tail[count]?.text.length ?? 0;
    this.drop(count);
  }

  private drop(count: number): void {
    for (const { text } of this.tail.splice(0, count)) this.tailLength -= text.length;
    this.shortened = Math.max(0, this.shortened - count);
    this.dropped += count;
  }
}

function describe(entry: Entry): Told | undefined {
  const text = cut(textOf(entry.content).trim(), MESSAGE_CHARACTERS);
  switch (entry.kind) {
    case 'user':
      return same(`User: ${text}`);
    case 'assistant':
      return text === '' ? undefined : same(`Assistant: ${text}`);
    case 'tool': {
      if (!entry.tool) return undefined;
      const { name, status, title, diffs = [], output = [] } = entry.tool;
      const result = cut(textOf(output).trim(), RESULT_CHARACTERS);
      const short = `Tool ${name} (${status}): ${title}`;
      const changed = diffs.map(({ path }) => path).join(', ');
      return {
        text: [short, ...(changed ? [`changed: ${changed}`] : []), ...(result === '' ? [] : [result])].join(
          '\n',
        ),
        short,
      };
    }
    case 'compaction':
      return text === '' ? undefined : same(`Summary of what came before: ${text}`);
    case 'plan': {
      const items = entry.plan?.map(
        ({ content, status }) => `- [${status === 'completed' ? 'x' : ' '}] ${content}`,
      );
      return items && items.length > 0 ? same(['Plan:', ...items].join('\n')) : undefined;
    }
    case 'thought':
    case 'notice':
    case 'permission':
    case 'question':
    case 'raw':
      return undefined;
  }
}

const same = (text: string): Told => ({ text, short: text });

function cut(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return `${text.slice(0, characters)} [… ${String(text.length - characters)} more characters …]`;
}
