import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { WorkerScanner } from '../../../src/service/sources/scanner.js';
import { generateCorpus } from '../../support/corpus.js';
import { CLAUDE_FILE, inFolder, never, outline, sourceOf, text } from './tools.js';

const line = (uuid: string) => ({
  type: 'user',
  uuid,
  parentUuid: null,
  message: { content: `prompt ${uuid}` },
});

async function withScanner<T>(
  run: (scanner: WorkerScanner, dir: string) => Promise<T>,
  options: { maxMemoryMb?: number } = {},
): Promise<T> {
  return inFolder(async (dir) => {
    const scanner = new WorkerScanner({ env: { HOME: dir }, ...options });
    try {
      return await run(scanner, dir);
    } finally {
      await scanner.close();
    }
  });
}

describe('The scanner', function () {
  this.timeout(60_000);

  it('gives what the source gives, from a worker thread', () =>
    withScanner(async (scanner, dir) => {
      const { huge } = generateCorpus({ dir, seed: 1, sessions: 0, hugeEntries: 5000 });
      const file = huge!.file;
      const scan = await scanner.scan('claude-code', file, 0, undefined, never);
      const direct = await sourceOf('claude-code', dir).scan(file, 0, undefined, never);
      assert.deepEqual(scan, direct);
      const more = await scanner.scan('claude-code', file, scan.offset, scan.state, never);
      assert.equal(more.mode, 'append');
    }));

  it('lets what somebody waits for go first', () =>
    withScanner(async (scanner, dir) => {
      const { sessions } = generateCorpus({ dir, seed: 2, sessions: 0, hugeEntries: 8000 });
      const big = sessions[0]!.file;
      const small = path.join(dir, CLAUDE_FILE);
      await writeFile(small, text([line('u1')]));
      const order: string[] = [];
      const scan = (name: string, file: string, priority: 'urgent' | 'background') =>
        scanner.scan('claude-code', file, 0, undefined, never, priority).then(() => order.push(name));
      await Promise.all([
        scan('first', big, 'background'),
        scan('second', big, 'background'),
        scan('urgent', small, 'urgent'),
      ]);
      assert.ok(order.indexOf('urgent') < order.indexOf('second'), order.join());
    }));

  it('rejects at once what is aborted and goes on with the next', () =>
    withScanner(async (scanner, dir) => {
      const { sessions } = generateCorpus({ dir, seed: 3, sessions: 0, hugeEntries: 8000 });
      const abort = new AbortController();
      const running = scanner.scan('claude-code', sessions[0]!.file, 0, undefined, abort.signal);
      const waiting = scanner.scan('claude-code', sessions[0]!.file, 0, undefined, abort.signal);
      const small = path.join(dir, CLAUDE_FILE);
      await writeFile(small, text([line('u1')]));
      const next = scanner.scan('claude-code', small, 0, undefined, never);
      abort.abort(new Error('not wanted any more'));
      await assert.rejects(running, /not wanted/);
      await assert.rejects(waiting, /not wanted/);
      assert.deepEqual(outline(await next), ['user: prompt u1']);
    }));

  it('tells errors of the source apart', () =>
    withScanner(async (scanner, dir) => {
      const file = path.join(dir, CLAUDE_FILE);
      await assert.rejects(scanner.scan('claude-code', file, 0, undefined, never), /ENOENT/);
      await writeFile(file, text([line('u1')]));
      await assert.rejects(scanner.scan('claude-code', file, 9999, {}, never), { name: 'FileShrunkError' });
    }));

  it('survives a worker that runs out of memory', () =>
    withScanner(
      async (scanner, dir) => {
        const { sessions } = generateCorpus({
          dir,
          seed: 4,
          sessions: 0,
          hugeEntries: 60_000,
          resultWords: 5,
        });
        const crashed = scanner.scan('claude-code', sessions[0]!.file, 0, undefined, never);
        const small = path.join(dir, CLAUDE_FILE);
        await writeFile(small, text([line('u1')]));
        const next = scanner.scan('claude-code', small, 0, undefined, never);
        await assert.rejects(crashed, { name: 'ScanCrashedError' });
        assert.deepEqual(outline(await next), ['user: prompt u1']);
      },
      { maxMemoryMb: 48 },
    ));

  it('rejects what is not done when it is closed', () =>
    withScanner(async (scanner, dir) => {
      const { sessions } = generateCorpus({ dir, seed: 5, sessions: 0, hugeEntries: 5000 });
      const running = scanner.scan('claude-code', sessions[0]!.file, 0, undefined, never);
      const rejected = assert.rejects(running, /closed/);
      await scanner.close();
      await rejected;
      await assert.rejects(scanner.scan('claude-code', sessions[0]!.file, 0, undefined, never), /closed/);
    }));
});
