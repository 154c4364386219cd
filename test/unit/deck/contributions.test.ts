import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import {
  commandIds,
  contextKeys,
  PANEL_TYPE,
  settingIds,
  SETTINGS_SECTION,
  viewIds,
} from '../../../src/deck/ids.js';
import { deckStrings } from '../../support/deck_strings.js';

const root = path.join(import.meta.dirname, '..', '..', '..');
const read = (name: string): unknown => JSON.parse(fs.readFileSync(path.join(root, name), 'utf8'));
const texts = (name: string) => z.record(z.string(), z.string()).parse(read(name));

const MenuItem = z.looseObject({ command: z.string(), when: z.string().optional() });
const Manifest = z.looseObject({
  activationEvents: z.array(z.string()),
  capabilities: z.looseObject({
    untrustedWorkspaces: z.looseObject({ restrictedConfigurations: z.array(z.string()) }),
  }),
  contributes: z.looseObject({
    views: z.record(z.string(), z.array(z.looseObject({ id: z.string(), icon: z.string() }))),
    viewsWelcome: z.array(z.looseObject({ view: z.string(), when: z.string(), contents: z.string() })),
    commands: z.array(z.looseObject({ command: z.string(), title: z.string() })),
    menus: z.record(z.string(), z.array(MenuItem)),
    keybindings: z.array(MenuItem.extend({ when: z.string() })),
    configuration: z.looseObject({ properties: z.record(z.string(), z.unknown()) }),
  }),
});
const manifest = Manifest.parse(read('package.json'));
const { contributes } = manifest;
const sorted = (values: Iterable<string>) => [...values].sort();
const languages = ['zh-cn', 'zh-tw'];

describe('what package.json contributes', () => {
  const known = new Set<string>(Object.values(commandIds));

  it('is every command of the table, and no other', () => {
    assert.deepEqual(sorted(contributes.commands.map(({ command }) => command)), sorted(known));
  });

  it('has only known commands in menus and keybindings', () => {
    const used = [...Object.values(contributes.menus).flat(), ...contributes.keybindings];
    assert.deepEqual(
      used.map(({ command }) => command).filter((command) => !known.has(command)),
      [],
    );
  });

  it('is every view and setting of the table, and no other', () => {
    const views = Object.values(contributes.views).flat();
    assert.deepEqual(sorted(views.map(({ id }) => id)), sorted(Object.values(viewIds)));
    assert.deepEqual(
      sorted(Object.keys(contributes.configuration.properties)),
      sorted(Object.values(settingIds).map((id) => `${SETTINGS_SECTION}.${id}`)),
    );
    for (const { icon } of views) assert.ok(fs.existsSync(path.join(root, icon)), icon);
  });

  it('asks for no context key that nobody sets', () => {
    const names = new Set<string>([
      ...Object.values(contextKeys),
      ...Object.values(viewIds),
      ...Object.keys(contributes.configuration.properties).map((id) => `config.${id}`),
      PANEL_TYPE,
    ]);
    const clauses = [
      ...Object.values(contributes.menus).flat(),
      ...contributes.keybindings,
      ...contributes.viewsWelcome,
    ].map(({ when }) => when ?? '');
    const asked = clauses.flatMap((when) => when.match(/(config\.)?sessionDeck\.\w+/g) ?? []);
    assert.ok(asked.length > 0);
    assert.deepEqual(
      asked.filter((name) => !names.has(name)),
      [],
    );
  });

  it('restores panels, and keeps programs out of untrusted folders', () => {
    assert.deepEqual(manifest.activationEvents, [`onWebviewPanel:${PANEL_TYPE}`]);
    assert.ok(
      manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.includes(
        `${SETTINGS_SECTION}.${settingIds.agents}`,
      ),
    );
  });

  it('names every text in every language', () => {
    const used = new Set([...JSON.stringify(manifest).matchAll(/"%([\w.]+)%"/g)].map((match) => match[1]!));
    for (const file of ['package.nls.json', ...languages.map((language) => `package.nls.${language}.json`)]) {
      assert.deepEqual(sorted(Object.keys(texts(file))), sorted(used), file);
    }
  });

  it('links only to commands that exist', () => {
    const builtIn = /^(workbench|vscode)\./;
    for (const file of ['package.nls.json', ...languages.map((language) => `package.nls.${language}.json`)]) {
      const links = Object.values(texts(file)).flatMap((text) => [...text.matchAll(/\(command:([^)]+)\)/g)]);
      assert.ok(links.length > 0, file);
      for (const [, command] of links)
        assert.ok(known.has(command!) || builtIn.test(command!), `${file}: ${command!}`);
    }
  });
});

describe('the texts of the editor side', () => {
  const holes = (text: string) => sorted(text.match(/\{\d+\}/g) ?? []);

  for (const language of languages) {
    it(`are all translated to ${language}, with their placeholders`, () => {
      const translated = texts(`l10n/bundle.l10n.${language}.json`);
      assert.deepEqual(sorted(Object.keys(translated)), deckStrings());
      for (const [english, text] of Object.entries(translated)) {
        assert.notEqual(text.trim(), '', english);
        assert.deepEqual(holes(text), holes(english), english);
      }
    });
  }
});
