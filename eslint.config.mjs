// The house rules as lint. Arrows point one way: deck -> protocol <- service, webview -> protocol;
// inside the service surfaces -> sessions, runs -> store, agents, sources, search. attach, the way to a service and
// its start, is Node only and used by the deck and by the service's own ACP relay.
import tseslint from 'typescript-eslint';

const room = (name) => ({
  regex: `(^|/)${name}(/|$)`,
  message: `Layer rule: this folder may not import ${name} (docs/architecture.md).`,
});
const vscode = {
  regex: '^vscode$',
  message: 'Layer rule: only src/deck and src/extension.ts import vscode.',
};
const node = { regex: '^node:', message: 'Layer rule: this folder runs without Node.' };
const layer = (files, patterns) => ({ files, rules: { 'no-restricted-imports': ['error', { patterns }] } });

export default tseslint.config(
  { ignores: ['dist/**', '.cache/**', '.vscode-test/**', 'node_modules/**'] },
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-console': 'off',
    },
  },
  layer(['src/protocol/**'], [vscode, node, room('service'), room('deck'), room('webview')]),
  layer(['src/webview/**'], [vscode, node, room('service'), room('deck')]),
  layer(['src/deck/**'], [room('service'), room('webview')]),
  layer(['src/attach/**'], [vscode, room('service'), room('deck'), room('webview')]),
  layer(['src/service/*.ts', 'src/service/surfaces/**'], [vscode, room('deck'), room('webview')]),
  layer(
    ['src/service/sessions/**', 'src/service/runs/**', 'src/service/jobs/**'],
    [vscode, room('deck'), room('webview'), room('surfaces')],
  ),
  layer(
    ['src/service/store/**', 'src/service/agents/**', 'src/service/sources/**', 'src/service/search/**'],
    [vscode, room('deck'), room('webview'), room('surfaces'), room('sessions'), room('runs')],
  ),
  layer(
    ['src/service/store/**'],
    [
      vscode,
      room('deck'),
      room('webview'),
      room('surfaces'),
      room('sessions'),
      room('runs'),
      room('agents'),
      room('sources'),
      room('search'),
    ],
  ),
  layer(
    ['src/service/agents/**'],
    [
      vscode,
      room('deck'),
      room('webview'),
      room('surfaces'),
      room('sessions'),
      room('runs'),
      room('store'),
      room('sources'),
      room('search'),
    ],
  ),
  layer(
    ['src/service/sources/**'],
    [
      vscode,
      room('deck'),
      room('webview'),
      room('surfaces'),
      room('sessions'),
      room('runs'),
      room('store'),
      room('agents'),
      room('search'),
    ],
  ),
);
