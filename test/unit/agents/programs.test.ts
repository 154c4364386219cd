import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { commandLine, isInstalled, withStartLine } from '../../../src/service/agents/programs.js';
import { agentPresets, idsOf, presetOf } from '../../../src/service/agents/registry.js';

describe('programs of agents', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'programs-'));
    await mkdir(join(dir, 'folder'));
    for (const [name, mode] of [
      ['agent', 0o755],
      ['notes', 0o644],
      ['tool.CMD', 0o755],
    ] as const) {
      await writeFile(join(dir, name), '');
      await chmod(join(dir, name), mode);
    }
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('are found on the PATH, or where they are named', async function () {
    if (process.platform === 'win32') this.skip();
    const env = { PATH: ['/nowhere', dir].join(delimiter) };
    const found = (name: string) => isInstalled(name, env);
    assert.equal(await found('agent'), true);
    assert.equal(await found(join(dir, 'agent')), true);
    assert.equal(await found('notes'), false, 'not executable');
    assert.equal(await found('folder'), false, 'a folder');
    assert.equal(await found('missing'), false);
    assert.equal(await found(join(dir, 'missing')), false);
    assert.equal(await isInstalled('agent', {}), false);
  });

  it('are found by the endings that Windows knows', async function () {
    if (process.platform === 'win32') this.skip();
    const env = { Path: `C:\\nowhere;${dir}`, PathExt: '.EXE;.CMD' };
    assert.equal(await isInstalled('tool', env, 'win32'), true);
    assert.equal(await isInstalled('tool.CMD', env, 'win32'), true);
    assert.equal(await isInstalled('tool', env, 'linux'), false);
    assert.equal(await isInstalled('missing', env, 'win32'), false);
  });

  it('are started instead of their stand-in where they are there', async function () {
    if (process.platform === 'win32') this.skip();
    const spec = {
      id: 'a',
      title: 'A',
      command: 'npx',
      args: ['-y', 'a'],
      env: { PATH: dir },
      preferred: { command: 'agent', args: ['--acp'] },
    };
    assert.equal(commandLine(await withStartLine(spec)), 'agent --acp');
    assert.equal(commandLine(await withStartLine({ ...spec, env: { PATH: '/nowhere' } })), 'npx -y a');
    assert.equal(commandLine({ command: '/a b', args: ['c "d"'] }), '"/a b" "c \\"d\\""');
  });

  it('are known by one id and its aliases, each of them once', () => {
    const ids = agentPresets.flatMap(idsOf);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(presetOf('claude-acp')?.id, 'claude-code');
    assert.equal(presetOf('codex-acp')?.id, 'codex');
    assert.equal(presetOf('gemini')?.start.command, 'gemini');
    assert.equal(presetOf('constructor'), undefined);
  });
});
