import path from 'node:path';
import { AUTO_TITLE_LENGTH } from '../../../protocol/session.js';
import { problemOf } from '../found.js';
import { linesOf, parseMaybe, readEnds, type Ends } from '../jsonl.js';
import type { FoundFile, SessionHead } from '../source.js';
import { lastValue, oneLine, timeOf } from '../text.js';
import { factOf } from './facts.js';
import { ClaudeRecord } from './schemas.js';

/** Most prompts are in the first few records; only where they are not more is read. */
const HEAD_BYTES = [16 * 1024, 256 * 1024] as const;
const TAIL_BYTES = 16 * 1024;

/** What the first and last records of a Claude Code transcript tell. */
export async function headOfClaude(file: FoundFile): Promise<SessionHead> {
  try {
    const first = look(file, await readEnds(file.path, HEAD_BYTES[0], TAIL_BYTES));
    if (first.complete) return first.head;
    return look(file, await readEnds(file.path, HEAD_BYTES[1], TAIL_BYTES)).head;
  } catch (error) {
    return { ...emptyHead(file), unreadable: problemOf(error) ?? 'The file is gone' };
  }
}

function emptyHead(file: FoundFile): SessionHead {
  const { sessionId, mtimeMs, parentSessionId } = file;
  return {
    sessionId,
    cwd: '',
    createdAt: mtimeMs,
    updatedAt: mtimeMs,
    kind: 'build',
    headless: false,
    archived: false,
    empty: false,
    ...(parentSessionId !== undefined && {
      parent: { sessionId: parentSessionId, relation: 'subagent' as const },
    }),
  };
}

interface Seen {
  cwd: string | undefined;
  createdAt: number | undefined;
  prompt?: string;
  answered: boolean;
  headless: boolean;
  parent?: SessionHead['parent'];
  model?: string;
  uuids: Set<string>;
}

function look(file: FoundFile, ends: Ends): { head: SessionHead; complete: boolean } {
  const seen: Seen = {
    cwd: undefined,
    createdAt: undefined,
    answered: false,
    headless: false,
    uuids: new Set(),
  };
  for (const { bytes, complete } of linesOf(ends.head)) {
    if (complete || ends.whole) record(file, seen, parseMaybe(bytes));
    else torn(seen, bytes);
    if (seen.prompt !== undefined && seen.cwd !== undefined && seen.createdAt !== undefined) break;
  }
  const tail = lookAtTail(ends.tail, seen);
  const prompted = seen.prompt === undefined ? undefined : oneLine(seen.prompt, AUTO_TITLE_LENGTH);
  const title: SessionHead['title'] = tail.title ?? (prompted ? { text: prompted, by: 'prompt' } : undefined);
  const model = tail.model ?? seen.model;
  const base = emptyHead(file);
  const parent = base.parent ?? seen.parent;
  return {
    complete: ends.whole || (seen.prompt !== undefined && seen.cwd !== undefined),
    head: {
      ...base,
      cwd: seen.cwd ?? '',
      createdAt: seen.createdAt ?? file.mtimeMs,
      updatedAt: tail.at ?? file.mtimeMs,
      headless: seen.headless,
      empty: ends.whole && seen.prompt === undefined && !seen.answered,
      ...(title && { title }),
      ...(seen.prompt !== undefined && { preview: seen.prompt }),
      ...(model !== undefined && { model }),
      ...(parent && { parent }),
    },
  };
}

function record(file: FoundFile, seen: Seen, value: unknown): void {
  const parsed = ClaudeRecord.safeParse(value);
  if (!parsed.success) return;
  const { cwd, sessionId, forkedFrom, uuid } = parsed.data;
  const fact = factOf(parsed.data, 0, 0);
  if (uuid !== undefined) seen.uuids.add(uuid);
  seen.cwd ??= cwd;
  seen.createdAt ??= fact.at;
  seen.headless ||= fact.headless;
  // Older versions put a sub-agent's file beside that of its session.
  if (file.role === 'subagent' && sessionId !== undefined && sessionId !== file.sessionId) {
    seen.parent ??= { sessionId, relation: 'subagent' };
  }
  if (forkedFrom?.sessionId !== undefined && forkedFrom.sessionId !== file.sessionId) {
    seen.parent ??= { sessionId: forkedFrom.sessionId, relation: 'fork' };
  }
  if (fact.side && file.role !== 'subagent') return;
  if (fact.act.do === 'prompt') seen.prompt ??= fact.act.preview;
  if (fact.act.do === 'assistant' && fact.act.blocks.length > 0) {
    seen.answered = true;
    if (fact.act.model !== undefined) seen.model = fact.act.model;
  }
}

/** A record that is longer than what was read of it: what its beginning tells. */
function torn(seen: Seen, bytes: Buffer): void {
  const text = bytes.toString('utf8');
  const cwd = jsonString(/"cwd":("(?:[^"\\]|\\.)*")/.exec(text)?.[1]);
  if (cwd !== undefined) seen.cwd ??= cwd;
}

function jsonString(json: string | undefined): string | undefined {
  const value = json === undefined ? undefined : parseMaybe(Buffer.from(json));
  return typeof value === 'string' ? value : undefined;
}

/** The marks of records that are worth parsing in the tail. */
const TITLES = ['"custom-title"', '"ai-title"', '"type":"summary"'];

function lookAtTail(tail: Buffer, seen: Seen): { title?: SessionHead['title']; at?: number; model?: string } {
  const text = tail.toString('latin1');
  const at = timeOf(lastValue(tail, 'timestamp', [10, 40]));
  // A made-up one stands in angle brackets.
  const lastModel = lastValue(tail, 'model', [1, 100], (model) => !model.includes('<'));
  const titles = TITLES.some((mark) => text.includes(mark)) ? titlesIn(tail, seen) : undefined;
  return {
    ...(at !== undefined && { at }),
    ...(lastModel !== undefined && { model: lastModel }),
    ...(titles && { title: titles }),
  };
}

function titlesIn(tail: Buffer, seen: Seen): SessionHead['title'] {
  let agent: string | undefined;
  let user: string | undefined;
  const uuids = new Set(seen.uuids);
  const summaries: { text: string; leaf: string | undefined }[] = [];
  for (const { bytes } of linesOf(tail)) {
    const parsed = ClaudeRecord.safeParse(parseMaybe(bytes));
    if (!parsed.success) continue;
    if (parsed.data.uuid !== undefined) uuids.add(parsed.data.uuid);
    const { act } = factOf(parsed.data, 0, 0);
    if (act.do !== 'title') continue;
    if (act.by === 'user') user = act.text;
    else if (parsed.data.type === 'summary') summaries.push({ text: act.text, leaf: act.leaf });
    else agent = act.text;
  }
  // Summaries of other sessions were written here too; those have their leaf elsewhere.
  const own = summaries.filter(({ leaf }) => leaf === undefined || uuids.has(leaf)).at(-1);
  agent ??= own?.text;
  if (user !== undefined) return { text: user, by: 'user' };
  return agent === undefined ? undefined : { text: agent, by: 'agent' };
}

/** The session that owns a path below a projects folder: for `belongings`. */
export function folderOfSession(file: string): string {
  return path.join(path.dirname(file), path.basename(file, '.jsonl'));
}
