// A short session with every kind of entry, for pictures and for the tests of what is drawn.
import type { Entry } from '../../../src/protocol/entry.js';

const text = (value: string) => [{ type: 'text' as const, text: value }];
const FILE = '/home/me/ledgerline/src/import/batch.ts';

const BEFORE = `async function writeChunk(rows: Row[], ctx: ImportContext) {
  const tx = await ctx.db.begin();
  try {
    await tx.insert('entries', rows);
    await tx.commit();
  } catch (e) {
    await tx.rollback();
    throw e;
  }
}
`;
const AFTER = `async function writeChunk(rows: Row[], ctx: ImportContext) {
  const tx = await ctx.db.begin();
  try {
    const keyed = rows.map((r) => ({ ...r, external_ref: entryKey(ctx.fileSha, r.line) }));
    const { skipped } = await tx.insert('entries', keyed, { onConflict: 'nothing' });
    await tx.saveCursor(ctx.jobId, rows.at(-1)?.line);
    await tx.commit();
    ctx.stats.skipped += skipped;
  } catch (e) {
    await tx.rollback();
    throw e;
  }
}
`;

type Part = Partial<Entry> & Pick<Entry, 'kind'>;
type Call = Partial<NonNullable<Entry['tool']>>;
const call = (tool: Call, more: Partial<Entry> = {}): Part => ({
  kind: 'tool',
  status: tool.status === 'in_progress' ? 'in_progress' : 'completed',
  tool: { callId: 'c', name: 'tool', title: 'tool', kind: 'other', status: 'completed', ...tool },
  ...more,
});
const edit = (path: string, oldText: string | null, newText: string): Part =>
  call({ kind: 'edit', title: path, diffs: [{ path, oldText, newText }], durationMs: 100 });
const ended = (durationMs: number): Partial<Entry> => ({
  boundary: true,
  turnDurationMs: durationMs,
  turnUsage: { input: 3_800, cacheRead: 38_000, output: 1_100 },
});

const FIRST: Part[] = [
  {
    kind: 'user',
    content: [
      ...text(
        'The nightly import doubled every March entry for two customers. Find out why before you touch anything. The failing run is in the log I attached.',
      ),
      { type: 'resource_link', uri: 'file:///home/me/ledgerline/logs/import-0311.txt', name: 'import-0311.txt' },
    ],
  },
  { kind: 'thought', content: text('The second attempt starts while the first commit is still open. If the batch is split after the header row, then the retry sees an empty cursor.') },
  call({ kind: 'read', title: 'read', locations: [{ path: FILE, line: 88 }], output: text(BEFORE), durationMs: 120 }),
  call({ kind: 'search', title: 'leaseUntil|heartbeat', output: text(`${FILE.replace('import/batch', 'queue/queue')}:58:const leaseUntil = now + LEASE_MS;\nsrc/queue/queue.ts:77:if (job.leaseUntil < now) return requeue(job);\nsrc/queue/worker.ts:31:// no heartbeat: a job must end inside its lease`), durationMs: 90 }),
  call({ kind: 'execute', title: 'git log --oneline -5', output: text('a1b2c3d one\nb2c3d4e two'), exitCode: 0, durationMs: 60 }),
  call({ kind: 'fetch', title: 'https://example.org/leases', output: text('Leases…'), durationMs: 900 }),
  {
    kind: 'assistant',
    content: text(`The import is not running twice by accident: it is **retried after a commit that had already happened**. The queue gives a job 30 s; the March files take 34–41 s, so the lease ends while the last chunk is being written.

1. [batch.ts:96](src/import/batch.ts:96) commits every 500 rows.
2. \`src/import/batch.ts:121\` saves the cursor once, at the end.
3. \`queue.ts\` has no way to tell a retry from a first attempt.

| Attempt | Worker | Rows written | Lasted | Ended by |
| --- | --- | ---: | ---: | --- |
| 1 | w-03 | 12,000 | 38.2 s | commit |
| 2 | w-07 | 12,000 | 36.9 s | commit |
| 3 | w-03 | 0 | 0.4 s | unique \`file_id\` |

- [x] reproduce it
- [ ] a lease that is renewed

> Only customers whose file is longer than 30 s of work are hit. I changed nothing.

\`\`\`ts
// one key per line of a file
export function entryKey(fileSha: string, line: number): string {
  return \`imp:\${fileSha.slice(0, 16)}:\${line}\`; // 16 is enough
}
\`\`\``),
    ...ended(34_000),
  },
];

const SECOND: Part[] = [
  {
    kind: 'compaction',
    status: 'completed',
    content: text('# Summary\n\nThe import is retried after a commit. **Nothing was changed.**'),
    compaction: { tokensBefore: 182_400, tokensAfter: 21_300, trigger: 'user' },
    boundary: true,
  },
];

const THIRD: Part[] = [
  { kind: 'user', content: text('先不要改数据库结构。能不能只用幂等键来解决？请给出最小的改动，并说明对旧数据有什么影响。') },
  {
    kind: 'plan',
    plan: [
      { content: 'Test: the same file twice gives the same rows', status: 'completed' },
      { content: 'Insert with “on conflict do nothing”, count what was skipped', status: 'in_progress' },
      { content: 'Note for the runbook', status: 'pending' },
    ],
  },
  edit('/home/me/ledgerline/test/import/retry.test.ts', null, "it('reads the same file twice', () => {\n  // …\n});\n"),
  call({
    kind: 'execute',
    title: 'npm test -- import/retry',
    status: 'failed',
    exitCode: 1,
    durationMs: 3_800,
    output: text(
      ' RUN  test/import/retry.test.ts\n   \u001b[32m✓\u001b[0m reads the same file twice (212 ms)\n   \u001b[31m✕\u001b[0m continues a batch that was cut after 500 rows (1.4 s)\n\n   expected  12,000\n   received  12,500   \u001b[2m500 rows were written twice\u001b[0m',
    ),
  }),
  { kind: 'assistant', content: text('Red for the right reason: 500 rows are written twice. Now the change itself.') },
  edit(FILE, BEFORE, AFTER),
  { kind: 'user', interjection: true, content: text('تأكد من أن الوصف العربي لا ينقلب عند الاستيراد، مثل «تحويل راتب شهر مارس 2026».') },
  {
    kind: 'permission',
    content: text('npx prisma format --check'),
    ask: { options: [{ id: 'a', name: 'Allow once' }, { id: 'r', name: 'Reject' }], answer: 'a' },
  },
  edit('/home/me/ledgerline/src/import/key.ts', null, 'export const key = 1;\n'),
  edit('/home/me/ledgerline/src/import/reimport.ts', 'a\nb\n', 'a\nc\nd\n'),
  call({ kind: 'execute', title: 'npm run lint', status: 'failed', exitCode: 1, durationMs: 2_100, output: text('1 error') }),
  edit('/home/me/ledgerline/src/import/reimport.ts', 'a\nc\n', 'a\nc2\n'),
  call({ kind: 'execute', title: 'npm run lint', exitCode: 0, durationMs: 2_000, output: text('') }),
  call({ kind: 'other', name: 'Task', title: 'Review for races between two workers', childSessionId: 'child-1', input: { prompt: 'Look for races' }, output: text('No race found.'), durationMs: 100_000 }),
  call(
    {
      kind: 'execute',
      title: 'node bench/import.mjs --files march/*.csv --verbose',
      exitCode: 0,
      durationMs: 182_000,
      output: text(`${'march/a-0311.csv   before 38.2 s   after 31.4 s   rows 12,000   skipped 0\n'.repeat(30)}`),
    },
    { truncated: { bytes: 1_258_291, ref: 'output:big' } },
  ),
  { kind: 'assistant', content: [{ type: 'image', mimeType: 'image/png', ref: 'image.content.0:pic', bytes: 68 }] },
  { kind: 'raw', content: [{ type: 'raw', text: '{"type":"tool_result","call":"c_81f0","output":"skipped 12,000 rows\\nmarch/c-0311.csv bef', reason: 'Record 38,377 could not be read: the line ends inside a string.' }] },
  { kind: 'notice', severity: 'warning', content: text('The agent was restarted by the service.') },
  {
    kind: 'assistant',
    content: text('The reviewer found one gap: two workers can both pass the check in `reimport.ts` before either writes. The unique index still refuses the second write, so nothing is doubled.'),
    ...ended(309_000),
  },
];

const RUNNING: Part[] = [
  { kind: 'user', content: text('Run the whole suite and the dry run on the staging snapshot. Stop if anything points at production.') },
  call({ kind: 'read', title: 'read', locations: [{ path: '/home/me/ledgerline/config/prod.json' }] }),
  call({ kind: 'execute', title: 'hostname', exitCode: 0, output: text('staging-3') }),
  call({ kind: 'search', title: 'prod', output: text('') }),
  {
    kind: 'assistant',
    status: 'in_progress',
    content: text('The staging snapshot is a copy with its own host name, and the two production names in `config/` are not reachable from this shell. The suite is running; 318 of 412 tests have passed so far, and the slow ones are the'),
  },
  call({ kind: 'execute', title: 'npm run test:all', status: 'in_progress', output: text(' \u001b[32mPASS\u001b[0m  test/queue/lease.test.ts (4.1 s)\n \u001b[32mPASS\u001b[0m  test/import/retry.test.ts (2.8 s)\n \u001b[2mRUNS\u001b[0m  test/report/year-end.test.ts') }),
];

const ASKING: Part[] = [
  { kind: 'assistant', content: text('The suite is green. The dry run needs one more command.') },
  {
    kind: 'permission',
    status: 'in_progress',
    content: text('pg_restore --dbname staging_copy march.dump'),
    ask: { options: [{ id: 'a', name: 'Allow once' }, { id: 's', name: 'Allow for this session' }, { id: 'r', name: 'Reject' }] },
  },
];

/** All of it; the last turn runs, or waits for an answer, or is left out. */
export function showcase(state: 'idle' | 'running' | 'needs_input'): Entry[] {
  const turns: Part[][] = [FIRST, SECOND, THIRD];
  if (state === 'running') turns.push(RUNNING);
  if (state === 'needs_input') turns.push([...RUNNING.slice(0, 4), ...ASKING]);
  let number = 0;
  let ordinal = 0;
  const start = Date.parse('2026-03-12T13:41:00Z');
  return turns.flatMap((parts) => {
    if (parts[0]?.kind === 'user') number += 1;
    return parts.map((part): Entry => {
      const made: Entry = {
        id: `s${String(ordinal)}`,
        ordinal,
        turnId: `t${String(number)}`,
        turn: number,
        at: new Date(start + ordinal * 40_000).toISOString(),
        content: [],
        boundary: false,
        replay: false,
        ...part,
      };
      ordinal += 1;
      return made;
    });
  });
}
