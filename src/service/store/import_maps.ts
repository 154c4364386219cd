/** The file system calls of SQLite that are answered with real files. */
export const callNames = [
  'openat',
  'stat64',
  'lstat64',
  'newfstatat',
  'fstat64',
  'ftruncate64',
  'unlinkat',
  'faccessat',
  'fcntl64',
  'fchmod',
  'fchown32',
  'readlinkat',
  'utimensat',
  'fd_read',
  'fd_write',
  'fd_seek',
  'fd_sync',
  'fd_close',
] as const;
export type CallName = (typeof callNames)[number];

/** Where a build of sql.js has the calls among the imports of its WebAssembly. */
export interface ImportMap {
  /** `[module, name]` of a call. */
  of(call: CallName): readonly [module: string, name: string];
}

/** sql.js 1.17.0, dist/sql-wasm.wasm. The build minifies names, so they hold for these very bytes only. */
const minified: Record<CallName, string> = {
  openat: 'x',
  stat64: 'N',
  lstat64: 'M',
  newfstatat: 'L',
  fstat64: 'g',
  ftruncate64: 'J',
  unlinkat: 'o',
  faccessat: 'D',
  fcntl64: 'b',
  fchmod: 'j',
  fchown32: 'h',
  readlinkat: 's',
  utimensat: 'n',
  fd_read: 't',
  fd_write: 'q',
  fd_seek: 'E',
  fd_sync: 'K',
  fd_close: 'e',
};

/** sha256 of the wasm that the names belong to. */
export const PINNED_WASM_SHA256 = '6918fd54c1192011b85af0365a819411285bb5579b9ae6a7308778a1750a2765';

const pinned: ImportMap = { of: (call) => ['a', minified[call]] };

/** Builds with real names, such as sql.js's debug build. */
const named: ImportMap = {
  of: (call) => (call.startsWith('fd_') ? ['wasi_snapshot_preview1', call] : ['env', `__syscall_${call}`]),
};

/** The map for a wasm; undefined when its names cannot be told. */
export function importMapOf(
  sha256: string,
  imports: readonly WebAssembly.ModuleImportDescriptor[],
): ImportMap | undefined {
  if (sha256 === PINNED_WASM_SHA256) return pinned;
  const has = ([module, name]: readonly [string, string]) =>
    imports.some((item) => item.module === module && item.name === name);
  return callNames.every((call) => has(named.of(call))) ? named : undefined;
}
