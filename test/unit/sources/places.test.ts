/* eslint-disable @typescript-eslint/no-unnecessary-condition -- an assertion on a body narrows it for those after it */
import assert from 'node:assert/strict';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createSources } from '../../../src/service/sources/index.js';
import type { FoundFile, Source, UnreadableFile } from '../../../src/service/sources/source.js';
import { CLAUDE_FILE, inFolder, never, sourceOf, text } from './tools.js';

const SID = path.basename(CLAUDE_FILE, '.jsonl');

async function discover(source: Source): Promise<{ found: FoundFile[]; unreadable: UnreadableFile[] }> {
  const all: { found: FoundFile[]; unreadable: UnreadableFile[] } = { found: [], unreadable: [] };
  for await (const batch of source.discover(never)) {
    all.found.push(...batch.found);
    all.unreadable.push(...batch.unreadable);
  }
  return all;
}

async function put(dir: string, name: string, lines: readonly (object | string)[] = []): Promise<string> {
  const file = path.join(dir, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text(lines));
  return file;
}

describe('Where sessions are looked for', () => {
  it('follows HOME and the variable of each tool', () => {
    const roots = (env: Record<string, string>) => createSources(env).map((source) => source.roots()[0]);
    assert.deepEqual(roots({ HOME: '/home/u' }), ['/home/u/.claude/projects', '/home/u/.codex/sessions']);
    assert.deepEqual(roots({ HOME: '/home/u', CLAUDE_CONFIG_DIR: '/c', CODEX_HOME: '/x' }), [
      '/c/projects',
      '/x/sessions',
    ]);
  });

  it('is no problem when nothing is there', () =>
    inFolder(async (dir) => {
      for (const source of createSources({ HOME: dir })) {
        assert.deepEqual(await discover(source), { found: [], unreadable: [] });
      }
    }));

  it('finds sessions and sub-agents of Claude Code, old and new, and what belongs to them', () =>
    inFolder(async (dir) => {
      const projects = path.join(dir, '.claude/projects');
      const main = await put(projects, `-work-app/${CLAUDE_FILE}`);
      await put(projects, `-work-app/${SID}/subagents/agent-a1.jsonl`);
      await put(projects, `-work-app/${SID}/subagents/deep/agent-a2.jsonl`);
      await put(projects, `-work-app/${SID}/tool-results/x.txt`);
      const old = await put(projects, '-work-app/agent-old.jsonl', [
        {
          type: 'user',
          sessionId: SID,
          isSidechain: true,
          uuid: 's1',
          parentUuid: null,
          message: { content: 'look' },
        },
      ]);
      await put(projects, '-work-app/notes.txt');
      const source = sourceOf('claude-code', dir);
      const { found, unreadable } = await discover(source);
      assert.deepEqual(unreadable, []);
      assert.deepEqual(
        found.map((file) => [file.sessionId, file.role, file.parentSessionId]).sort(),
        [
          [SID, 'session', undefined],
          ['agent-a1', 'subagent', SID],
          ['agent-a2', 'subagent', SID],
          ['agent-old', 'subagent', undefined],
        ].sort(),
      );
      assert.deepEqual(await source.belongings(main), [main, main.replace(/\.jsonl$/, '')]);
      assert.deepEqual(await source.belongings(old), [old]);
      const head = await source.head(found.find((file) => file.path === old)!);
      assert.deepEqual(head.parent, { sessionId: SID, relation: 'subagent' });
    }));

  it('follows links once and reports those that lead nowhere', () =>
    inFolder(async (dir) => {
      const projects = path.join(dir, '.claude/projects');
      await put(projects, `real/${CLAUDE_FILE}`);
      await symlink(path.join(projects, 'real'), path.join(projects, 'linked'));
      await symlink(path.join(projects, 'gone'), path.join(projects, 'dangling'));
      await symlink(path.join(dir, 'gone.jsonl'), path.join(projects, 'real/lost.jsonl'));
      const { found, unreadable } = await discover(sourceOf('claude-code', dir));
      assert.equal(found.length, 1);
      assert.deepEqual(unreadable, [
        { path: path.join(projects, 'real/lost.jsonl'), problem: 'The link leads nowhere' },
      ]);
    }));

  it('reports a folder that cannot be read', function () {
    // The right to read is not checked for root.
    if (process.getuid?.() === 0) this.skip();
    return inFolder(async (dir) => {
      const projects = path.join(dir, '.claude/projects');
      await put(projects, `closed/${CLAUDE_FILE}`);
      await chmod(path.join(projects, 'closed'), 0);
      const { found, unreadable } = await discover(sourceOf('claude-code', dir));
      await chmod(path.join(projects, 'closed'), 0o700);
      assert.deepEqual(
        [found, unreadable],
        [[], [{ path: path.join(projects, 'closed'), problem: 'No permission to read it' }]],
      );
    });
  });

  it('lists a session that Codex compressed, with the reason why it cannot be read', () =>
    inFolder(async (dir) => {
      const id = '0199a213-81c0-7800-8aa1-bbab2a035a01';
      const name = `rollout-2026-01-01T00-00-00-${id}.jsonl.zst`;
      const file = await put(dir, `.codex/sessions/2026/01/01/${name}`);
      const source = sourceOf('codex', dir);
      const { found } = await discover(source);
      assert.deepEqual([found.length, found[0]?.sessionId], [1, id]);
      assert.match((await source.head(found[0]!)).unreadable ?? '', /compressed/);
      await assert.rejects(source.scan(file, 0, undefined, never), /compressed/);
    }));
});

describe('Heads of Claude Code transcripts', () => {
  const headOf = (lines: readonly (object | string)[], name = CLAUDE_FILE) =>
    inFolder(async (dir) => {
      const file = await put(dir, `.claude/projects/-work-app/${name}`, lines);
      const source = sourceOf('claude-code', dir);
      const { found } = await discover(source);
      return source.head(found.find((one) => one.path === file)!);
    });
  const at = (second: number) => new Date(1_790_000_000_000 + second * 1000).toISOString();
  const user = (content: unknown, more: object = {}) => ({
    type: 'user',
    uuid: 'u1',
    parentUuid: null,
    timestamp: at(1),
    cwd: '/work/app',
    sessionId: SID,
    message: { content },
    ...more,
  });
  const answer = {
    type: 'assistant',
    uuid: 'a1',
    parentUuid: 'u1',
    timestamp: at(9),
    message: { id: 'm', model: 'claude-x', content: [{ type: 'text', text: 'ok' }] },
  };

  it('tell the first real prompt, folder, times and model', async () => {
    const head = await headOf([
      { type: 'file-history-snapshot', messageId: 'x' },
      user('Caveat: The messages below were generated by the user while running local commands', {
        isMeta: true,
      }),
      user('<command-name>/model</command-name>'),
      user('<local-command-stdout>Set model</local-command-stdout>'),
      user('Summary of before', { isCompactSummary: true }),
      user('[Request interrupted by user]'),
      user(`Fix\n  the ${'long '.repeat(60)}bug`),
      user('second'),
      answer,
    ]);
    assert.equal(head.cwd, '/work/app');
    assert.equal(head.preview?.length, 200);
    assert.match(head.preview ?? '', /^Fix the long long .*…$/);
    assert.equal(head.title?.text.length, 80);
    assert.equal(head.title?.by, 'prompt');
    assert.deepEqual([head.createdAt, head.updatedAt], [Date.parse(at(1)), Date.parse(at(9))]);
    assert.equal(head.model, 'claude-x');
    assert.deepEqual([head.empty, head.headless, head.archived, head.kind], [false, false, false, 'build']);
  });

  it('tell titles of the person and of the agent, from the end of a long file too', async () => {
    const filler = Array.from({ length: 400 }, (_, i) => user('x'.repeat(500), { uuid: `f${i}` }));
    const own = { type: 'summary', summary: 'Its title', leafUuid: 'a1' };
    assert.deepEqual((await headOf([user('go'), ...filler, answer, own])).title, {
      text: 'Its title',
      by: 'agent',
    });
    const foreign = { type: 'summary', summary: 'Another', leafUuid: 'zz' };
    assert.deepEqual((await headOf([foreign, user('go'), answer])).title, { text: 'go', by: 'prompt' });
    const mine = { type: 'custom-title', customTitle: 'My title', sessionId: SID };
    const ai = { type: 'ai-title', aiTitle: 'AI title', sessionId: SID };
    assert.deepEqual((await headOf([user('go'), ...filler, mine, ai, answer])).title, {
      text: 'My title',
      by: 'user',
    });
  });

  it('find a prompt behind much that is none, and a folder in a first record that is too long', async () => {
    const meta = Array.from({ length: 60 }, () => user('y'.repeat(1000), { isMeta: true }));
    assert.equal((await headOf([...meta, user('here it is')])).preview, 'here it is');
    const long = { cwd: '/work/long', type: 'user', message: { content: 'z'.repeat(500_000) } };
    assert.equal((await headOf([long, answer])).cwd, '/work/long');
  });

  it('tell programs, forks, sessions without content, and files that cannot be read', async () => {
    assert.equal((await headOf([user('go', { entrypoint: 'sdk-cli' })])).headless, true);
    const fork = await headOf([user('go', { forkedFrom: { sessionId: 'source', messageUuid: 'u1' } })]);
    assert.deepEqual(fork.parent, { sessionId: 'source', relation: 'fork' });
    const empty = await headOf([
      user('<command-name>/clear</command-name>'),
      { type: 'summary', summary: 's', leafUuid: 'q' },
    ]);
    assert.equal(empty.empty, true);
    const file: FoundFile = { path: '/', size: 1, mtimeMs: 5, ino: '', role: 'session', sessionId: 'x' };
    const head = await sourceOf('claude-code').head(file);
    assert.ok(head.unreadable);
    assert.equal(head.updatedAt, 5);
  });
});
