// The panel's side of the page, in the page itself: answers its calls from a made-up session and notes its actions.
import type { Interjection } from '../../../src/protocol/deck.js';
import type { Entry, Turn } from '../../../src/protocol/entry.js';
import type { SessionDetails } from '../../../src/protocol/session.js';
import type { FromPage, PageAction, PageCall, ToPage } from '../../../src/protocol/webview.js';
import { showcase } from './showcase.js';
import { storyEntry, TURN_LENGTH, turnOf } from './story.js';

const query = new URLSearchParams(location.search);
const STATE = 'page-state';
const SESSION = '0190aaaa-0000-7000-8000-000000000001';
/** One red pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

type State = SessionDetails['state'];
const stateOf = (word: string | null): State =>
  word === 'running' || word === 'needs_input' || word === 'failed' ? word : 'idle';

class FakeHost {
  readonly actions: PageAction[] = [];
  readonly calls: PageCall[] = [];
  /** Errors to answer with, by method, each once. */
  readonly failures: { method: string; message: string }[] = [];
  /** When set, the next `send` is answered so. */
  delivery: 'prompt' | 'injected' | 'queued' = 'prompt';
  interjections: Interjection[] = [];
  state = stateOf(query.get('state'));
  details: Partial<SessionDetails> = {};
  delay = Number(query.get('delay') ?? '1');
  private generation = 1;
  private revision = 1;
  private total: number;
  /** Entries that differ from the story, by ordinal. */
  private readonly changed = new Map<number, Entry>();
  private readonly base: ((ordinal: number) => Entry) | undefined;

  constructor() {
    const story = query.get('story') ?? 'long';
    const count = Number(query.get('entries') ?? '100000');
    const running = this.state === 'running';
    if (story === 'showcase') {
      const entries = showcase(this.state === 'failed' ? 'idle' : this.state);
      this.total = entries.length;
      for (const entry of entries) this.changed.set(entry.ordinal, entry);
    } else {
      this.total = story === 'empty' ? 0 : count;
      this.base = (ordinal) => storyEntry(ordinal, count, running);
    }
  }

  entry(ordinal: number): Entry {
    const entry = this.changed.get(ordinal) ?? this.base?.(ordinal);
    if (!entry) throw new Error(`no entry ${String(ordinal)}`);
    return this.generation === 1 ? entry : { ...entry, id: entry.id };
  }

  get size(): number {
    return this.total;
  }

  send(message: ToPage): void {
    window.postMessage(message, '*');
  }

  /** Adds entries as a run does. */
  append(...parts: Partial<Entry>[]): void {
    const changes = parts.map((part) => {
      const ordinal = this.total;
      const last = this.total > 0 ? this.entry(this.total - 1) : undefined;
      const entry: Entry = {
        id: `n${String(ordinal)}`,
        ordinal,
        turnId: last?.turnId ?? 't1',
        turn: last?.turn ?? 1,
        kind: 'assistant',
        at: new Date().toISOString(),
        content: [],
        boundary: false,
        replay: false,
        ...part,
      };
      this.changed.set(ordinal, entry);
      this.total += 1;
      return { op: 'append' as const, entry };
    });
    this.update(changes);
  }

  replace(ordinal: number, part: Partial<Entry>): void {
    const entry = { ...this.entry(ordinal), ...part };
    this.changed.set(ordinal, entry);
    this.update([{ op: 'replace', entry }]);
  }

  /** Changes that the page does not hear of: the next update has a gap before it. */
  silently(ordinal: number, part: Partial<Entry>): void {
    this.changed.set(ordinal, { ...this.entry(ordinal), ...part });
    this.revision += 1;
  }

  /** The history is rewritten: the newest `count` entries are gone. */
  rewrite(count: number): void {
    this.generation += 1;
    this.revision = 1;
    this.total -= count;
    this.update([]);
  }

  setState(state: State): void {
    this.state = state;
    this.send({ kind: 'details', details: this.detailsNow() });
  }

  detailsNow(): SessionDetails {
    const run = { runId: 'r1', startedAt: new Date(Date.now() - 161_000).toISOString(), turnId: 't' };
    const running = this.state === 'running' || this.state === 'needs_input';
    return {
      sessionId: SESSION,
      cwd: '/home/me/ledgerline',
      title: 'Imports create duplicate entries on retry',
      updatedAt: '2026-03-12T14:36:00Z',
      createdAt: '2026-03-12T13:41:00Z',
      kind: 'build',
      headless: false,
      state: this.state,
      archived: false,
      agent: 'codex',
      source: 'codex',
      hasErrors: false,
      childCount: 0,
      cut: { generation: this.generation, revision: this.revision },
      entryCount: this.total,
      turnCount: this.turnCount,
      children: [],
      sourceInfo: { kind: 'codex', skipped: 1, offBranch: 0, indexing: false },
      can: { prompt: true, compact: true },
      ...(this.state === 'running' ? { activeRun: { ...run, state: 'running' as const } } : {}),
      ...(this.state === 'needs_input' ? { activeRun: { ...run, state: 'needs_input' as const } } : {}),
      ...(running ? { usage: { output: 38_200 } } : {}),
      ...this.details,
    };
  }

  private get turnCount(): number {
    return this.total === 0 ? 0 : this.entry(this.total - 1).turn;
  }

  private update(changes: { op: 'append' | 'replace'; entry: Entry }[]): void {
    const baseRevision = this.revision;
    this.revision += 1;
    this.send({
      kind: 'update',
      update: {
        schema: 'aster.acp.session-transcript-update.v1',
        sessionId: SESSION,
        cut: { generation: this.generation, revision: this.revision },
        baseRevision,
        replay: false,
        changes,
        total: this.total,
      },
    });
  }

  receive(message: FromPage): void {
    if (message.kind === 'action') {
      this.actions.push(message);
      return;
    }
    this.calls.push(message);
    const { id, method } = message;
    const failure = this.failures.findIndex((one) => one.method === method);
    const [failed] = failure >= 0 ? this.failures.splice(failure, 1) : [];
    setTimeout(() => {
      if (failed) this.send({ kind: 'reply', id, error: { message: failed.message } });
      else this.send({ kind: 'reply', id, result: this.answer(message) });
    }, this.delay);
  }

  private answer(call: PageCall): unknown {
    switch (call.method) {
      case 'ready':
        return {
          details: this.detailsNow(),
          interjections: this.interjections,
          pageSize: 50,
          strings: {},
          locale: 'en',
          trusted: true,
        };
      case 'page':
        return this.page(call.params);
      case 'turns':
        return this.turns(call.params);
      case 'content':
        return this.content(call.params);
      case 'send':
        return { delivery: this.state === 'idle' ? 'prompt' : this.delivery };
      case 'discardInterjection':
        this.interjections = this.interjections.filter(
          (one) => one.interjectionId !== call.params.interjectionId,
        );
        return {};
    }
  }

  private page({ anchor = 'end', direction = 'older', limit = 50 }: Extract<PageCall, { method: 'page' }>['params']) {
    let first: number;
    if (anchor === 'end') first = Math.max(0, this.total - limit);
    else if (anchor === 'start') first = 0;
    else {
      const at = 'ordinal' in anchor ? anchor.ordinal : this.ordinalOf(anchor.entryId);
      first = direction === 'newer' ? at : Math.max(0, at - limit + 1);
      if (direction === 'older') limit = Math.min(limit, at - first + 1);
    }
    const size = Math.max(0, Math.min(limit, this.total - first));
    const entries = Array.from({ length: size }, (_, index) => this.entry(first + index));
    return {
      schema: 'aster.acp.session-transcript-page.v1',
      operationId: 'o',
      sessionId: SESSION,
      cut: { generation: this.generation, revision: this.revision },
      entries,
      total: this.total,
    };
  }

  private ordinalOf(id: string): number {
    for (const entry of this.changed.values()) if (entry.id === id) return entry.ordinal;
    const ordinal = Number(id.slice(1));
    if (!(ordinal >= 0 && ordinal < this.total)) throw new Error('no such entry');
    return ordinal;
  }

  private turns({ from = 1, limit = 50 }: { from?: number | undefined; limit?: number | undefined }) {
    const count = this.turnCount;
    const first = from < 0 ? Math.max(1, count + from + 1) : from;
    const turns: Turn[] = [];
    for (let number = first; number < Math.min(first + limit, count + 1); number += 1)
      turns.push(turnOf(this.entriesOf(number)));
    return { cut: { generation: this.generation, revision: this.revision }, turns, total: count };
  }

  private entriesOf(turn: number): Entry[] {
    const found: Entry[] = [];
    const start = this.base ? (turn - 1) * TURN_LENGTH : 0;
    for (let ordinal = start; ordinal < this.total; ordinal += 1) {
      const entry = this.entry(ordinal);
      if (entry.turn === turn) found.push(entry);
      else if (entry.turn > turn) break;
    }
    return found;
  }

  private content({ ref, offset = 0, limit = 65_536 }: Extract<PageCall, { method: 'content' }>['params']) {
    if (ref.startsWith('image'))
      return { encoding: 'base64', data: PIXEL, bytes: atob(PIXEL).length, mimeType: 'image/png' };
    const whole = Array.from({ length: 16_000 }, (_, line) => `line ${String(line)} of the whole output`).join('\n');
    const data = whole.slice(offset, offset + limit);
    const end = offset + data.length;
    return { encoding: 'utf8', data, bytes: whole.length, ...(end < whole.length ? { nextOffset: end } : {}) };
  }
}

declare global {
  interface Window {
    deckHost: FakeHost;
    acquireVsCodeApi: () => unknown;
  }
}

window.deckHost = new FakeHost();
window.acquireVsCodeApi = () => ({
  postMessage: (message: FromPage) => window.deckHost.receive(structuredClone(message)),
  getState: (): unknown => JSON.parse(sessionStorage.getItem(STATE) ?? 'null'),
  setState: (state: unknown) => sessionStorage.setItem(STATE, JSON.stringify(state)),
});
