// Builds what ships: dist/extension.js, dist/service.js, dist/webview.js and the files that lie beside them.
// usage: node esbuild.mjs [--production | --watch]
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, context } from 'esbuild';

const root = path.dirname(fileURLToPath(import.meta.url));
const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: production,
  sourcemap: production ? false : 'linked',
  logLevel: 'warning',
  metafile: true,
};

// ES modules become CommonJS here, where import.meta does not exist.
const nodeBundle = {
  ...common,
  platform: 'node',
  format: 'cjs',
  mainFields: ['module', 'main'],
  define: { 'import.meta.url': '__importMetaUrl' },
  banner: { js: "const __importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
};

const bundles = [
  {
    ...nodeBundle,
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.js',
    target: 'node22',
    external: ['vscode'],
  },
  { ...nodeBundle, entryPoints: ['src/service/main.ts'], outfile: 'dist/service.js', target: 'node20' },
  {
    ...common,
    entryPoints: ['src/webview/main.ts'],
    outfile: 'dist/webview.js',
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
  },
  {
    ...common,
    entryPoints: ['src/webview/main.css'],
    outfile: 'dist/webview.css',
    target: 'es2022',
    loader: { '.ttf': 'dataurl', '.svg': 'dataurl' },
  },
];

const copies = [
  ['node_modules/sql.js/dist/sql-wasm.wasm', 'dist/sql-wasm.wasm'],
  ['node_modules/@vscode/codicons/dist/codicon.css', 'dist/codicon.css'],
  ['node_modules/@vscode/codicons/dist/codicon.ttf', 'dist/codicon.ttf'],
];

/** Packages whose code or files are in dist, as paths below node_modules. */
function packagesIn(metafiles) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
  const names = [...inputs, ...copies.map(([from]) => from)].flatMap((file) => {
    const match = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file);
    return match ? [match[0]] : [];
  });
  return [...new Set(names)].sort();
}

/** The licences of everything bundled ask that their text travels with the copy. */
function notices(metafiles) {
  const texts = packagesIn(metafiles).map((folder) => {
    const about = JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
    const file = fs.readdirSync(path.join(root, folder)).find((name) => /^licen[cs]e/i.test(name));
    const text = file ? fs.readFileSync(path.join(root, folder, file), 'utf8').trim() : '';
    return `${about.name} ${about.version} (${about.license ?? 'see text'})\n\n${text}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

const present = bundles.filter(({ entryPoints: [entry] }) => {
  const exists = fs.existsSync(path.join(root, entry));
  if (!exists) console.log(`build: ${entry} does not exist, skipped`);
  return exists;
});

const dist = path.join(root, 'dist');
fs.mkdirSync(dist, { recursive: true });
for (const [from, to] of copies) fs.copyFileSync(path.join(root, from), path.join(root, to));

if (watch) {
  const report = {
    name: 'report',
    setup(b) {
      b.onStart(() => console.log('build started'));
      b.onEnd(({ errors }) => console.log(`build finished, ${errors.length} errors`));
    },
  };
  for (const bundle of present) await (await context({ ...bundle, plugins: [report] })).watch();
} else {
  try {
    const results = await Promise.all(present.map((bundle) => build(bundle)));
    if (production) {
      const text = notices(results.map((result) => result.metafile));
      fs.writeFileSync(path.join(dist, 'THIRD_PARTY_NOTICES.txt'), text);
    }
  } catch (error) {
    // esbuild has printed its own messages, with file and line.
    if (!error.errors) throw error;
    process.exitCode = 1;
  }
}
