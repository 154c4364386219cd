import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

/** Bytes of what ships; undefined when it was not built. */
export interface SizeFigures {
  readonly vsix?: number;
  readonly webview?: { readonly bytes: number; readonly gzip: number };
}

/** Looks at the newest package and the webview's bundle of the last production build. */
export function packageFigures(root: string): SizeFigures {
  const vsix = fs
    .readdirSync(root)
    .filter((name) => name.endsWith('.vsix'))
    .map((name) => fs.statSync(path.join(root, name)))
    .sort((a, b) => b.mtimeMs - a.mtimeMs)[0];
  const bundle = path.join(root, 'dist/webview.js');
  const code = fs.existsSync(bundle) ? fs.readFileSync(bundle) : undefined;
  return {
    ...(vsix ? { vsix: vsix.size } : {}),
    ...(code ? { webview: { bytes: code.length, gzip: zlib.gzipSync(code).length } } : {}),
  };
}
