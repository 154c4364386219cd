// Transcripts for the page's tests: entries made from their ordinal alone, so that 100,000 of them cost nothing.
import type { Entry, Turn } from '../../../src/protocol/entry.js';

/** Entries of one turn of the long story. */
export const TURN_LENGTH = 10;

const WORDS = ['lease', 'cursor', 'batch', 'retry', 'queue', 'import', 'ledger', 'worker', 'index', 'commit'];
const START = Date.parse('2026-03-01T08:00:00Z');

const hash = (value: number) => Math.imul(value ^ (value >>> 15), 2_246_822_519) >>> 0;

function sentence(seed: number, length: number): string {
  const words = Array.from({ length }, (_, index) => WORDS[hash(seed * 31 + index) % WORDS.length] ?? '');
  return `${words.join(' ')}.`;
}

export function entry(ordinal: number, changes: Partial<Entry>): Entry {
  const turn = Math.floor(ordinal / TURN_LENGTH) + 1;
  return {
    id: `e${String(ordinal)}`,
    ordinal,
    turnId: `t${String(turn)}`,
    turn,
    kind: 'assistant',
    at: new Date(START + ordinal * 7_000).toISOString(),
    content: [],
    boundary: false,
    replay: false,
    ...changes,
  };
}

const text = (value: string) => [{ type: 'text' as const, text: value }];

function tool(ordinal: number, call: Partial<NonNullable<Entry['tool']>>): Entry {
  return entry(ordinal, {
    kind: 'tool',
    status: 'completed',
    tool: {
      callId: `c${String(ordinal)}`,
      name: 'tool',
      title: 'tool',
      kind: 'other',
      status: 'completed',
      durationMs: 100 + (hash(ordinal) % 4_000),
      ...call,
    },
  });
}

/** The entry at a place of a story of `total` entries. Its last turn is complete unless `running`. */
export function storyEntry(ordinal: number, total: number, running = false): Entry {
  const turn = Math.floor(ordinal / TURN_LENGTH) + 1;
  const word = WORDS[turn % WORDS.length] ?? '';
  const path = `/home/me/ledgerline/src/${word}/${word}.ts`;
  const isLast = ordinal % TURN_LENGTH === TURN_LENGTH - 1 || ordinal === total - 1;
  const boundary = isLast && !(running && ordinal >= total - TURN_LENGTH);
  switch (ordinal % TURN_LENGTH) {
    case 0:
      return entry(ordinal, {
        kind: 'user',
        content: text(`Prompt ${String(turn)}: ${sentence(turn, 8 + (turn % 30))}`),
        boundary,
      });
    case 1:
      return entry(ordinal, { kind: 'thought', content: text(sentence(ordinal, 60)), boundary });
    case 2:
      return {
        ...tool(ordinal, {
          kind: 'read',
          title: path,
          locations: [{ path, line: 1 }],
          output: text(sentence(ordinal, 80)),
        }),
        boundary,
      };
    case 3:
      return {
        ...tool(ordinal, { kind: 'search', title: word, output: text(`${path}:12:const ${word} = 1;`) }),
        boundary,
      };
    case 4:
      return {
        ...tool(ordinal, { kind: 'execute', title: `npm test -- ${word}`, exitCode: 0, output: text('ok') }),
        boundary,
      };
    case 6:
      return {
        ...tool(ordinal, {
          kind: 'edit',
          title: path,
          diffs: [
            {
              path,
              oldText: `const ${word} = 1;\nkeep();\n`,
              newText: `const ${word} = 2;\nconst more = true;\nkeep();\n`,
            },
          ],
        }),
        boundary,
      };
    case 7:
      return {
        ...tool(ordinal, {
          kind: 'execute',
          title: 'npm run lint',
          status: turn % 5 === 0 ? 'failed' : 'completed',
          exitCode: turn % 5 === 0 ? 1 : 0,
          output: text('src/a.ts:1:1 error'),
        }),
        boundary,
      };
    default: {
      const list = turn % 3 === 0 ? `\n\n- ${sentence(ordinal, 5)}\n- ${sentence(ordinal + 1, 5)}` : '';
      const code =
        ordinal % 40 === 9 ? `\n\n\`\`\`ts\nconst ${word} = ${String(ordinal)}; // why\n\`\`\`` : '';
      return entry(ordinal, {
        content: text(`Entry ${String(ordinal)}. ${sentence(ordinal, 20 + (hash(ordinal) % 60))}${list}${code}`),
        boundary,
        ...(boundary
          ? { turnUsage: { input: 3_800, cacheRead: 38_000, output: 1_100 }, turnDurationMs: 34_000 }
          : {}),
      });
    }
  }
}

/** The turn of some entries, as the service sums it up. */
export function turnOf(entries: readonly Entry[]): Turn {
  const [first] = entries;
  const last = entries.at(-1);
  if (!first || !last) throw new Error('a turn has entries');
  const prompt = first.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ');
  return {
    turnId: first.turnId,
    number: first.turn,
    prompt: prompt.split('\n', 1)[0] ?? '',
    at: first.at,
    status: last.boundary ? 'completed' : 'running',
    firstOrdinal: first.ordinal,
    lastOrdinal: last.ordinal,
    tools: entries.filter((item) => item.kind === 'tool').length,
    files: [...new Set(entries.flatMap((item) => (item.tool?.diffs ?? []).map((diff) => diff.path)))],
    ...(last.boundary ? { boundaryEntryId: last.id, endedAt: last.at } : {}),
  };
}
