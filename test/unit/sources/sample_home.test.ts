import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { createSources } from '../../../src/service/sources/index.js';
import type { EntryBody, IndexedEntry, SessionHead } from '../../../src/service/sources/source.js';
import { writeSampleHome } from '../../support/sample_home.js';
import { inFolder, never, render } from './tools.js';

describe('The sample home', () => {
  it('has sessions of both tools that index and render without a raw entry', async () => {
    await inFolder(async (dir) => {
      const home = writeSampleHome(dir);
      const heads: SessionHead[] = [];
      const bodies: EntryBody[] = [];
      let longest = 0;
      for (const source of createSources({ HOME: dir })) {
        for await (const { found, unreadable } of source.discover(never)) {
          assert.deepEqual(unreadable, []);
          for (const file of found) {
            const head = await source.head(file);
            assert.ok(home.projects.includes(head.cwd), head.cwd);
            assert.ok(head.title, file.path);
            assert.ok(head.updatedAt <= Date.now());
            heads.push(head);
            const { entries, turns } = await source.scan(file.path, 0, undefined, never);
            longest = Math.max(longest, entries.length);
            assert.ok(turns.every((turn) => turn.status !== 'running'));
            const some: IndexedEntry[] = entries.slice(-40);
            for (const entry of some) bodies.push(await render(source, file.path, entry));
          }
        }
      }
      assert.equal(heads.filter((head) => head.parent === undefined).length, home.sessions);
      assert.equal(home.sessions, 41);
      assert.ok(longest >= 1900, String(longest));
      assert.equal(new Set(heads.map((head) => head.sessionId)).size, heads.length);
      assert.ok(heads.some((head) => head.archived));
      assert.ok(heads.some((head) => head.parent?.relation === 'subagent'));
      const has = (what: (body: EntryBody) => unknown) => bodies.some((body) => Boolean(what(body)));
      assert.ok(has((body) => body.tool?.childSessionId));
      assert.ok(has((body) => body.tool?.exitCode === 1));
      assert.ok(has((body) => body.tool?.diffs?.some((diff) => diff.oldText === null)));
      assert.ok(has((body) => body.plan?.length));
      assert.ok(has((body) => body.interjection));
      assert.ok(has((body) => body.kind === 'compaction' && body.content.length > 0));
      assert.ok(!has((body) => body.kind === 'raw' || body.content.some((block) => block.type === 'raw')));
    });
  });

  it('can be written again in another week without leaving anything behind', async () => {
    await inFolder(async (dir) => {
      const count = async () => {
        const names = await readdir(dir, { recursive: true });
        return names.filter((name) => name.endsWith('.jsonl')).length;
      };
      writeSampleHome(dir, Date.now() - 7 * 24 * 3_600_000);
      const before = await count();
      writeSampleHome(dir);
      assert.equal(await count(), before);
    });
  });
});
