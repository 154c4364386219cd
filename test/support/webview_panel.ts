import type { Interjection } from '../../src/protocol/deck.js';
import type { Tooling } from '../../src/protocol/controls.js';
import type { InboxItem } from '../../src/protocol/inbox.js';
import type { Entry } from '../../src/protocol/entry.js';
import type { SessionDetails } from '../../src/protocol/session.js';
import {
  FromPage,
  type AttachResult,
  type PageAction,
  type PageCall,
  type ReadyResult,
  type ToPage,
} from '../../src/protocol/webview.js';
import { details, SESSION_ID, turnsOf } from './webview_story.js';

type PageParams = Extract<PageCall, { method: 'page' }>['params'];

/** Answers a page of the transcript like the panel of the editor, over entries that a test made. */
export class FakePanel {
  generation = 1;
  revision = 1;
  details: SessionDetails;
  interjections: Interjection[] = [];
  tooling: Tooling | undefined;
  /** What the agent tells when it is started. */
  opened: Tooling | undefined;
  inbox: InboxItem[] = [];
  suggestions: string[] = [];
  /** More of `ready`, as a test wants it. */
  ready: Partial<ReadyResult> = {};
  /** Files of the workspace. */
  files: string[] = [];
  /** Sessions that a mention can be. */
  sessions: { title: string; uri: string }[] = [];
  /** Pictures that are kept, by their id. */
  readonly images = new Map<string, { mimeType: string; data: string }>();
  /** What dropped addresses become. */
  attached: AttachResult = { attachments: [], problems: [] };
  /** What the page asked for, oldest first. */
  readonly calls: PageCall[] = [];
  readonly actions: PageAction[] = [];
  /** Texts and images by their ref. */
  readonly contents = new Map<string, { encoding: 'utf8' | 'base64'; data: Buffer }>();
  /** Methods that fail, with what they say. */
  readonly failing = new Map<string, string>();
  /** The code that goes with what a failing method says. */
  failingCode: string | undefined;
  /** Holds answers back until it settles. */
  hold: Promise<void> = Promise.resolve();
  delivery: 'prompt' | 'injected' | 'queued' = 'prompt';

  constructor(
    public entries: Entry[],
    extra: Partial<SessionDetails> = {},
    private readonly post: (message: ToPage) => void = () => undefined,
  ) {
    this.details = details({
      entryCount: entries.length,
      turnCount: entries.at(-1)?.turn ?? 0,
      ...extra,
    });
  }

  /** The panel answers to whatever page `post` leads to now. */
  connected(post: (message: ToPage) => void): this {
    Object.assign(this, { post });
    return this;
  }

  async receive(raw: unknown): Promise<void> {
    const message = FromPage.parse(raw);
    if (message.kind === 'action') {
      this.actions.push(message);
      return;
    }
    this.calls.push(message);
    await this.hold;
    const problem = this.failing.get(message.method);
    try {
      if (problem !== undefined) throw new Error(problem);
      this.post({ kind: 'reply', id: message.id, result: this.answer(message) });
    } catch (error) {
      this.post({
        kind: 'reply',
        id: message.id,
        error: {
          message: error instanceof Error ? error.message : String(error),
          ...(this.failingCode === undefined ? {} : { code: this.failingCode }),
        },
      });
    }
  }

  send(message: ToPage): void {
    this.post(message);
  }

  /** Appends or replaces entries, by their ordinal, and tells the page. `tell` false: the page misses it. */
  change(changed: readonly Entry[], tell = true): void {
    const changes = changed.map((entry) => {
      const op = entry.ordinal < this.entries.length ? ('replace' as const) : ('append' as const);
      this.entries[entry.ordinal] = entry;
      return { op, entry };
    });
    const baseRevision = this.revision;
    this.revision += 1;
    if (!tell) return;
    this.post({
      kind: 'update',
      update: {
        schema: 'aster.acp.session-transcript-update.v1',
        sessionId: SESSION_ID,
        cut: this.cut,
        baseRevision,
        replay: false,
        changes,
        total: this.entries.length,
      },
    });
  }

  setDetails(extra: Partial<SessionDetails>): void {
    this.details = { ...this.details, ...extra };
    this.post({ kind: 'details', details: this.details });
  }

  private get cut() {
    return { generation: this.generation, revision: this.revision };
  }

  private answer(call: PageCall): unknown {
    switch (call.method) {
      case 'ready':
        return {
          details: this.details,
          interjections: this.interjections,
          pageSize: 50,
          strings: {},
          locale: 'en',
          trusted: true,
          ...(this.tooling ? { tooling: this.tooling } : {}),
          inbox: this.inbox,
          runningTasks: 0,
          followups: false,
          ...this.ready,
        };
      case 'page':
        return this.page(call.params);
      case 'turns': {
        const turns = turnsOf(this.entries);
        const { from = 1, limit = 200 } = call.params;
        const first = from < 0 ? Math.max(0, turns.length + from) : from - 1;
        return { cut: this.cut, turns: turns.slice(first, first + limit), total: turns.length };
      }
      case 'content': {
        const content = this.contents.get(call.params.ref);
        if (!content) throw new Error(`no content ${call.params.ref}`);
        const { offset = 0, limit = 1024 * 1024 } = call.params;
        const end = Math.min(content.data.length, offset + limit);
        return {
          encoding: content.encoding,
          data: content.data.subarray(offset, end).toString(content.encoding),
          bytes: content.data.length,
          ...(end < content.data.length ? { nextOffset: end } : {}),
        };
      }
      case 'send':
        return { delivery: this.delivery };
      case 'discardInterjection':
        this.interjections = this.interjections.filter(
          (item) => item.interjectionId !== call.params.interjectionId,
        );
        return {};
      case 'setOption':
        return { tooling: this.setOption(call.params) };
      case 'openAgent':
        return { tooling: this.opened };
      case 'files':
        return {
          files: this.files
            .filter((path) => path.includes(call.params.query))
            .map((path) => ({ path, uri: `file:///home/ada/ledger/${path}` })),
          sessions: this.sessions.filter(({ title }) => title.includes(call.params.query)),
        };
      case 'keepImage': {
        const { name, mimeType, data } = call.params;
        const id = `image-${String(this.images.size)}`;
        this.images.set(id, { mimeType, data });
        const bytes = Buffer.from(data, 'base64').length;
        return { attachments: [{ kind: 'image', id, name, mimeType, bytes }], problems: [] };
      }
      case 'keptImage': {
        const image = this.images.get(call.params.id);
        if (!image) throw new Error('The picture is not there any more.');
        return image;
      }
      case 'attach':
        return this.attached;
      case 'followups':
        return { suggestions: this.suggestions };
      case 'answer':
        return {};
      case 'stopTask':
        return { stopped: true };
    }
  }

  private setOption({ configId, value }: { configId: string; value: boolean }): Tooling | undefined {
    const { tooling } = this;
    if (!tooling) return undefined;
    const configOptions = tooling.configOptions.map((option) =>
      option.id === configId && option.type === 'boolean' ? { ...option, currentValue: value } : option,
    );
    this.tooling = { ...tooling, generation: tooling.generation + 1, configOptions };
    return this.tooling;
  }

  private page({ anchor = 'end', direction, limit = 50 }: PageParams): unknown {
    const { entries } = this;
    let from = entries.length - limit;
    if (anchor === 'start') from = 0;
    else if (anchor !== 'end') {
      const wanted =
        'ordinal' in anchor ? anchor.ordinal : entries.findIndex(({ id }) => id === anchor.entryId);
      if (wanted < 0) throw new Error('no such entry');
      const at = Math.min(wanted, entries.length - 1);
      from = direction === 'newer' ? at : at - limit + 1;
    }
    const start = Math.max(0, from);
    return {
      schema: 'aster.acp.session-transcript-page.v1',
      operationId: 'page',
      sessionId: SESSION_ID,
      cut: this.cut,
      entries: entries.slice(start, from + limit),
      total: entries.length,
    };
  }
}
