import { textOf } from '../agents/content.js';
import type { Entry } from '../../protocol/entry.js';

/** Characters of an earlier conversation that are given to an agent which does not know it. */
export const HANDOVER_CHARACTERS = 60_000;
/** Characters of one entry in it. */
const ENTRY_CHARACTERS = 4_000;

/**
 * Gathers an earlier conversation in bounded memory: its first prompt, then as much of its end as fits.
 * Feed it the entries in order, then ask for the text.
 */
export class Handover {
  private first: string | undefined;
  private readonly tail: string[] = [];
  private tailLength = 0;
  private dropped = 0;

  constructor(private readonly limit = HANDOVER_CHARACTERS) {}

  add(entry: Entry): void {
    const line = describe(entry);
    if (line === undefined) return;
    if (this.first === undefined && entry.kind === 'user') {
      this.first = line;
      return;
    }
    this.tail.push(line);
    this.tailLength += line.length;
    const room = this.limit - (this.first?.length ?? 0);
    while (this.tailLength > room && this.tail.length > 1) {
      this.tailLength -= this.tail.shift()?.length ?? 0;
      this.dropped += 1;
    }
  }

  /** The text for the first prompt, or undefined when there was no conversation. */
  text(): string | undefined {
    if (this.first === undefined && this.tail.length === 0) return undefined;
    const gap = this.dropped > 0 ? [`[… ${String(this.dropped)} entries left out …]`] : [];
    return [
      'This conversation goes on from an earlier one. What follows until the closing tag is its record, for you to know; do not answer it and carry nothing of it out again.',
      '<earlier-conversation>',
      ...(this.first === undefined ? [] : [this.first]),
      ...gap,
      ...this.tail,
      '</earlier-conversation>',
      'The next message is the current one.',
    ].join('\n\n');
  }
}

function describe(entry: Entry): string | undefined {
  const text = cut(textOf(entry.content).trim());
  switch (entry.kind) {
    case 'user':
      return `User: ${text}`;
    case 'assistant':
      return text === '' ? undefined : `Assistant: ${text}`;
    case 'tool': {
      if (!entry.tool) return undefined;
      const output = cut(textOf(entry.tool.output ?? []).trim());
      const files = entry.tool.diffs?.map(({ path }) => path).join(', ');
      return [
        `Tool ${entry.tool.name} (${entry.tool.status}): ${entry.tool.title}`,
        ...(files ? [`changed: ${files}`] : []),
        ...(output === '' ? [] : [output]),
      ].join('\n');
    }
    case 'compaction':
      return text === '' ? undefined : `Summary of what came before: ${text}`;
    case 'thought':
    case 'plan':
    case 'notice':
    case 'permission':
    case 'question':
    case 'raw':
      return undefined;
  }
}

function cut(text: string): string {
  if (text.length <= ENTRY_CHARACTERS) return text;
  return `${text.slice(0, ENTRY_CHARACTERS)} [… ${String(text.length - ENTRY_CHARACTERS)} more characters …]`;
}
