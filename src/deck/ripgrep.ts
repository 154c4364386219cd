import * as fs from 'node:fs';
import * as path from 'node:path';

/** Where editors keep the ripgrep that they ship, below their own folder. */
function places(platform: string, arch: string): string[][] {
  const program = platform === 'win32' ? 'rg.exe' : 'rg';
  const packages = [
    ['@vscode', 'ripgrep', 'bin', program],
    ['@vscode', 'ripgrep-universal', 'bin', `${platform}-${arch}`, program],
  ];
  return ['node_modules.asar.unpacked', 'node_modules'].flatMap((modules) =>
    packages.map((parts) => [modules, ...parts]),
  );
}

/** The ripgrep program of the editor that is installed in `appRoot`; undefined when it has none where it is looked for. */
export function findRipgrep(
  appRoot: string,
  platform: string = process.platform,
  arch: string = process.arch,
): string | undefined {
  return places(platform, arch)
    .map((parts) => path.join(appRoot, ...parts))
    .find((file) => fs.existsSync(file));
}
