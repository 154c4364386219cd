import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DomainError } from '../../../src/protocol/errors.js';
import {
  searchWorkspace,
  type Found,
  type SearchOptions,
} from '../../../src/service/search/workspace_search.js';
import { Place } from '../../../src/service/search/place.js';

const unaborted = new AbortController().signal;
const hasRipgrep = spawnSync('rg', ['--version']).status === 0;

/** Both ways of finding files give the same; ripgrep only where it is installed. */
const ways: readonly (readonly [title: string, ripgrep: readonly string[]])[] = [
  ['by walking', []],
  ['with ripgrep', ['rg']],
];
for (const [title, ripgrep] of ways)
  describe(`search: a folder, ${title}`, () => {
    let base: string;
    let root: string;
    before(function () {
      if (ripgrep.length > 0 && !hasRipgrep) this.skip();
    });
    beforeEach(() => {
      base = realpathSync(mkdtempSync(join(tmpdir(), 'search-')));
      root = join(base, 'work');
      mkdirSync(root);
    });
    afterEach(() => rmSync(base, { recursive: true, force: true }));

    const write = (files: Record<string, string | Buffer>, folder = root) => {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }
    };
    const search = (query: string, options: Partial<SearchOptions> = {}, cwd = root): Promise<Found> =>
      searchWorkspace(cwd, query, { ripgrep, ...options }, unaborted);
    const paths = async (query: string, options: Partial<SearchOptions> = {}, cwd = root) =>
      (await search(query, options, cwd)).results.map(({ path }) => path);

    it('merges words and names, with the line and its text', async () => {
      write({
        'src/cursor.ts': 'export const a = 1;\n\n/** Pages go on from here. */\nexport class Cursor {}\n',
        'src/list.ts': 'import { Cursor } from "./cursor";\n',
        'docs/other.md': 'Nothing of interest.\n',
      });
      const { results, failed } = await search('Cursor');
      assert.deepEqual(failed, []);
      assert.deepEqual(
        results.map(({ path, routes }) => [path, routes]),
        [
          ['src/cursor.ts', ['words', 'names']],
          ['src/list.ts', ['words']],
        ],
      );
      assert.equal(results[0]?.line, 4);
      assert.equal(results[0].snippet, 'export class Cursor {}');
      assert.ok(results[0].score > results[1]!.score);
    });

    it('shows a file that only its name answers by its beginning, without a line', async () => {
      write({ 'src/telemetry_sink.ts': '\n\n// Where numbers go.\nexport {};\n' });
      const [result] = (await search('telemetrysink')).results;
      assert.deepEqual(
        { ...result, score: 0 },
        {
          path: 'src/telemetry_sink.ts',
          snippet: '// Where numbers go.\nexport {};',
          score: 0,
          routes: ['names'],
        },
      );
    });

    it('finds identifiers however they are written, and text without spaces', async () => {
      write({
        'a.ts': 'const fooBar = 1;',
        'b.py': 'foo_bar = 1',
        'c.md': '查询会话，不必先启动一次任务',
      });
      assert.deepEqual((await paths('foo_bar')).sort(), ['a.ts', 'b.py']);
      assert.deepEqual((await paths('fooBar')).sort(), ['a.ts', 'b.py']);
      assert.deepEqual(await paths('会话查询'), ['c.md']);
    });

    it('gives at most eight results, one a file', async () => {
      write(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}.txt`, 'needle\n'.repeat(90)])));
      const found = await paths('needle');
      assert.equal(found.length, 8);
      assert.equal(new Set(found).size, 8);
    });

    it('finds nothing without an error, also for a query without words', async () => {
      write({ 'a.txt': 'text' });
      assert.deepEqual(await search('xylophone'), { results: [], failed: [] });
      assert.deepEqual(await search('!?'), { results: [], failed: [] });
      assert.deepEqual(await search('-e --files "(['), { results: [], failed: [] });
    });

    it('takes a query of 1,000 characters', async () => {
      write({ 'a.txt': 'the grey heron stands' });
      assert.deepEqual(await paths('heron '.repeat(166).trim()), ['a.txt']);
      assert.deepEqual(await paths('会'.repeat(1000)), []);
    });

    it('honours ignore files: nested, negated, of the repository above, also without a repository', async () => {
      const text = 'needle';
      write({
        '.gitignore': 'build/\n*.log\n!keep.log\n',
        'build/out.txt': text,
        'a.log': text,
        'keep.log': text,
        'sub/.gitignore': 'local.txt\n/only_here.txt\n',
        'sub/local.txt': text,
        'sub/only_here.txt': text,
        'sub/deep/only_here.txt': text,
        'node_modules/pkg/index.js': text,
        '.hidden/file.txt': text,
      });
      assert.deepEqual((await paths('needle')).sort(), ['keep.log', 'sub/deep/only_here.txt']);

      mkdirSync(join(root, '.git', 'info'), { recursive: true });
      // Git itself lets a .gitignore overrule the repository's own exclusions.
      write({ '.git/info/exclude': 'keep.log\nhere.txt\n', '.git/needle.txt': text, 'here.txt': text });
      assert.deepEqual((await paths('needle')).sort(), ['keep.log', 'sub/deep/only_here.txt']);
      write({ 'sub/b.log': text, 'sub/c.txt': text });
      assert.deepEqual((await paths('needle', {}, join(root, 'sub'))).sort(), [
        'c.txt',
        'deep/only_here.txt',
      ]);
    });

    it('searches a folder that is itself ignored: it was chosen', async () => {
      mkdirSync(join(root, '.git'));
      write({ '.gitignore': '/trees/\n*.log\n', 'trees/one/a.txt': 'needle' });
      assert.deepEqual(await paths('needle', {}, join(root, 'trees', 'one')), ['a.txt']);
    });

    it('never shows secrets, binary files or files that are too large, by no route', async () => {
      write({
        '.env': 'needle=1',
        'config/prod.env': 'needle=1',
        'needle.pem': 'needle',
        'credentials.json': '{"needle": 1}',
        id_rsa: 'needle',
        'needle.png': Buffer.from([0x89, 0x50, 0, 0, ...Buffer.from('needle')]),
        'needle_large.txt': 'needle\n'.repeat(200_000),
        'needle.txt': 'needle',
      });
      assert.deepEqual(await paths('needle'), ['needle.txt']);
      assert.deepEqual(await paths('credentials id_rsa prod.env'), []);
    });

    it('stays inside: no symlink leads out, or round in circles', async () => {
      write({ 'secret.txt': 'needle outside' }, base);
      write({ 'inner/file.txt': 'needle inside' });
      symlinkSync(base, join(root, 'up'));
      symlinkSync(join(base, 'secret.txt'), join(root, 'link.txt'));
      symlinkSync(root, join(root, 'inner', 'loop'));
      assert.deepEqual(await paths('needle'), ['inner/file.txt']);
      assert.deepEqual(await paths('secret link'), []);
      symlinkSync(root, join(base, 'alias'));
      assert.deepEqual(await paths('needle', {}, join(base, 'alias')), ['inner/file.txt']);
    });

    it('refuses a folder that is not there, with the reason', async () => {
      await assert.rejects(
        search('needle', {}, join(root, 'gone')),
        (error) =>
          error instanceof DomainError && error.code === 'not_supported' && error.message.includes('ENOENT'),
      );
    });

    it('ends with what it has when the time is over, and with an error when it is cancelled', async () => {
      write({ 'needle.txt': 'needle' });
      assert.ok((await search('needle', { limits: { ms: 0 } })).results.length <= 1);
      const cancelled = AbortSignal.abort(new Error('no longer wanted'));
      await assert.rejects(searchWorkspace(root, 'needle', { ripgrep }, cancelled), /no longer wanted/);
    });
  });

describe('search: a folder of 50,000 files', () => {
  // In memory where that can be had: what is measured is the search.
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  let root: string;
  before(function () {
    this.timeout(120_000);
    root = realpathSync(mkdtempSync(join(parent, 'search-')));
    for (let folder = 0; folder < 500; folder += 1) {
      mkdirSync(join(root, `d${folder}`));
      for (let file = 0; file < 100; file += 1) writeFileSync(join(root, `d${folder}`, `f${file}.txt`), 'x');
    }
    writeFileSync(join(root, 'heron.txt'), 'a grey bird');
    writeFileSync(join(root, 'd0', 'a.txt'), 'the grey heron');
  });
  after(function () {
    this.timeout(120_000);
    rmSync(root, { recursive: true });
  });

  for (const [title, ripgrep] of ways)
    it(`is searched in bounded time ${title}`, async function () {
      this.timeout(60_000);
      if (ripgrep.length > 0 && !hasRipgrep) this.skip();
      const started = Date.now();
      const { results } = await searchWorkspace(root, 'heron', { ripgrep }, unaborted);
      // The bound on finding is 5 s; ranking comes on top, and the machine may be slow.
      assert.ok(Date.now() - started < 20_000);
      assert.deepEqual(results.map(({ path }) => path).sort(), ['d0/a.txt', 'heron.txt']);
    });
});

describe('search: a place', () => {
  it('reads nothing outside, whatever the path says', async () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'search-')));
    try {
      mkdirSync(join(base, 'in'));
      writeFileSync(join(base, 'out.txt'), 'outside');
      writeFileSync(join(base, 'in', 'a.txt'), 'inside');
      const place = await Place.at(join(base, 'in'));
      assert.equal(await place.read('a.txt'), 'inside');
      assert.equal(await place.read('a.txt', 2), 'in');
      for (const path of ['../out.txt', 'x/../../out.txt', '/etc/passwd', '', '.', 'gone.txt'])
        assert.equal(await place.read(path), undefined, path);
    } finally {
      rmSync(base, { recursive: true });
    }
  });

  it('goes on without a program that does not work', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'search-')));
    try {
      writeFileSync(join(root, 'a.txt'), 'needle');
      const ripgrep = [join(root, 'no-such-program'), process.execPath];
      const { results, failed } = await searchWorkspace(root, 'needle', { ripgrep }, unaborted);
      assert.deepEqual([results.map(({ path }) => path), failed], [['a.txt'], []]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
