import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import initSqlJs, { type SqlJsStatic } from 'sql.js';
import { HostFiles } from './host_files.js';
import { importMapOf } from './import_maps.js';

const WASM = 'sql-wasm.wasm';

/** SQLite with its files on the real disk. */
export interface Sqlite {
  readonly api: SqlJsStatic;
  readonly files: HostFiles;
}

let loading: Promise<Sqlite> | undefined;

/** Beside the bundle, else in the package. */
function wasmPath(): string {
  const beside = path.join(__dirname, WASM);
  return fs.existsSync(beside) ? beside : createRequire(__filename).resolve(`sql.js/dist/${WASM}`);
}

/** Loads sql.js, once in a process: it remembers its first initialisation. */
export function loadSqlite(): Promise<Sqlite> {
  loading ??= initialise(initSqlJs, fs.readFileSync(wasmPath()));
  return loading;
}

/**
 * Starts a build of sql.js: its script's function and its WebAssembly. Throws when the build's imports are not the ones
 * we know, since then nothing would reach the disk.
 */
export async function initialise(init: typeof initSqlJs, bytes: Uint8Array<ArrayBuffer>): Promise<Sqlite> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const module = await WebAssembly.compile(bytes);
  const map = importMapOf(sha256, WebAssembly.Module.imports(module));
  if (!map)
    throw new Error(`This build of sql.js is not known (sha256 ${sha256}); the store cannot be opened.`);
  const files = new HostFiles();
  const api = await new Promise<SqlJsStatic>((resolve, reject) => {
    const options = {
      // Old extension functions would replace SQLite's own of the same names.
      useOldExtensionFunctions: false,
      instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) {
        const provide = files.install(imports, map);
        WebAssembly.instantiate(module, imports)
          .then((instance) => {
            const memory = Object.values(instance.exports).find(
              (value) => value instanceof WebAssembly.Memory,
            );
            if (!memory) throw new Error('sql.js exports no memory');
            provide(memory);
            done(instance);
          }, reject)
          .catch(reject);
        return {};
      },
    };
    init(options).then(resolve, reject);
  });
  return { api, files };
}
