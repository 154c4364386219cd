// Writes the records of one Codex session, as the tool would.
import { uuid } from './corpus_random.js';

export interface CodexOptions {
  readonly rng: () => number;
  readonly cwd: string;
  readonly sessionId?: string;
  readonly startMs: number;
  readonly stepMs?: number;
  /** More of the first record's payload, e.g. `source` or `forked_from_id`. */
  readonly meta?: object;
}

/** Where Codex keeps a session, below its home. */
export function codexFile(sessionId: string, startMs: number): string {
  const iso = new Date(startMs).toISOString();
  const name = `rollout-${iso.slice(0, 19).replaceAll(':', '-')}-${sessionId}.jsonl`;
  return `sessions/${iso.slice(0, 4)}/${iso.slice(5, 7)}/${iso.slice(8, 10)}/${name}`;
}

export class CodexWriter {
  readonly sessionId: string;
  readonly lines: string[] = [];
  readonly counts = { entries: 0, turns: 0, tools: 0, compactions: 0, skipped: 0, output: 0 };
  firstPrompt = '';
  at: number;
  readonly #options: CodexOptions;
  #total = {
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_output_tokens: 0,
    total_tokens: 0,
  };
  #turn = 0;

  constructor(options: CodexOptions) {
    this.#options = options;
    this.sessionId = options.sessionId ?? uuid(options.rng, '7');
    this.at = options.startMs;
    const { cwd, meta } = options;
    this.record('session_meta', {
      id: this.sessionId,
      timestamp: new Date(this.at).toISOString(),
      cwd,
      originator: 'codex_cli_rs',
      cli_version: '0.147.0',
      source: 'cli',
      model_provider: 'openai',
      git: { branch: 'main' },
      ...meta,
    });
  }

  get text(): string {
    return `${this.lines.join('\n')}\n`;
  }

  record(type: string, payload: object): void {
    this.at += this.#options.stepMs ?? 400;
    this.lines.push(JSON.stringify({ timestamp: new Date(this.at).toISOString(), type, payload }));
  }

  item(payload: object): void {
    this.record('response_item', payload);
  }

  event(payload: object): void {
    this.record('event_msg', payload);
  }

  torn(): void {
    this.lines.push('{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_it');
    this.counts.entries++;
    this.counts.skipped++;
  }

  prompt(text: string): void {
    const first = this.#turn === 0;
    this.event({ type: 'task_started', turn_id: `turn-${++this.#turn}`, model_context_window: 272_000 });
    if (first) this.#context();
    const { cwd } = this.#options;
    this.record('turn_context', {
      cwd,
      approval_policy: 'on-request',
      model: 'gpt-5.1-codex',
      effort: 'medium',
    });
    this.#user(text);
    this.counts.turns++;
    this.firstPrompt ||= text;
  }

  /** Typed while the agent worked. */
  steer(text: string): void {
    this.#user(text);
  }

  #user(text: string): void {
    this.item({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
    this.event({ type: 'user_message', message: text, images: [], local_images: [] });
    this.counts.entries++;
  }

  think(text: string): void {
    this.event({ type: 'agent_reasoning', text });
    const summary = [{ type: 'summary_text', text }];
    this.item({ type: 'reasoning', summary, content: null, encrypted_content: 'gAAAAAB' });
    this.counts.entries++;
  }

  say(text: string): void {
    this.event({ type: 'agent_message', message: text });
    this.item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
    this.counts.entries++;
    this.tokens();
  }

  shell(command: string, output: string, exitCode = 0): void {
    const call_id = `call_${uuid(this.#options.rng).slice(0, 12)}`;
    const { cwd } = this.#options;
    const args = JSON.stringify({ command: ['bash', '-lc', command], workdir: cwd });
    this.item({ type: 'function_call', name: 'shell', arguments: args, call_id });
    const result = JSON.stringify({ output, metadata: { exit_code: exitCode, duration_seconds: 0.3 } });
    this.item({ type: 'function_call_output', call_id, output: result });
    this.counts.entries++;
    this.counts.tools++;
    this.tokens();
  }

  patch(patch: string): void {
    const call_id = `call_${uuid(this.#options.rng).slice(0, 12)}`;
    this.item({ type: 'custom_tool_call', status: 'completed', call_id, name: 'apply_patch', input: patch });
    const output = JSON.stringify({ output: 'Success.', metadata: { exit_code: 0, duration_seconds: 0 } });
    this.item({ type: 'custom_tool_call_output', call_id, output });
    this.counts.entries++;
    this.counts.tools++;
  }

  plan(steps: readonly { readonly step: string; readonly status: string }[]): void {
    const call_id = `call_${uuid(this.#options.rng).slice(0, 12)}`;
    this.item({
      type: 'function_call',
      name: 'update_plan',
      arguments: JSON.stringify({ plan: steps }),
      call_id,
    });
    this.item({ type: 'function_call_output', call_id, output: 'Plan updated' });
    this.counts.entries++;
    this.counts.tools++;
  }

  compaction(summary: string): void {
    this.record('compacted', {
      message: summary,
      replacement_history: [{ type: 'message', role: 'user', content: [] }],
    });
    this.event({ type: 'context_compacted' });
    this.counts.entries++;
    this.counts.compactions++;
  }

  complete(): void {
    this.event({ type: 'task_complete', turn_id: `turn-${this.#turn}` });
  }

  abort(): void {
    this.event({ type: 'turn_aborted', reason: 'interrupted' });
    this.counts.entries++;
  }

  /** Totals are cumulative and include what came from the cache; they are told twice, as with rate limits. */
  tokens(): void {
    const last = {
      input_tokens: 5000,
      cached_input_tokens: 4000,
      output_tokens: 30,
      reasoning_output_tokens: 10,
      total_tokens: 5030,
    };
    const sum = this.#total;
    this.#total = {
      input_tokens: sum.input_tokens + last.input_tokens,
      cached_input_tokens: sum.cached_input_tokens + last.cached_input_tokens,
      output_tokens: sum.output_tokens + last.output_tokens,
      reasoning_output_tokens: sum.reasoning_output_tokens + last.reasoning_output_tokens,
      total_tokens: sum.total_tokens + last.total_tokens,
    };
    const info = { total_token_usage: this.#total, last_token_usage: last, model_context_window: 272_000 };
    this.event({ type: 'token_count', info, rate_limits: null });
    this.event({ type: 'token_count', info, rate_limits: { primary: { used_percent: 3 } } });
    this.counts.output += 30;
  }

  /** What the tool puts before the first prompt in the user's name. */
  #context(): void {
    const { cwd } = this.#options;
    const texts = [
      `# AGENTS.md instructions for ${cwd}\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>`,
      `<environment_context>\n  <cwd>${cwd}</cwd>\n</environment_context>`,
    ];
    const content = texts.map((text) => ({ type: 'input_text', text }));
    this.item({ type: 'message', role: 'user', content });
  }
}
