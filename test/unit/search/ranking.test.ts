import assert from 'node:assert/strict';
import fc from 'fast-check';
import { bm25, countTerms, weightsOf } from '../../../src/service/search/bm25.js';
import { chunksOf, excerptOf, MAX_SNIPPET, snippetOf } from '../../../src/service/search/chunks.js';
import { fuse } from '../../../src/service/search/fusion.js';
import { byNames } from '../../../src/service/search/names.js';
import { isSecret } from '../../../src/service/search/secrets.js';
import { needles, queryTerms, termsOf } from '../../../src/service/search/terms.js';

describe('search: terms', () => {
  it('reads identifiers as a whole and by their parts, whichever way they are written', () => {
    assert.deepEqual(queryTerms('fooBar'), ['foobar', 'foo', 'bar']);
    assert.deepEqual(queryTerms('foo_bar'), ['foobar', 'foo', 'bar']);
    assert.deepEqual(termsOf('HTTPServer2'), ['httpserver2', 'http', 'server', '2']);
    assert.ok(needles('foo_bar').includes('foo_bar'));
  });

  it('leaves fillers out, unless there is nothing else', () => {
    assert.deepEqual(queryTerms('How does the cursor work?'), ['cursor', 'work']);
    assert.deepEqual(queryTerms('what is this'), ['what', 'is', 'this']);
    assert.deepEqual(queryTerms('???'), []);
  });

  it('reads scripts without spaces by pairs of characters', () => {
    assert.deepEqual(queryTerms('会话列表 page'), ['会话', '话列', '列表', 'page']);
  });

  it('bounds the terms of the longest query', () => {
    const query = Array.from({ length: 250 }, (_, n) => `w_${n}`).join(' ');
    assert.equal(queryTerms(query).length, 32);
    assert.ok(needles(query).length <= 64);
  });
});

describe('search: BM25', () => {
  const rank = (texts: readonly string[], query: string) => {
    const documents = texts.map((text) => countTerms(termsOf(text)));
    const scores = bm25(documents, weightsOf(documents, queryTerms(query)));
    return scores.map((score, index) => ({ score, index })).sort((a, b) => b.score - a.score);
  };

  it('puts a rare word before a common one, and a short document before a long one', () => {
    const common = Array.from({ length: 5 }, () => 'list item');
    const texts = ['list padding', 'cursor padding', `cursor ${'padding '.repeat(100)}`, ...common];
    const ranks = rank(texts, 'list cursor');
    assert.equal(ranks[0]?.index, 1);
    assert.ok(ranks.findIndex(({ index }) => index === 1) < ranks.findIndex(({ index }) => index === 2));
    assert.equal(rank([...texts, 'nothing'], 'list cursor').at(-1)?.score, 0);
  });

  it('finds a longer word by its beginning, behind the word itself', () => {
    const found = rank(['sessions here', 'session here', 'nothing here'], 'session');
    assert.deepEqual(
      found.map(({ index }) => index),
      [1, 0, 2],
    );
    assert.ok((found[1]?.score ?? 0) > 0);
  });
});

describe('search: fusion', () => {
  it('sums 1 / (60 + rank) and puts what several routes found first', () => {
    const fused = fuse([
      { route: 'words', keys: ['a', 'b'] },
      { route: 'names', keys: ['c', 'b'] },
    ]);
    assert.deepEqual(
      fused.map(({ key }) => key),
      ['b', 'a', 'c'],
    );
    assert.equal(fused[0]?.score, 2 / 62);
    assert.deepEqual(fused[0].routes, ['words', 'names']);
  });

  it('keeps every key once, in falling order, whatever the lists', () => {
    const keys = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'));
    fc.assert(
      fc.property(keys, keys, (one, two) => {
        const fused = fuse([
          { route: 'words', keys: one },
          { route: 'names', keys: two },
        ]);
        assert.deepEqual(new Set(fused.map(({ key }) => key)), new Set([...one, ...two]));
        assert.equal(fused.length, new Set([...one, ...two]).size);
        for (let i = 1; i < fused.length; i += 1) assert.ok(fused[i - 1]!.score >= fused[i]!.score);
      }),
    );
  });
});

describe('search: names', () => {
  const paths = [
    'src/service/sessions/list.ts',
    'src/service/sessions/cursor.ts',
    'src/service/search/workspace_search.ts',
    'src/webview/feed.ts',
    'docs/会话列表.md',
    'README.md',
  ];

  const { signal } = new AbortController();
  const best = async (query: string) => (await byNames(paths, query, signal))[0];

  it('finds by words, by parts, by a path, and across word boundaries', async () => {
    assert.equal(await best('where is the session list'), paths[0]);
    assert.equal(await best('sessions/cursor.ts'), paths[1]);
    assert.equal(await best('workspaceSearch'), paths[2]);
    assert.equal(await best('wsearch'), paths[2]);
    assert.equal(await best('会话列表'), paths[4]);
  });

  it('finds nothing for what no name answers', async () => {
    assert.equal(await best('zzz qqq'), undefined);
    assert.equal(await best('!?'), undefined);
    assert.deepEqual(await byNames([], 'list', signal), []);
  });

  it('finds one of very many', async () => {
    const many = Array.from({ length: 50_000 }, (_, n) => `d${n % 500}/file${n}.txt`);
    assert.equal((await byNames([...many, 'x/heron.txt'], 'heron', signal))[0], 'x/heron.txt');
  });
});

describe('search: secrets', () => {
  it('knows them by their paths, in any case', () => {
    const secret =
      '.env .env.local a/.ENV prod.env a/.ssh/config id_rsa keys/id_ed25519.pub server.pem a/b.KEY store.p12 .npmrc .netrc ' +
      '.aws/credentials credentials.json db-credentials.yml secrets.yaml passwords.txt prod.tfvars terraform.tfstate token';
    for (const path of secret.split(' ')) assert.ok(isSecret(path), path);
    const open =
      'src/secrets.ts src/credentials/index.ts environment.ts docs/token.md design-tokens.json env/config.ts keyboard.ts';
    for (const path of open.split(' ')) assert.ok(!isSecret(path), path);
  });
});

describe('search: snippets', () => {
  it('shows the line that says most, with its number and what follows', () => {
    const [chunk] = chunksOf('a.ts', 'import x\n\n  const cursor = 1;\n  const list = cursor;\n\nrest\n');
    assert.ok(chunk);
    const excerpt = excerptOf(
      chunk,
      new Map([
        ['cursor', 1],
        ['list', 2],
      ]),
    );
    assert.deepEqual(excerpt, { line: 4, snippet: 'const list = cursor;\nrest' });
  });

  it('counts lines across chunks', () => {
    const text = Array.from({ length: 50 }, (_, n) => (n === 44 ? 'needle' : `line ${n}`)).join('\r\n');
    const excerpts = chunksOf('a', text).map((chunk) => excerptOf(chunk, new Map([['needle', 1]])));
    assert.deepEqual(excerpts.find(({ snippet }) => snippet.includes('needle'))?.line, 45);
  });

  it('cuts a long line around the term, never half of a character, without control characters', () => {
    const snippet = snippetOf([`${'😀'.repeat(300)} needle\u202e\u0007 ${'😀'.repeat(300)}`], ['needle']);
    assert.ok(snippet.includes('needle'));
    assert.ok(snippet.length <= MAX_SNIPPET, String(snippet.length));
    assert.doesNotMatch(snippet, /\p{Cs}/u);
    assert.doesNotMatch(snippet, /[\p{Cc}\u202e]/u);
  });

  it('has at most three lines and so many characters', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 400, unit: 'binary' })), (lines) => {
        const snippet = snippetOf(lines);
        assert.ok(snippet.length <= MAX_SNIPPET);
        assert.ok(snippet.split('\n').length <= 3);
      }),
    );
  });
});
