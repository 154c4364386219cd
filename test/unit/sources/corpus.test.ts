import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createSources } from '../../../src/service/sources/index.js';
import type { FoundFile } from '../../../src/service/sources/source.js';
import { generateCorpus, type Corpus } from '../../support/corpus.js';

const never = new AbortController().signal;

describe('the corpus, indexed', () => {
  let dir: string;
  let corpus: Corpus;

  before(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'corpus-'));
    corpus = generateCorpus({ dir, seed: 7, sessions: 150, hugeEntries: 3000, resultWords: 20 });
  });
  after(() => rm(dir, { recursive: true, force: true }));

  it('shows of every session what was written', async () => {
    const sources = createSources({ HOME: dir });
    const found = new Map<string, { file: FoundFile; source: (typeof sources)[number] }>();
    for (const source of sources) {
      for await (const batch of source.discover(never)) {
        assert.deepEqual(batch.unreadable, []);
        for (const file of batch.found) found.set(file.path, { file, source });
      }
    }
    assert.deepEqual([...found.keys()].sort(), corpus.sessions.map((truth) => truth.file).sort());
    for (const truth of corpus.sessions) {
      const { file, source } = found.get(truth.file)!;
      assert.equal(source.kind, truth.tool);
      assert.equal(file.sessionId, truth.sessionId);
      const head = await source.head(file);
      assert.equal(head.cwd, truth.cwd);
      assert.equal(head.preview, truth.firstPrompt);
      assert.equal(head.parent?.sessionId, truth.parentSessionId);
      const { entries, turns, totals } = await source.scan(file.path, 0, undefined, never);
      const count = (kind: string) => entries.filter((entry) => entry.kind === kind).length;
      assert.deepEqual(
        {
          entries: entries.length,
          turns: turns.length,
          tools: turns.reduce((sum, turn) => sum + turn.tools, 0),
          compactions: count('compaction'),
          offBranch: totals.offBranch,
          skipped: totals.skipped,
          raw: count('raw'),
          output: totals.usage?.output,
        },
        {
          entries: truth.entries,
          turns: truth.turns,
          tools: turns.reduce((sum, turn) => sum + turn.tools, 0),
          compactions: truth.compactions,
          offBranch: truth.offBranch,
          skipped: truth.skipped,
          raw: truth.skipped,
          output: truth.output,
        },
        truth.file,
      );
      if (truth.offBranch === 0) {
        assert.equal(
          turns.reduce((sum, turn) => sum + turn.tools, 0),
          truth.tools,
        );
      }
      assert.ok(
        turns.every((turn) => turn.status !== 'running' && turn.boundaryEntryId === turn.lastEntryId),
      );
      assert.equal(entries.filter((entry) => entry.boundary).length, turns.length);
    }
  });

  it('is the same for the same seed', async () => {
    const other = await mkdtemp(path.join(os.tmpdir(), 'corpus-'));
    try {
      const endMs = 1_790_000_000_000;
      const first = generateCorpus({ dir: other, seed: 3, sessions: 5, endMs });
      const again = generateCorpus({ dir: other, seed: 3, sessions: 5, endMs });
      assert.deepEqual(first, again);
    } finally {
      await rm(other, { recursive: true, force: true });
    }
  });
});
