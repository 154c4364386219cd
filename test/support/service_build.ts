import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';

const root = path.resolve(import.meta.dirname, '../..');
const built = new Map<string, Promise<string>>();
const folders: string[] = [];

process.once('exit', () => {
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

/**
 * Bundles the service into a temporary folder, as the package does, and gives the path of the script. `version` makes
 * one that takes itself for another version.
 */
export function buildService(version?: string): Promise<string> {
  const key = version ?? '';
  const known = built.get(key) ?? bundle(version);
  built.set(key, known);
  return known;
}

async function bundle(version: string | undefined): Promise<string> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'deck-service-'));
  folders.push(folder);
  await build({
    absWorkingDir: root,
    entryPoints: ['src/service/main.ts'],
    outfile: path.join(folder, 'service.js'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    mainFields: ['module', 'main'],
    define: { 'import.meta.url': '__importMetaUrl' },
    banner: { js: "const __importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'error',
    plugins:
      version === undefined
        ? []
        : [
            {
              name: 'version',
              setup: (b) =>
                b.onLoad({ filter: /[\\/]package\.json$/ }, ({ path: file }) =>
                  path.dirname(file) === root
                    ? { contents: JSON.stringify({ version }), loader: 'json' }
                    : undefined,
                ),
            },
          ],
  });
  const wasm = 'sql-wasm.wasm';
  fs.copyFileSync(path.join(root, 'node_modules/sql.js/dist', wasm), path.join(folder, wasm));
  return path.join(folder, 'service.js');
}
