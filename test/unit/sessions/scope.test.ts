import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { folderKey, requireFolder, scopeOf } from '../../../src/service/sessions/scope.js';
import { removeFolders, temporaryFolder, TestClient, withCode } from './support.js';

const of = (cwd: string) => ({ cwd, source: 'codex' as const });

describe('scope', () => {
  after(removeFolders);

  it('refuses a relative folder and names the field', () => {
    for (const path of ['', 'a/b', './a', '../x', '~/a', '/a\0b'])
      assert.throws(() => requireFolder(path), withCode('invalid_params'));
    assert.throws(
      () => requireFolder('a'),
      (error: { details?: { field?: string } }) => error.details?.field === 'cwd',
    );
  });

  it('sees one folder behind slashes, dots and symlinks, also when the last part is gone', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'real/inner'), { recursive: true });
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    const key = folderKey(join(folder, 'real/inner'));
    assert.equal(folderKey(`${folder}/real/inner/`), key);
    assert.equal(folderKey(`${folder}/real/../real/./inner`), key);
    assert.equal(folderKey(`${folder}/link/inner`), key);
    rmSync(join(folder, 'real/inner'), { recursive: true });
    assert.equal(folderKey(`${folder}/link/inner/`), key);
    assert.equal(folderKey(`${folder}/link/never/was`), folderKey(`${folder}/real/never/was`));
  });

  it('has the folders and everything below, not what only begins alike', () => {
    const scope = scopeOf(new TestClient('1').only('/deck-x/app', '/deck-x/lib/'));
    for (const path of ['/deck-x/app', '/deck-x/app/', '/deck-x/app/a/b', '/deck-x/lib'])
      assert.equal(scope.has(of(path)), true, path);
    for (const path of ['/deck-x/application', '/deck-x', '/', '', 'app', '/deck-x/app/../other'])
      assert.equal(scope.has(of(path)), false, path);
  });

  it('is empty without folders and all with allFolders', () => {
    assert.equal(scopeOf(new TestClient('1').only()).has(of('/deck-x')), false);
    assert.equal(scopeOf(new TestClient('1').only('/')).has(of('/deck-x')), true);
    assert.equal(scopeOf(new TestClient('1')).has(of('')), true);
  });

  it('leaves out the sources that the client does not want', () => {
    const client = new TestClient('1');
    const options = {
      ...client.options,
      allFolders: true,
      config: { sources: { codex: false, deck: true } },
    };
    const scope = scopeOf(Object.assign(client, { options }));
    assert.equal(scope.has(of('/deck-x')), false);
    assert.equal(scope.has({ cwd: '/deck-x', source: 'claude-code' }), true);
    assert.notEqual(scope.signature, scopeOf(new TestClient('2')).signature);
  });
});
