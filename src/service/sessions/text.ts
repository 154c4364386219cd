import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ContentBlock } from '../../protocol/content.js';
import type { Entry } from '../../protocol/entry.js';
import { DomainError } from '../../protocol/errors.js';
import type { SessionData } from './data.js';
import type { Reader } from './reader.js';
import type { SessionRecord } from './record.js';
import { oneLine, shorten } from './titles.js';

/** Characters of a whole text, of one message in it, and lines and characters of a tool's result. */
export const MAX_TEXT = 20_000_000;
const MAX_MESSAGE = 200_000;
const RESULT_LINES = 20;
const RESULT_CHARACTERS = 4_000;
const HEADING = 100;
/** Entries that are read at once. */
const BATCH = 200;

/** `session-deck:/<session id>/<any name>.md`, with an optional query `from=<entry id>`. */
const URI = /^session-deck:(?:\/\/)?\/(.+)\/[^/?#]*\.md(?:\?([^#]*))?(?:#.*)?$/su;

/** What a text of a transcript is asked for by. Throws `invalid_params` for what is no such address. */
export function parseTextUri(uri: string): { readonly sessionId: string; readonly from?: string } {
  const [, path, query = ''] = URI.exec(uri) ?? [];
  const wrong = () => new DomainError('invalid_params', 'uri names no transcript.', { field: 'uri' });
  if (path === undefined) throw wrong();
  try {
    // Some editors escape the equals sign too.
    const pairs = query.includes('=') ? query : decodeURIComponent(query);
    const from = pairs.split('&').find((pair) => pair.startsWith('from='));
    return {
      sessionId: decodeURIComponent(path),
      ...(from === undefined ? {} : { from: decodeURIComponent(from.slice('from='.length)) }),
    };
  } catch {
    throw wrong();
  }
}

/**
 * A transcript as plain Markdown: a heading for each turn, prompts, answers, tool calls with the start of their results.
 * With `from` only what comes after that entry. Throws `invalid_params` for an entry that is not there.
 */
export async function transcriptText(
  { data, reader }: { readonly data: SessionData; readonly reader: Reader },
  record: SessionRecord,
  from: string | undefined,
  signal: AbortSignal,
  limit = MAX_TEXT,
): Promise<string> {
  let next = 0;
  if (from !== undefined) {
    const row = data.entry(record.id, record.generation, from);
    if (!row || row.ordinal >= record.entryCount)
      throw new DomainError('invalid_params', 'from names no entry of this transcript.', { field: 'from' });
    next = row.ordinal + 1;
  }
  const writer = new TextWriter(limit);
  if (from === undefined) writer.title(record.title?.text ?? record.preview ?? 'Transcript');
  for (; next < record.entryCount && !writer.isFull; next += BATCH) {
    signal.throwIfAborted();
    const rows = data.entries(record.id, record.generation, next, Math.min(BATCH, record.entryCount - next));
    for (const entry of await reader.whole(record, rows)) writer.add(entry);
    await nextTurn();
  }
  return writer.text();
}

/** Writes entries one after the other, up to a limit. Pure. */
export class TextWriter {
  private readonly parts: string[] = [];
  private length = 0;
  private turnId: string | undefined;
  private full = false;

  constructor(private readonly limit = MAX_TEXT) {}

  /** Nothing more is taken in. */
  get isFull(): boolean {
    return this.full;
  }

  title(title: string): void {
    this.write(`# ${oneLine(title)}`);
  }

  add(entry: Entry): void {
    if (entry.turnId !== this.turnId) {
      this.turnId = entry.turnId;
      const prompt =
        entry.kind === 'user' ? shorten(oneLine(textOf(entry.content).slice(0, 10_000)), HEADING) : '';
      this.write(`## ${String(entry.turn)}.${prompt === '' ? '' : ` ${prompt}`}`);
    }
    const text = describe(entry);
    if (text !== undefined) this.write(text);
  }

  text(): string {
    const cut = this.full
      ? [`---\n\nThe rest is left out: this text ends at ${String(this.limit)} characters.`]
      : [];
    return `${[...this.parts, ...cut].join('\n\n')}\n`;
  }

  private write(text: string): void {
    if (this.full) return;
    if (this.length + text.length > this.limit) {
      this.full = true;
      return;
    }
    this.parts.push(text);
    this.length += text.length + 2;
  }
}

function describe(entry: Entry): string | undefined {
  const text = cut(textOf(entry.content).trim(), MAX_MESSAGE);
  switch (entry.kind) {
    case 'user':
      return quoted(text === '' ? '(empty)' : text);
    case 'assistant':
      return text === '' ? undefined : text;
    case 'tool':
      return tool(entry);
    case 'plan':
      return entry.plan
        ?.map(({ content, status }) => `- [${status === 'completed' ? 'x' : ' '}] ${oneLine(content)}`)
        .join('\n');
    case 'compaction':
      return ['---', `**Context compacted${tokens(entry)}**`, ...(text === '' ? [] : [text]), '---'].join(
        '\n\n',
      );
    case 'notice':
      return `**${entry.severity === 'error' ? 'Error' : entry.severity === 'warning' ? 'Warning' : 'Note'}:** ${text}`;
    case 'permission':
    case 'question': {
      const { answer, options } = entry.ask ?? { options: [] };
      const chosen = options.find(({ id }) => id === answer)?.name ?? answer;
      return `**Asked:** ${oneLine(text)} — ${chosen ?? 'not answered'}`;
    }
    case 'raw':
      return fenced(firstLines(text));
    case 'thought':
      return undefined;
  }
}

function tool({ tool: call, content }: Entry): string | undefined {
  if (!call) return undefined;
  const changed = (call.diffs ?? []).map(({ path }) => `\`${path}\``).join(', ');
  const result = firstLines(textOf([...content, ...(call.output ?? [])]).trim());
  return [
    `- **${oneLine(call.name)}** ${oneLine(call.title)} (${call.status})${changed === '' ? '' : `, changed ${changed}`}`,
    ...(result === '' ? [] : [indented(fenced(result))]),
  ].join('\n\n');
}

function tokens({ compaction }: Entry): string {
  const { tokensBefore: before, tokensAfter: after, error } = compaction ?? {};
  if (error !== undefined) return `: failed, ${oneLine(error)}`;
  return before === undefined || after === undefined ? '' : `: ${String(before)} to ${String(after)} tokens`;
}

const prefixed = (text: string, prefix: string) =>
  text
    .split('\n')
    .map((line) => (prefix + line).trimEnd())
    .join('\n');
const quoted = (text: string) => prefixed(text, '> ');
const indented = (text: string) => prefixed(text, '  ');

/** A fence that is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/gu)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function firstLines(text: string): string {
  const lines = cut(text, RESULT_CHARACTERS).split('\n');
  const rest = lines.length - RESULT_LINES;
  return rest <= 0
    ? lines.join('\n')
    : [...lines.slice(0, RESULT_LINES), `… ${String(rest)} more lines`].join('\n');
}

function cut(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return `${text.slice(0, characters)}\n… ${String(text.length - characters)} more characters`;
}

/** The text of blocks; images and links by name. */
function textOf(blocks: readonly ContentBlock[]): string {
  return blocks
    .map((block) => {
      switch (block.type) {
        case 'text':
        case 'raw':
          return block.text;
        case 'image':
          return `[image: ${block.mimeType}]`;
        case 'resource_link':
          return `[${block.name ?? block.uri}]`;
        case 'resource':
          return block.text ?? `[${block.uri}]`;
      }
    })
    .join('\n');
}
