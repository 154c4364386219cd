import path from 'node:path';
import { AUTO_TITLE_LENGTH } from '../../../protocol/session.js';
import { problemOf } from '../found.js';
import { linesOf, parseMaybe, readEnds, type Ends } from '../jsonl.js';
import type { FoundFile, SessionHead } from '../source.js';
import { lastValue, listOf, oneLine, stringOf, timeOf } from '../text.js';
import type { Names } from './names.js';
import { isInjected, textOf, typedText } from './prompt.js';
import { RolloutLine, SubagentSource, type Payload } from './schemas.js';

/** The meta data holds the instructions, which can be long; only where that is so more is read. */
const HEAD_BYTES = [48 * 1024, 384 * 1024] as const;
const TAIL_BYTES = 16 * 1024;

/** What the first and last records of a rollout tell. */
export async function headOfCodex(file: FoundFile, names: Names): Promise<SessionHead> {
  const base = emptyHead(file);
  if (file.path.endsWith('.zst')) return { ...base, unreadable: 'Codex has compressed this session' };
  try {
    const name = await names.of(file.sessionId);
    const first = look(base, await readEnds(file.path, HEAD_BYTES[0], TAIL_BYTES), name);
    if (first.complete) return first.head;
    return look(base, await readEnds(file.path, HEAD_BYTES[1], TAIL_BYTES), name).head;
  } catch (error) {
    return { ...base, unreadable: problemOf(error) ?? 'The file is gone' };
  }
}

function emptyHead({ sessionId, mtimeMs, path: file }: FoundFile): SessionHead {
  return {
    sessionId,
    cwd: '',
    createdAt: mtimeMs,
    updatedAt: mtimeMs,
    kind: 'build',
    headless: false,
    archived: file.split(path.sep).includes('archived_sessions'),
    empty: false,
  };
}

interface Seen {
  meta: Payload | undefined;
  /** The id in the second meta data: a fork replays its source. */
  replayed: string | undefined;
  startedAt: number | undefined;
  cwd: string | undefined;
  prompt: string | undefined;
  answered: boolean;
}

/** Characters of a time and of a model's name. */
const TIME = [10, 40] as const;
const MODEL = [1, 100] as const;

/** Lines that cannot hold what is looked for are not parsed. */
const TELLING = ['"session_meta"', '"user_message"', '"UserMessage"', '"role":"user"', '"role":"assistant"'];

function look(
  base: SessionHead,
  ends: Ends,
  name: string | undefined,
): { head: SessionHead; complete: boolean } {
  const seen: Seen = {
    meta: undefined,
    replayed: undefined,
    startedAt: undefined,
    cwd: undefined,
    prompt: undefined,
    answered: false,
  };
  let byMessage: string | undefined;
  let n = 0;
  for (const { bytes, complete } of linesOf(ends.head)) {
    const first = n++ === 0;
    if (!complete && !ends.whole) {
      if (first) torn(seen, bytes);
      break;
    }
    if (!first && !TELLING.some((mark) => bytes.includes(mark))) continue;
    byMessage ??= record(seen, parseMaybe(bytes));
    if (seen.prompt !== undefined && seen.meta) break;
  }
  const prompt = seen.prompt ?? byMessage;
  const at = timeOf(lastValue(ends.tail, 'timestamp', TIME));
  const model = lastValue(ends.tail, 'model', MODEL) ?? lastValue(ends.head, 'model', MODEL);
  const { meta } = seen;
  const parent = parentOf(base.sessionId, seen);
  const title: SessionHead['title'] = name
    ? { text: name, by: 'agent' }
    : prompt
      ? { text: oneLine(prompt, AUTO_TITLE_LENGTH), by: 'prompt' }
      : undefined;
  const created = timeOf(meta?.timestamp) ?? seen.startedAt;
  return {
    complete: ends.whole || (seen.prompt !== undefined && meta !== undefined),
    head: {
      ...base,
      cwd: seen.cwd ?? '',
      createdAt: created ?? base.createdAt,
      updatedAt: at ?? base.updatedAt,
      headless: meta?.source === 'exec' || meta?.originator === 'codex_exec' || isSubagent(meta),
      empty: ends.whole && prompt === undefined && !seen.answered,
      ...(title && { title }),
      ...(prompt !== undefined && { preview: prompt }),
      ...(model !== undefined && { model }),
      ...(parent && { parent }),
    },
  };
}

/** @returns the prompt of a message in the user's role: it counts where no event tells one. */
function record(seen: Seen, value: unknown): string | undefined {
  const line = RolloutLine.safeParse(value).data;
  if (!line) return undefined;
  const { type, payload } = line;
  if (type === 'session_meta') {
    if (seen.meta) seen.replayed ??= payload.id;
    else {
      seen.meta = payload;
      seen.startedAt = timeOf(line.timestamp);
    }
    seen.cwd ??= payload.cwd;
    return undefined;
  }
  if (payload.item?.type === 'UserMessage' || payload.type === 'user_message') {
    const text = payload.item ? textOf(payload.item.content) : (payload.message ?? '');
    const images = listOf(payload.images).length + listOf(payload.local_images).length > 0;
    if (!isInjected(text)) seen.prompt ??= oneLine(typedText(text));
    else if (images && text.trim() === '') seen.prompt ??= '[image]';
    return undefined;
  }
  if (payload.type !== 'message') return undefined;
  if (payload.role === 'assistant') seen.answered = true;
  if (payload.role !== 'user') return undefined;
  const typed = listOf(payload.content)
    .map((part) => textOf([part]))
    .find((text) => !isInjected(text));
  return typed === undefined ? undefined : oneLine(typedText(typed));
}

/** A first line longer than what was read of it: what its beginning tells. */
function torn(seen: Seen, bytes: Buffer): void {
  const value = parseMaybe(Buffer.from(/"cwd":("(?:[^"\\]|\\.)*")/.exec(bytes.toString('utf8'))?.[1] ?? ''));
  seen.cwd ??= stringOf(value);
}

function isSubagent(meta: Payload | undefined): boolean {
  return meta?.thread_source === 'subagent' || SubagentSource.safeParse(meta?.source).success;
}

function parentOf(sessionId: string, { meta, replayed }: Seen): SessionHead['parent'] {
  const spawned = SubagentSource.safeParse(meta?.source).data;
  if (isSubagent(meta)) {
    const parent =
      spawned?.subagent?.thread_spawn.parent_thread_id ??
      meta?.parent_thread_id ??
      meta?.forked_from_id ??
      replayed;
    return parent === undefined ? undefined : { sessionId: parent, relation: 'subagent' };
  }
  const source = meta?.forked_from_id ?? replayed;
  return source === undefined || source === sessionId ? undefined : { sessionId: source, relation: 'fork' };
}
