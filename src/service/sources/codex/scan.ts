import path from 'node:path';
import * as z from 'zod';
import { Fold, FoldState, type EntryDraft } from '../fold.js';
import { CAPPED_HEAD_BYTES, parseLine, type Line } from '../jsonl.js';
import { bigLine, tornLine, type RawLine } from '../raw.js';
import type { Indexer } from '../run_scan.js';
import type { Scan } from '../source.js';
import { listOf, oneLine, timeOf } from '../text.js';
import { outputFacts } from './output.js';
import { isInjected, textOf, typedText } from './prompt.js';
import { RolloutLine, type Payload } from './schemas.js';
import { callFacts, CALL_TYPES, isPlan, OUTPUT_TYPES, SELF_CONTAINED } from './tools.js';
import { Twins, TwinsState } from './twins.js';
import { TokenCounter, TokenState } from './tokens.js';

const Pending = z.object({
  id: z.string(),
  at: z.number(),
  range: z.tuple([z.number(), z.number()]),
  preview: z.string(),
});

const State = z.object({
  fold: FoldState,
  twins: TwinsState,
  tokens: TokenState,
  /** Whether a task is under way and has its prompt. */
  task: z.object({ open: z.boolean(), prompted: z.boolean() }),
  /** Prompts are told by events; until one was seen, messages in the user's role may be prompts. */
  userEvents: z.boolean(),
  pending: Pending.exactOptional(),
  off: z.number(),
  unknown: z.record(z.string(), z.number()),
});

/** Where a record is. */
interface Place {
  readonly offset: number;
  readonly length: number;
  readonly at: number;
}

/** Line types and event types that are known and tell nothing that is shown. */
const SILENT = new Set(
  (
    'state world_state inter_agent_communication ghost_snapshot agent_reasoning_raw_content ' +
    'agent_reasoning_section_break mcp_tool_call_begin mcp_tool_call_end web_search_begin web_search_end ' +
    'image_generation_begin image_generation_end exec_command_begin exec_command_end view_image_tool_call ' +
    'sub_agent_activity thread_goal_updated additional_tools agent_message compaction_trigger turn_diff ' +
    'plan_update session_configured'
  ).split(' '),
);

/** Indexes a Codex rollout. `take` says false when turns that were given out before are rolled back. */
export class CodexIndexer implements Indexer {
  readonly #whole: boolean;
  readonly #fold: Fold;
  readonly #twins: Twins;
  readonly #tokens: TokenCounter;
  readonly #task: { open: boolean; prompted: boolean };
  readonly #unknown: Map<string, number>;
  #userEvents: boolean;
  #pending: z.infer<typeof Pending> | undefined;
  #off: number;

  static make(file: string, state: unknown): CodexIndexer | undefined {
    if (state === undefined) return new CodexIndexer(file);
    const known = State.safeParse(state);
    return known.success ? new CodexIndexer(file, known.data) : undefined;
  }

  private constructor(file: string, state?: z.infer<typeof State>) {
    this.#whole = state === undefined;
    this.#fold = new Fold(state?.fold);
    this.#twins = new Twins(state?.twins);
    this.#tokens = new TokenCounter(path.basename(file, '.jsonl').slice(-36), state?.tokens);
    this.#task = state ? { ...state.task } : { open: false, prompted: false };
    this.#unknown = new Map(Object.entries(state?.unknown ?? {}));
    this.#userEvents = state?.userEvents ?? false;
    this.#pending = state?.pending;
    this.#off = state?.off ?? 0;
  }

  take(line: Line): boolean {
    if (line.capped) {
      this.#tooLong(line);
      return true;
    }
    for (const segment of parseLine(line)) {
      const parsed = segment.ok ? RolloutLine.safeParse(segment.value) : undefined;
      if (!parsed?.success) {
        this.#raw(tornLine(line, segment));
        continue;
      }
      const { type, payload, timestamp } = parsed.data;
      const time = timeOf(timestamp);
      if (time !== undefined) this.#fold.seen(time);
      const place = { offset: segment.offset, length: segment.length, at: time ?? this.#fold.updatedAt };
      if (!this.#record(type, payload, place)) return false;
    }
    return true;
  }

  outcome(mtimeMs: number, nowMs: number): Omit<Scan, 'mode' | 'offset'> {
    return {
      ...this.#fold.outcome(mtimeMs, nowMs),
      children: [],
      totals: this.#fold.totals(this.#off),
      state: {
        fold: this.#fold.state(),
        twins: this.#twins.state(),
        tokens: this.#tokens.state(),
        task: { ...this.#task },
        userEvents: this.#userEvents,
        ...(this.#pending && { pending: this.#pending }),
        off: this.#off,
        unknown: Object.fromEntries(this.#unknown),
      },
    };
  }

  #record(type: string, payload: Payload, place: Place): boolean {
    switch (type) {
      case 'session_meta':
        this.#tokens.meta(place.at);
        return true;
      case 'turn_context':
        if (payload.model !== undefined) this.#fold.model(payload.model);
        return true;
      case 'compacted':
        this.#compacted(payload, place);
        return true;
      case 'response_item':
        this.#item(payload, place);
        return true;
      case 'event_msg':
        return this.#event(payload, place);
      default:
        this.#count(type);
        return true;
    }
  }

  #item(payload: Payload, place: Place): void {
    const type = payload.type ?? '';
    if (type === 'message') this.#message(payload, place);
    else if (type === 'reasoning') this.#reasoning(payload, place);
    else if (CALL_TYPES.has(type)) this.#call(payload, place);
    else if (OUTPUT_TYPES.has(type)) this.#output(payload, place);
    else if (type === 'compaction' || type === 'context_compaction') this.#compactionEvent(place);
    else this.#count(type);
  }

  #message(payload: Payload, place: Place): void {
    if (payload.role === 'user') {
      if (this.#userEvents) return;
      const text = typedParts(payload.content);
      if (text !== undefined) {
        this.#pending = {
          id: entryId(place),
          at: place.at,
          range: [place.offset, place.length],
          preview: preview(text),
        };
      }
      return;
    }
    if (payload.role !== 'assistant') return;
    this.#promptByMessage();
    this.#say('assistant', textOf(payload.content), 'item', place);
  }

  #reasoning(payload: Payload, place: Place): void {
    this.#promptByMessage();
    const summary = listOf(payload.summary);
    const parts = summary.length > 0 ? summary : listOf(payload.content);
    parts.forEach((part, n) => this.#say('thought', textOf([part]), 'item', place, n));
  }

  /** Text of the agent, which both an item and an event may tell. */
  #say(
    kind: 'assistant' | 'thought',
    text: string,
    by: 'item' | 'event' | 'done',
    place: Place,
    n = 0,
  ): void {
    if (text.trim() === '' || this.#twins.seen(kind, text, by)) return;
    const id = n === 0 ? entryId(place) : `${entryId(place)}:${n}`;
    this.#fold.add({ ...draft(kind, oneLine(text), place), id, ...(n > 0 && { block: n }) }, true);
  }

  #call(payload: Payload, place: Place): void {
    this.#promptByMessage();
    const facts = callFacts(payload);
    const done = SELF_CONTAINED.has(payload.type ?? '');
    const kind = isPlan(payload) ? 'plan' : 'tool';
    const one = { ...draft(kind, facts.title, place), ...(done && { status: 'completed' as const }) };
    const callId = done ? entryId(place) : (payload.call_id ?? payload.id ?? entryId(place));
    this.#fold.call(
      callId,
      one,
      facts.diffs.map((diff) => diff.path),
    );
  }

  #output(payload: Payload, place: Place): void {
    const { failed, text } = outputFacts(payload.output);
    const status = failed ? 'failed' : 'completed';
    if (this.#fold.result(payload.call_id ?? '', [place.offset, place.length], status, place.at)) return;
    this.#fold.add({ ...draft('tool', oneLine(text), place), status }, true);
  }

  #event(payload: Payload, place: Place): boolean {
    const fold = this.#fold;
    switch (payload.type) {
      case 'user_message':
        this.#userMessage(payload, place);
        return true;
      case 'agent_message':
        this.#say('assistant', payload.message ?? '', 'event', place);
        return true;
      case 'agent_reasoning':
        this.#say('thought', payload.text ?? '', 'event', place);
        return true;
      case 'item_completed':
        this.#itemCompleted(payload, place);
        return true;
      case 'task_started':
      case 'turn_started':
        this.#task.open = true;
        this.#task.prompted = false;
        return true;
      case 'task_complete':
      case 'turn_complete':
        this.#task.open = false;
        this.#promptByMessage();
        if (fold.running) fold.end('completed', place.at);
        return true;
      case 'turn_aborted':
        this.#task.open = false;
        this.#promptByMessage();
        this.#notice(payload.reason === 'replaced' ? 'Replaced by a new prompt' : 'Interrupted', place);
        fold.end('cancelled', place.at);
        return true;
      case 'thread_rolled_back':
        if (!this.#whole) return false;
        this.#off += fold.dropTurns(payload.num_turns ?? 0);
        this.#task.open = false;
        return true;
      case 'token_count': {
        const used = this.#tokens.count(payload, place);
        if (used) fold.use({ ...used, ...(fold.modelName !== undefined && { model: fold.modelName }) }, true);
        return true;
      }
      case 'context_compacted':
        this.#compactionEvent(place);
        return true;
      case 'patch_apply_end': {
        const failed = payload.success === false ? 'failed' : undefined;
        fold.result(payload.call_id ?? '', [place.offset, place.length], failed, place.at, true);
        return true;
      }
      case 'thread_name_updated':
        if (payload.thread_name?.trim()) fold.title(oneLine(payload.thread_name), 'agent');
        return true;
      case 'entered_review_mode':
        this.#notice('Review started', place);
        return true;
      case 'exited_review_mode':
        this.#notice('Review ended', place);
        return true;
      case 'error':
        this.#notice(oneLine(payload.message ?? 'Error'), place);
        fold.failed();
        return true;
      case 'stream_error':
      case 'warning':
        this.#notice(oneLine(payload.message ?? 'Warning'), place);
        return true;
      default:
        this.#count(payload.type ?? '');
        return true;
    }
  }

  #itemCompleted({ item }: Payload, place: Place): void {
    switch (item?.type) {
      case 'UserMessage': {
        this.#pending = undefined;
        this.#userEvents = true;
        const images = listOf(item.content).length > 0 && textOf(item.content).trim() === '';
        this.#prompt(textOf(item.content), images, 'done', place);
        return;
      }
      case 'AgentMessage':
        this.#say('assistant', textOf(item.content), 'done', place);
        return;
      case 'Reasoning':
        listOf(item.summary_text).forEach((part, n) =>
          this.#say('thought', textOf([part]), 'done', place, n),
        );
        return;
      case 'Plan':
        this.#fold.add(draft('plan', oneLine(item.text ?? ''), place), true);
        return;
      case 'ContextCompaction':
        this.#compactionEvent(place);
        return;
      default:
        // Everything else is in the response items.
        return;
    }
  }

  #userMessage(payload: Payload, place: Place): void {
    this.#pending = undefined;
    this.#userEvents = true;
    if (payload.kind === 'environment_context' || payload.kind === 'user_instructions') return;
    const images = listOf(payload.images).length + listOf(payload.local_images).length > 0;
    this.#prompt(payload.message ?? '', images, 'event', place);
  }

  #prompt(text: string, images: boolean, by: 'event' | 'done', place: Place): void {
    if (isInjected(text) && !(images && text.trim() === '')) return;
    if (this.#twins.seen('user', text, by)) return;
    this.#turn({ ...draft('user', preview(typedText(text)), place) });
  }

  #turn(prompt: EntryDraft): void {
    if (this.#task.open && this.#task.prompted) {
      this.#fold.add({ ...prompt, id: prompt.id.replace(/^o/, 'i') }, true);
      return;
    }
    this.#fold.begin(prompt);
    this.#task.prompted = true;
  }

  /** Where no event tells the prompts, the message that was waiting is one. */
  #promptByMessage(): void {
    const pending = this.#pending;
    if (!pending) return;
    this.#pending = undefined;
    this.#turn({ ...pending, kind: 'user' });
  }

  #compacted(payload: Payload, place: Place): void {
    this.#promptByMessage();
    const last = this.#fold.lastEntry;
    const range = [place.offset, place.length] as const;
    if (last?.kind === 'compaction' && last.id.startsWith('c') && this.#fold.extend(last.id, range)) return;
    this.#fold.add(draft('compaction', 'Conversation compacted', place), false);
  }

  /** Tells once more, or alone in newer versions, that the conversation was compacted. */
  #compactionEvent(place: Place): void {
    if (this.#fold.lastEntry?.kind === 'compaction') return;
    const one = draft('compaction', 'Conversation compacted', place);
    this.#fold.add({ ...one, id: one.id.replace(/^o/, 'c') }, false);
  }

  #notice(text: string, place: Place): void {
    this.#fold.add(draft('notice', text, place), false);
  }

  #tooLong(line: Line): void {
    const start = line.bytes.toString('utf8', 0, 200);
    if (/"type":"compacted"/.test(start)) {
      const at = timeOf(/"timestamp":"([^"]+)"/.exec(start)?.[1]) ?? this.#fold.updatedAt;
      this.#fold.seen(at);
      const place = { offset: line.offset, length: CAPPED_HEAD_BYTES, at };
      this.#fold.add(draft('compaction', 'Conversation compacted', place), false);
      return;
    }
    this.#raw(bigLine(line));
  }

  #raw({ id, offset, length, preview: text }: RawLine): void {
    this.#fold.skip();
    this.#fold.add({ ...draft('raw', text, { offset, length, at: this.#fold.updatedAt }), id }, false);
  }

  #count(type: string): void {
    if (SILENT.has(type)) return;
    if (this.#unknown.size < 50 || this.#unknown.has(type)) {
      this.#unknown.set(type, (this.#unknown.get(type) ?? 0) + 1);
    }
  }
}

function entryId({ offset }: Place): string {
  return `o${offset.toString(36)}`;
}

function draft(kind: EntryDraft['kind'], text: string, place: Place): EntryDraft {
  return { id: entryId(place), kind, at: place.at, range: [place.offset, place.length], preview: text };
}

function preview(text: string): string {
  return text.trim() === '' ? '[image]' : oneLine(text);
}

/** The parts of a message that a person typed; undefined when there are none. */
function typedParts(content: unknown): string | undefined {
  const parts = typeof content === 'string' ? [content] : listOf(content).map((part) => textOf([part]));
  const typed = parts.filter((part) => !isInjected(part)).map(typedText);
  return typed.length === 0 ? undefined : typed.join('\n');
}
