import assert from 'node:assert/strict';
import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import type {
  IndexedEntry,
  IndexedTurn,
  Scan,
  Source,
  UsageRecord,
} from '../../../src/service/sources/source.js';
import { CLAUDE_FILE, CODEX_FILE, inFolder, never, sourceOf } from './tools.js';

/** What somebody knows who takes in one scan after the other. */
class Reader {
  entries = new Map<string, IndexedEntry>();
  turns = new Map<string, IndexedTurn>();
  usage = new Map<string, UsageRecord>();
  last: Scan | undefined;

  take(scan: Scan): void {
    if (scan.mode === 'rewrite') {
      this.entries.clear();
      this.turns.clear();
      this.usage.clear();
    }
    for (const entry of scan.entries) this.entries.set(entry.id, entry);
    for (const turn of scan.turns) this.turns.set(turn.id, turn);
    for (const record of scan.usage) this.usage.set(record.messageId, record);
    this.last = scan;
  }

  get known() {
    return {
      entries: [...this.entries.values()],
      turns: [...this.turns.values()],
      usage: [...this.usage.values()].sort((a, b) => (a.messageId < b.messageId ? -1 : 1)),
      totals: this.last?.totals,
      offset: this.last?.offset,
    };
  }
}

async function inPieces(source: Source, name: string, bytes: Buffer, cuts: readonly number[]): Promise<void> {
  await inFolder(async (dir) => {
    const file = path.join(dir, name);
    await writeFile(file, '');
    const reader = new Reader();
    let from = 0;
    for (const to of [...new Set([...cuts, bytes.length])].sort((a, b) => a - b)) {
      await appendFile(file, bytes.subarray(from, to));
      from = to;
      const { offset = 0, state } = reader.last ?? {};
      // The state is kept as JSON between two scans.
      const kept: unknown = state === undefined ? undefined : JSON.parse(JSON.stringify(state));
      reader.take(await source.scan(file, offset, kept, never));
    }
    const whole = new Reader();
    whole.take(await source.scan(file, 0, undefined, never));
    assert.deepEqual(reader.known, whole.known);
  });
}

const step = fc.record({
  what: fc.constantFrom(
    'prompt',
    'say',
    'think',
    'call',
    'result',
    'part',
    'torn',
    'compact',
    'queued',
    'interrupt',
    'rewind',
    'duplicate',
    'command',
    'meta',
    'error',
    'title',
    'end',
    'aside',
    'side',
    'dangling',
    'abort',
  ),
  n: fc.nat(20),
});
type Step = { readonly what: string; readonly n: number };

function claudeLines(steps: readonly Step[]): string[] {
  const lines: string[] = [];
  const uuids: string[] = [];
  const calls: string[] = [];
  let leaf: string | null = null;
  let message = 'm0';
  const put = (type: string, body: object, parent: string | null = leaf, moves = true) => {
    const uuid = `id-${lines.length}`;
    const timestamp = new Date(1_790_000_000_000 + lines.length * 1000).toISOString();
    lines.push(JSON.stringify({ type, uuid, parentUuid: parent, timestamp, ...body }));
    uuids.push(uuid);
    if (moves) leaf = uuid;
  };
  const say = (block: object, stop: string | null) =>
    put('assistant', {
      message: {
        id: message,
        model: 'claude',
        content: [block],
        stop_reason: stop,
        usage: { input_tokens: 3, output_tokens: lines.length },
      },
    });
  for (const { what, n } of steps) {
    switch (what) {
      case 'prompt':
        put('user', { message: { content: `prompt ${n}` } });
        break;
      case 'say':
        message = `m${lines.length}`;
        say({ type: 'text', text: `answer ${n}` }, n % 2 ? 'end_turn' : null);
        break;
      case 'part':
        say({ type: 'text', text: `part ${n}` }, null);
        break;
      case 'think':
        message = `m${lines.length}`;
        say({ type: 'thinking', thinking: `thought ${n}` }, null);
        break;
      case 'call':
        calls.push(`t${lines.length}`);
        say(
          {
            type: 'tool_use',
            id: calls.at(-1),
            name: n % 5 ? 'Edit' : 'TodoWrite',
            input: { file_path: `/f${n}` },
          },
          'tool_use',
        );
        break;
      case 'result': {
        const id = calls.splice(n % Math.max(1, calls.length), 1)[0] ?? 'gone';
        const parent = n % 3 === 0 ? (uuids.at(-2) ?? leaf) : leaf;
        put(
          'user',
          {
            message: {
              content: [{ type: 'tool_result', tool_use_id: id, content: 'r', is_error: n % 4 === 0 }],
            },
          },
          parent,
          n % 2 === 0,
        );
        break;
      }
      case 'torn':
        lines.push('{"type":"user","uu');
        break;
      case 'compact':
        put('system', { subtype: 'compact_boundary', logicalParentUuid: leaf }, null);
        put('user', { isCompactSummary: true, message: { content: 'summary' } });
        break;
      case 'queued':
        put('attachment', { attachment: { type: 'queued_command', prompt: `queued ${n}` } });
        break;
      case 'interrupt':
        put('user', { message: { content: '[Request interrupted by user]' } });
        break;
      case 'rewind':
        leaf = uuids[uuids.length - 1 - n] ?? null;
        put('user', { message: { content: `rewound ${n}` } });
        break;
      case 'duplicate': {
        const line = lines[lines.length - 1 - n];
        if (line !== undefined) lines.push(line);
        break;
      }
      case 'command':
        put('user', { message: { content: '<command-name>/go</command-name>' } });
        break;
      case 'meta':
        put('user', { isMeta: true, message: { content: 'meta' } });
        break;
      case 'error':
        put('assistant', {
          isApiErrorMessage: true,
          message: { model: '<synthetic>', content: [{ type: 'text', text: 'API Error' }] },
        });
        break;
      case 'title':
        lines.push(
          JSON.stringify({ type: 'summary', summary: `title ${n}`, leafUuid: uuids[n] ?? 'elsewhere' }),
        );
        break;
      case 'end':
        put('system', { subtype: 'turn_duration' });
        break;
      case 'aside':
        put(
          'system',
          { subtype: 'info', level: 'warning', content: 'beside' },
          uuids[uuids.length - 1 - n] ?? null,
          false,
        );
        break;
      case 'side':
        put('user', { isSidechain: true, message: { content: 'side' } }, null, false);
        break;
      case 'dangling':
        put('user', { message: { content: `dangling ${n}` } }, 'nowhere');
        break;
      default:
        put('progress', { data: {} });
    }
  }
  return lines;
}

function codexLines(steps: readonly Step[]): string[] {
  const lines: string[] = [];
  const calls: string[] = [];
  let total = 0;
  const put = (type: string, payload: object) => {
    const timestamp = new Date(1_790_000_000_000 + lines.length * 1000).toISOString();
    lines.push(JSON.stringify({ timestamp, type, payload }));
  };
  put('session_meta', { id: 'x', cwd: '/w' });
  for (const { what, n } of steps) {
    switch (what) {
      case 'prompt':
        if (n % 3) put('event_msg', { type: 'task_started' });
        put('response_item', {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: `p${n}` }],
        });
        if (n % 4) put('event_msg', { type: 'user_message', message: `p${n}` });
        break;
      case 'say':
        put('event_msg', { type: 'agent_message', message: `a${n}` });
        put('response_item', {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: `a${n}` }],
        });
        break;
      case 'part':
        put('response_item', {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: `a${n}` }],
        });
        break;
      case 'think':
        put('event_msg', { type: 'agent_reasoning', text: `t${n}` });
        put('response_item', {
          type: 'reasoning',
          summary: [
            { type: 'summary_text', text: `t${n}` },
            { type: 'summary_text', text: 'more' },
          ],
        });
        break;
      case 'call':
        calls.push(`c${lines.length}`);
        put('response_item', {
          type: 'function_call',
          name: n % 5 ? 'shell' : 'update_plan',
          arguments: '{"command":["ls"]}',
          call_id: calls.at(-1),
        });
        break;
      case 'result':
        put('response_item', {
          type: 'function_call_output',
          call_id: calls.splice(n % Math.max(1, calls.length), 1)[0] ?? 'gone',
          output: 'r',
        });
        break;
      case 'torn':
        lines.push('{"timestamp":"2026');
        break;
      case 'compact':
        if (n % 2) put('event_msg', { type: 'context_compacted' });
        put('compacted', { message: 's' });
        if (n % 3) put('event_msg', { type: 'context_compacted' });
        break;
      case 'rewind':
        put('event_msg', { type: 'thread_rolled_back', num_turns: 1 + (n % 3) });
        break;
      case 'end':
        put('event_msg', { type: 'task_complete' });
        break;
      case 'abort':
        put('event_msg', { type: 'turn_aborted', reason: 'interrupted' });
        break;
      case 'error':
        put('event_msg', { type: 'error', message: 'bad' });
        break;
      case 'duplicate':
        put('event_msg', { type: 'patch_apply_end', call_id: calls.at(-1) ?? 'gone', success: n % 2 === 0 });
        break;
      case 'title':
        put('event_msg', { type: 'thread_name_updated', thread_name: `name ${n}` });
        break;
      default: {
        if (n % 2) total += 10;
        const usage = { input_tokens: total, output_tokens: total };
        put('event_msg', { type: 'token_count', info: { total_token_usage: usage } });
      }
    }
  }
  return lines;
}

const pieces = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 60 }),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
});

describe('Reading on from an offset gives what reading the whole file gives', () => {
  for (const [kind, name, make] of [
    ['claude-code', CLAUDE_FILE, claudeLines],
    ['codex', CODEX_FILE, codexLines],
  ] as const) {
    it(`for ${kind}, wherever the pieces are cut`, async function () {
      this.timeout(60_000);
      const source = sourceOf(kind);
      await fc.assert(
        fc.asyncProperty(pieces, async ({ steps, cuts }) => {
          const bytes = Buffer.from(`${make(steps).join('\n')}\n`);
          await inPieces(
            source,
            name,
            bytes,
            cuts.map((cut) => Math.floor(cut * bytes.length)),
          );
        }),
        { numRuns: 250 },
      );
    });
  }

  it('and does not read the whole file again for what just follows', async () => {
    const source = sourceOf('claude-code');
    await inFolder(async (dir) => {
      const file = path.join(dir, CLAUDE_FILE);
      const all = claudeLines(
        Array.from({ length: 1500 }, (_, n) => ({ what: ['prompt', 'call', 'result', 'say'][n % 4]!, n: 1 })),
      );
      await writeFile(file, `${all.slice(0, 1400).join('\n')}\n`);
      const first = await source.scan(file, 0, undefined, never);
      await appendFile(file, `${all.slice(1400).join('\n')}\n`);
      const second = await source.scan(file, first.offset, first.state, never);
      assert.equal(second.mode, 'append');
      assert.ok(second.entries.length <= 100);
      assert.ok(JSON.stringify(second.state).length < 60_000);
    });
  });

  it('and reads it whole when the history was rewound', async () => {
    const source = sourceOf('claude-code');
    await inFolder(async (dir) => {
      const file = path.join(dir, CLAUDE_FILE);
      const steps = (extra: Step[]) =>
        claudeLines([
          { what: 'prompt', n: 1 },
          { what: 'say', n: 1 },
          { what: 'prompt', n: 2 },
          { what: 'say', n: 3 },
          ...extra,
        ]);
      await writeFile(file, `${steps([]).join('\n')}\n`);
      const first = await source.scan(file, 0, undefined, never);
      await writeFile(file, `${steps([{ what: 'rewind', n: 2 }]).join('\n')}\n`);
      const second = await source.scan(file, first.offset, first.state, never);
      assert.equal(second.mode, 'rewrite');
      assert.deepEqual(
        second.entries.map((entry) => entry.preview),
        ['prompt 1', 'answer 1', 'rewound 2'],
      );
      assert.equal(second.totals.offBranch, 2);
    });
  });
});
