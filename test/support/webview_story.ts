/** Transcripts made up for the tests of the page: entries of every kind, as many as wanted. */
import type { ContentBlock, ToolCall } from '../../src/protocol/content.js';
import type { Entry, Turn } from '../../src/protocol/entry.js';
import type { SessionDetails } from '../../src/protocol/session.js';

export const SESSION_ID = '0198c0de-0000-7000-8000-000000000001';
const START = Date.parse('2026-03-12T08:00:00Z');

export const text = (value: string): ContentBlock[] => [{ type: 'text', text: value }];
const at = (ordinal: number) => new Date(START + ordinal * 10_000).toISOString();

export type Draft = Partial<Entry> & Pick<Entry, 'kind'>;

/** An entry with everything it needs and what is given. */
export function entry(ordinal: number, turn: number, draft: Draft): Entry {
  return {
    id: `e${String(ordinal)}`,
    ordinal,
    turn,
    turnId: `t${String(turn)}`,
    at: at(ordinal),
    content: [],
    boundary: false,
    replay: false,
    ...draft,
  };
}

export function tool(call: Partial<ToolCall> & Pick<ToolCall, 'title'>): Draft {
  return {
    kind: 'tool',
    tool: { callId: call.title, name: call.name ?? 'tool', kind: 'execute', status: 'completed', ...call },
  };
}

/** Numbers entries and turns; a prompt that is not an interjection begins a turn. */
export function number(drafts: readonly Draft[]): Entry[] {
  let turn = 0;
  return drafts.map((draft, ordinal) => {
    if (draft.kind === 'user' && draft.interjection !== true) turn += 1;
    return entry(ordinal, Math.max(turn, 1), draft);
  });
}

const WORDS = 'the cursor is saved once at the end so a second worker reads the rows again'.split(' ');
const sentence = (seed: number, words: number) =>
  Array.from({ length: words }, (_, index) => WORDS[(seed * 7 + index * 5) % WORDS.length]).join(' ');

/** Entries of a turn in `longSession`. */
export const TURN_LENGTH = 10;

function bulk(ordinal: number): Draft {
  const turn = Math.floor(ordinal / TURN_LENGTH) + 1;
  const path = `/home/ada/ledger/src/import/part-${String(turn % 40)}.ts`;
  switch (ordinal % TURN_LENGTH) {
    case 0:
      return { kind: 'user', content: text(`Prompt ${String(turn)}: ${sentence(turn, 8 + (turn % 30))}`) };
    case 1:
      return { kind: 'thought', content: text(sentence(ordinal, 20)) };
    case 2:
      return tool({ title: path, kind: 'read', durationMs: 120, locations: [{ path }] });
    case 3:
      return tool({ title: 'saveCursor|loadCursor', kind: 'search', durationMs: 90 });
    case 4:
      return tool({
        title: path,
        kind: 'edit',
        durationMs: 80,
        diffs: [{ path, oldText: 'a\nb\nc\n', newText: `a\nb ${String(turn)}\nc\n` }],
      });
    case 5:
    case 7:
      return {
        kind: 'assistant',
        content: text(`Entry ${String(ordinal)}. ${sentence(ordinal, 10 + (ordinal % 90))}`),
      };
    case 6:
      return tool({ title: 'npm test', durationMs: 3_800, output: text('ok 12\nok 13\n') });
    case 8:
      return {
        kind: 'plan',
        plan: [
          { content: 'Find the cause', status: 'completed' },
          { content: 'Mend it', status: 'in_progress' },
        ],
      };
    default:
      return {
        kind: 'assistant',
        content: text(`Done with turn ${String(turn)}.\n\n- one\n- two\n\n${sentence(ordinal, 40)}`),
        boundary: true,
        turnUsage: { input: 3_200, output: 900, cacheRead: 38_000 },
        turnDurationMs: 34_000,
      };
  }
}

/** A session of `count` entries in turns of ten. */
export const longSession = (count: number): Entry[] =>
  Array.from({ length: count }, (_, ordinal) =>
    entry(ordinal, Math.floor(ordinal / TURN_LENGTH) + 1, bulk(ordinal)),
  );

const before = `export async function writeChunk(rows: Row[]) {
  const tx = await db.begin();
  try {
    await tx.insert('entries', rows);
    await tx.commit();
  } catch (error) {
    await tx.rollback();
    throw error;
  }
}
`;
const after = before.replace(
  "    await tx.insert('entries', rows);\n",
  "    const keyed = rows.map((row) => withKey(row));\n    await tx.insert('entries', keyed, { onConflict: 'nothing' });\n    await tx.saveCursor(rows.at(-1)?.line);\n",
);

const answer = `The import is **retried after a commit that had already happened**. The queue gives a job 30 s; the March files take longer.

1. [batch.ts:96](src/import/batch.ts:96) commits every 500 rows.
2. \`queue.ts\` has no way to tell a retry from a first attempt.

\`\`\`ts
// One line of one file is one entry, however often it is read.
export const entryKey = (file: string, line: number) => \`\${file}:\${line}\`;
\`\`\`

| Attempt | Worker | Rows written | Lasted |
| --- | --- | --- | --- |
| 1 | w-03 | 12,000 | 38.2 s |
| 2 | w-07 | 12,000 | 36.9 s |

> Only customers whose file is longer than 30 s of work are hit.

See https://example.com/docs for the rest.`;

/** One short session with every kind of entry, as a person could have it. */
export function everyKind(): Entry[] {
  const src = (name: string) => `/home/ada/ledger/src/${name}`;
  return number([
    {
      kind: 'user',
      content: [
        ...text('The nightly import doubled every March entry. Find out why **before** you touch anything.'),
        { type: 'resource_link', uri: 'file:///home/ada/ledger/import-0311.txt', name: 'import-0311.txt' },
      ],
    },
    {
      kind: 'thought',
      content: text(
        'The second attempt starts while the first commit is still open. I look at the cursor first.',
      ),
    },
    tool({
      title: src('import/batch.ts'),
      kind: 'read',
      durationMs: 120,
      locations: [{ path: src('import/batch.ts') }],
    }),
    tool({ title: 'saveCursor|loadCursor', kind: 'search', durationMs: 210 }),
    tool({ title: 'git log --oneline -8', durationMs: 130, output: text('a1b2c3d Save the cursor\n') }),
    {
      kind: 'assistant',
      content: text(answer),
      boundary: true,
      turnUsage: { input: 3_800, output: 1_100, cacheRead: 38_000 },
      turnDurationMs: 34_000,
    },
    {
      kind: 'compaction',
      compaction: { tokensBefore: 182_400, tokensAfter: 21_300, trigger: 'user' },
      content: text('Goal: stop duplicate entries. Cause found in turn 1.'),
    },
    {
      kind: 'user',
      content: text(
        '先不要改数据库结构。能不能只用幂等键来解决？请给出最小的改动，并说明对旧数据有什么影响。',
      ),
    },
    {
      kind: 'plan',
      plan: [
        { content: 'Test: the same file twice gives the same rows', status: 'completed' },
        { content: 'Fill external_ref from file and line', status: 'in_progress' },
        { content: 'Note for the runbook', status: 'pending' },
      ],
    },
    tool({
      title: src('import/retry.test.ts'),
      kind: 'edit',
      diffs: [{ path: src('import/retry.test.ts'), oldText: null, newText: 'it works\n' }],
    }),
    tool({
      title: 'npm test -- import/retry',
      status: 'failed',
      exitCode: 1,
      durationMs: 3_800,
      output: text(
        ' FAIL  test/import/retry.test.ts\n   ✓ reads the same file twice (212 ms)\n   × continues a batch that was cut (1.4 s)\n\n   expected  12,000\n   received  12,500\n',
      ),
    }),
    {
      kind: 'assistant',
      content: text('Red for the right reason: 500 rows are written twice. Now the change itself.'),
    },
    tool({
      title: src('import/batch.ts'),
      kind: 'edit',
      durationMs: 100,
      diffs: [{ path: src('import/batch.ts'), oldText: before, newText: after }],
    }),
    {
      kind: 'user',
      interjection: true,
      content: text('تأكد من أن الوصف العربي لا ينقلب عند الاستيراد، مثل «تحويل راتب شهر مارس 2026».'),
    },
    {
      kind: 'permission',
      content: text('npx prisma format --check'),
      ask: { options: [{ id: 'once', name: 'Allow once' }], answer: 'once' },
    },
    {
      kind: 'notice',
      severity: 'warning',
      content: text('The agent was slow to answer and was asked again.'),
    },
    {
      kind: 'raw',
      content: [
        {
          type: 'raw',
          text: '{"type":"tool_result","call":"c_81f0","output":"skipped 12,000 rows',
          reason: 'Record 17 could not be read: the line ends inside a string.',
        },
      ],
    },
    {
      kind: 'assistant',
      content: text('All tests pass.'),
      boundary: true,
      turnUsage: { input: 1_700, output: 1_000, cacheRead: 29_900 },
      turnDurationMs: 309_000,
    },
    {
      kind: 'user',
      content: text(
        'Run the whole suite and the dry run on the staging snapshot. Stop if anything points at production.',
      ),
    },
    {
      kind: 'assistant',
      status: 'in_progress',
      content: text(
        'The staging snapshot is a copy with its own host name. The suite is running; 318 of 412 tests have passed so far, and the slow ones are the',
      ),
    },
    tool({
      title: 'npm run test:all',
      status: 'in_progress',
      output: text(' PASS  test/queue/lease.test.ts (4.1 s)\n PASS  test/import/retry.test.ts (2.8 s)\n'),
    }),
  ]);
}

/** The turns of some entries, as the service lists them. */
export function turnsOf(entries: readonly Entry[]): Turn[] {
  const turns: Turn[] = [];
  for (const item of entries) {
    const known = turns.at(-1);
    if (known?.number === item.turn) {
      const done = item.boundary
        ? { boundaryEntryId: item.id, endedAt: item.at, status: 'completed' as const }
        : {};
      turns[turns.length - 1] = {
        ...known,
        ...done,
        lastOrdinal: item.ordinal,
        tools: known.tools + (item.kind === 'tool' ? 1 : 0),
        files: [...new Set([...known.files, ...(item.tool?.diffs ?? []).map(({ path }) => path)])],
      };
      continue;
    }
    const [first] = item.content;
    turns.push({
      turnId: item.turnId,
      number: item.turn,
      prompt: first?.type === 'text' ? (first.text.split('\n', 1)[0] ?? '') : '',
      at: item.at,
      status: 'running',
      firstOrdinal: item.ordinal,
      lastOrdinal: item.ordinal,
      tools: 0,
      files: [],
    });
  }
  return turns;
}

export const details = (extra: Partial<SessionDetails> = {}): SessionDetails => ({
  sessionId: SESSION_ID,
  cwd: '/home/ada/ledger',
  title: 'Imports create duplicate entries on retry',
  updatedAt: at(1),
  createdAt: at(0),
  kind: 'build',
  headless: false,
  state: 'idle',
  archived: false,
  agent: 'codex',
  source: 'deck',
  hasErrors: false,
  childCount: 0,
  cut: { generation: 1, revision: 1 },
  entryCount: 0,
  turnCount: 0,
  children: [],
  sourceInfo: { kind: 'deck', skipped: 0, offBranch: 0, indexing: false },
  can: { prompt: true, compact: true },
  ...extra,
});
