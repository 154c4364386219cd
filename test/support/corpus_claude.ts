// Writes the records of one Claude Code session, as the tool would.
import { uuid } from './corpus_random.js';

export interface ClaudeOptions {
  readonly rng: () => number;
  readonly cwd: string;
  readonly sessionId?: string;
  /** Of the first record, in milliseconds. */
  readonly startMs: number;
  /** Between records. */
  readonly stepMs?: number;
  /** The records of a sub-agent's own file. */
  readonly agentId?: string;
}

/** The folder name that Claude Code makes of a working folder. */
export function claudeFolder(cwd: string): string {
  return cwd.replace(/[^a-zA-Z0-9]/g, '-');
}

export class ClaudeWriter {
  readonly sessionId: string;
  readonly lines: string[] = [];
  /** What an index of the file shows, branches left aside. */
  readonly counts = { entries: 0, turns: 0, tools: 0, compactions: 0, skipped: 0, output: 0 };
  /** The uuid of the newest record; setting it makes a branch. */
  leaf: string | null = null;
  firstPrompt = '';
  at: number;
  readonly #options: ClaudeOptions;

  constructor(options: ClaudeOptions) {
    this.#options = options;
    this.sessionId = options.sessionId ?? uuid(options.rng);
    this.at = options.startMs;
  }

  get text(): string {
    return `${this.lines.join('\n')}\n`;
  }

  record(type: string, body: object, from: string | null = this.leaf): string {
    const { rng, cwd, agentId, stepMs = 500 } = this.#options;
    const id = uuid(rng);
    this.at += stepMs;
    const line = {
      parentUuid: from,
      isSidechain: agentId !== undefined,
      userType: 'external',
      cwd,
      sessionId: this.sessionId,
      version: '2.1.40',
      gitBranch: 'main',
      entrypoint: 'cli',
      ...(agentId !== undefined && { agentId }),
      type,
      ...body,
      uuid: id,
      timestamp: new Date(this.at).toISOString(),
    };
    this.lines.push(JSON.stringify(line));
    this.leaf = id;
    return id;
  }

  /** A line without a place in the tree, e.g. a title. */
  loose(body: object): void {
    this.lines.push(JSON.stringify(body));
  }

  torn(): void {
    this.lines.push(`{"parentUuid":"${uuid(this.#options.rng)}","type":"assist`);
    this.counts.entries++;
    this.counts.skipped++;
  }

  prompt(text: string): string {
    this.counts.entries++;
    this.counts.turns++;
    this.firstPrompt ||= text;
    return this.record('user', { message: { role: 'user', content: text } });
  }

  /** Typed while the agent worked. */
  queued(text: string): string {
    this.counts.entries++;
    return this.record('attachment', {
      attachment: { type: 'queued_command', prompt: text, commandMode: 'prompt', origin: { kind: 'human' } },
    });
  }

  assistant(content: object, stop: string | null): string {
    this.counts.entries++;
    this.counts.output += 20;
    const id = uuid(this.#options.rng).slice(0, 13);
    return this.record('assistant', {
      requestId: `req_${id}`,
      message: {
        id: `msg_${id}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [content],
        stop_reason: stop,
        stop_sequence: null,
        usage: {
          input_tokens: 4,
          cache_creation_input_tokens: 100,
          cache_read_input_tokens: 9000,
          output_tokens: 20,
        },
      },
    });
  }

  think(text: string): string {
    return this.assistant({ type: 'thinking', thinking: text, signature: 'c2ln' }, null);
  }

  say(text: string, last = true): string {
    return this.assistant({ type: 'text', text }, last ? 'end_turn' : null);
  }

  /** A call with its result. `extra`: the tool's own view of it. */
  tool(name: string, input: object, result: string | null, extra: object = {}, failed = false): string {
    const callId = `toolu_${uuid(this.#options.rng).replaceAll('-', '').slice(0, 20)}`;
    this.assistant({ type: 'tool_use', id: callId, name, input }, 'tool_use');
    this.counts.tools++;
    if (result === null) return callId;
    const block = {
      tool_use_id: callId,
      type: 'tool_result',
      content: result,
      ...(failed && { is_error: true }),
    };
    this.record('user', { message: { role: 'user', content: [block] }, toolUseResult: extra });
    return callId;
  }

  compaction(summary: string, trigger: 'auto' | 'manual' = 'auto'): void {
    const compactMetadata = { trigger, preTokens: 154_832 };
    const body = {
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      level: 'info',
      compactMetadata,
    };
    this.record('system', { ...body, logicalParentUuid: this.leaf }, null);
    this.counts.entries++;
    this.counts.compactions++;
    const content = `This session is being continued from a previous conversation that ran out of context. ${summary}`;
    this.record('user', {
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
      message: { role: 'user', content },
    });
  }

  interrupt(): void {
    this.counts.entries++;
    this.record('user', {
      message: { role: 'user', content: [{ type: 'text', text: '[Request interrupted by user]' }] },
    });
  }
}
