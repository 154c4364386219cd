import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { syncFolder } from './blobs.js';
import { type CallName, callNames, type ImportMap } from './import_maps.js';
import { WasmMemory } from './wasm_memory.js';

type Arg = number | bigint;
type Call = (...args: Arg[]) => number;

interface OpenFile {
  readonly fd: number;
  readonly path: string;
  position: number;
}

/** Error numbers of WASI, which Emscripten's calls answer with. */
const errnos = new Map([
  ['EACCES', 2],
  ['EBADF', 8],
  ['EBUSY', 10],
  ['EDQUOT', 19],
  ['EEXIST', 20],
  ['EFBIG', 22],
  ['EINVAL', 28],
  ['EIO', 29],
  ['EISDIR', 31],
  ['EMFILE', 33],
  ['ENOENT', 44],
  ['ENOSPC', 51],
  ['ENOTDIR', 54],
  ['EPERM', 63],
  ['EROFS', 69],
]);
const EIO = 29;
const ErrorWithCode = z.looseObject({ code: z.string() });

/** Flags of `open` in musl for wasm. */
const O_ACCMODE = 3;
const O_CREAT = 0o100;
const O_EXCL = 0o200;
const O_TRUNC = 0o1000;
const F_GETLK = 12;
const F_UNLCK = 2;
const FIRST_FD = 1 << 20;
const databaseName = /^\/?(dbfile_\d+)(-journal|-wal|-shm)?$/;

/** What SQLite did to the disk, for measuring. */
export interface HostStats {
  reads: number;
  readBytes: number;
  writes: number;
  writeBytes: number;
  syncs: number;
}

/**
 * Answers SQLite's file system calls for databases of ours with real files. sql.js names each database
 * `dbfile_<random>` in its own in-memory file system; the next one that is opened after `bind` is ours.
 */
export class HostFiles {
  readonly stats: HostStats = { reads: 0, readBytes: 0, writes: 0, writeBytes: 0, syncs: 0 };
  /** Called before each write, with its length; what it throws is the disk's answer. For tests of a failing disk. */
  beforeWrite: ((file: string, bytes: number) => void) | undefined;
  private memory: WasmMemory | undefined;
  private pending: { path: string; readOnly: boolean } | undefined;
  private readonly bound = new Map<string, { path: string; readOnly: boolean }>();
  private readonly open = new Map<number, OpenFile>();
  private nextFd = FIRST_FD;

  /** The next database that sql.js opens lives in this file. */
  bind(file: string, readOnly: boolean): void {
    this.pending = { path: path.resolve(file), readOnly };
  }

  /** False when the database that was opened after `bind` is not ours: the hook has no effect in this build. */
  get tookEffect(): boolean {
    return this.pending === undefined;
  }

  /** Puts our calls into a module's imports. The memory is known once the module is instantiated. */
  install(imports: WebAssembly.Imports, map: ImportMap): (memory: WebAssembly.Memory) => void {
    for (const call of callNames) {
      const [module, name] = map.of(call);
      const group = imports[module];
      const original = group?.[name];
      if (!group || typeof original !== 'function') throw new Error(`sql.js does not import ${call}`);
      // The imports of a module are functions over numbers; that is what WebAssembly calls them with.
      const pass: Call = (...args) => Number(Reflect.apply(original, undefined, args));
      group[name] = this.answer(call, pass);
    }
    return (memory) => {
      this.memory = new WasmMemory(memory);
    };
  }

  private get wasm(): WasmMemory {
    if (!this.memory) throw new Error('sql.js is not instantiated');
    return this.memory;
  }

  private host(name: string): { path: string; readOnly: boolean } | undefined {
    const match = databaseName.exec(name);
    const key = match?.[1];
    if (key === undefined) return undefined;
    const suffix = match?.[2] ?? '';
    if (!this.bound.has(key) && this.pending && suffix === '') {
      this.bound.set(key, this.pending);
      this.pending = undefined;
    }
    const file = this.bound.get(key);
    return file && { path: file.path + suffix, readOnly: file.readOnly };
  }

  private answer(call: CallName, pass: Call): Call {
    const byPath = (
      at: number,
      act: (file: { path: string; readOnly: boolean }, args: Arg[]) => number,
    ): Call => {
      return (...args) => {
        const file = this.host(this.wasm.string(Number(args[at])));
        return file ? -guard(() => -act(file, args)) : pass(...args);
      };
    };
    const byFd = (negative: boolean, act: (file: OpenFile, args: Arg[]) => number): Call => {
      return (...args) => {
        const file = this.open.get(Number(args[0]));
        if (!file) return pass(...args);
        return negative ? -guard(() => -act(file, args)) : guard(() => act(file, args));
      };
    };
    switch (call) {
      case 'openat':
        return byPath(1, (file, args) => this.openFile(file, Number(args[2]), Number(args[3] ?? 0)));
      case 'stat64':
      case 'lstat64':
        return byPath(0, (file, args) => this.writeStat(Number(args[1]), fs.statSync(file.path)));
      case 'newfstatat':
        return byPath(1, (file, args) => this.writeStat(Number(args[2]), fs.statSync(file.path)));
      case 'unlinkat':
        return byPath(1, (file) => {
          fs.unlinkSync(file.path);
          syncFolder(path.dirname(file.path));
          return 0;
        });
      case 'faccessat':
        return byPath(1, (file, args) => {
          // Permission bits are the platform's; whether a write works is told by opening the file.
          fs.accessSync(file.path, Number(args[2]) & (fs.constants.R_OK | fs.constants.W_OK));
          return 0;
        });
      case 'readlinkat':
        return byPath(1, () => -(errnos.get('EINVAL') ?? EIO));
      case 'utimensat':
        return byPath(1, () => 0);
      case 'fstat64':
        return byFd(true, (file, args) => this.writeStat(Number(args[1]), fs.fstatSync(file.fd)));
      case 'ftruncate64':
        return byFd(true, (file, args) => {
          fs.ftruncateSync(file.fd, Number(args[1]));
          return 0;
        });
      case 'fcntl64':
        // Locks between processes are the owner lock's business (lock.ts); inside this process there is one connection.
        return byFd(true, (_file, args) => {
          if (Number(args[1]) === F_GETLK) {
            const { data } = this.wasm;
            data.setInt16(data.getInt32(Number(args[2]), true), F_UNLCK, true);
          }
          return 0;
        });
      case 'fchmod':
      case 'fchown32':
        return byFd(true, () => 0);
      case 'fd_read':
        return byFd(false, (file, args) => this.read(file, args));
      case 'fd_write':
        return byFd(false, (file, args) => this.write(file, args));
      case 'fd_seek':
        return byFd(false, (file, args) => this.seek(file, args));
      case 'fd_sync':
        return byFd(false, (file) => {
          fs.fdatasyncSync(file.fd);
          this.stats.syncs += 1;
          return 0;
        });
      case 'fd_close':
        return byFd(false, (file, args) => {
          this.open.delete(Number(args[0]));
          fs.closeSync(file.fd);
          return 0;
        });
    }
  }

  private openFile(file: { path: string; readOnly: boolean }, flags: number, modePointer: number): number {
    const c = fs.constants;
    const access = file.readOnly ? 0 : flags & O_ACCMODE;
    let mode = [c.O_RDONLY, c.O_WRONLY, c.O_RDWR][access] ?? c.O_RDONLY;
    if (!file.readOnly) {
      if (flags & O_CREAT) mode |= c.O_CREAT;
      if (flags & O_EXCL) mode |= c.O_EXCL;
      if (flags & O_TRUNC) mode |= c.O_TRUNC;
    }
    const permissions = modePointer === 0 ? 0o600 : this.wasm.data.getInt32(modePointer, true) & 0o600;
    const isNew = (mode & c.O_CREAT) !== 0 && !fs.existsSync(file.path);
    const fd = fs.openSync(file.path, mode, permissions === 0 ? 0o600 : permissions);
    if (isNew) syncFolder(path.dirname(file.path));
    this.nextFd += 1;
    this.open.set(this.nextFd, { fd, path: file.path, position: 0 });
    return this.nextFd;
  }

  /** `struct stat` of musl on wasm32. */
  private writeStat(pointer: number, stat: fs.Stats): number {
    const { data } = this.wasm;
    data.setUint32(pointer, stat.dev & 0x7fffffff, true);
    data.setUint32(pointer + 4, stat.mode, true);
    data.setUint32(pointer + 8, stat.nlink, true);
    data.setUint32(pointer + 12, 0, true);
    data.setUint32(pointer + 16, 0, true);
    data.setUint32(pointer + 20, 0, true);
    data.setBigInt64(pointer + 24, BigInt(stat.size), true);
    data.setInt32(pointer + 32, 4096, true);
    data.setInt32(pointer + 36, stat.blocks, true);
    const time = (offset: number, ms: number) => {
      data.setBigInt64(pointer + offset, BigInt(Math.floor(ms / 1000)), true);
      data.setUint32(pointer + offset + 8, Math.floor((ms % 1000) * 1e6), true);
    };
    time(40, stat.atimeMs);
    time(56, stat.mtimeMs);
    time(72, stat.ctimeMs);
    data.setBigInt64(pointer + 88, BigInt(Math.trunc(stat.ino)), true);
    return 0;
  }

  /** Goes through the pieces of an `iovec` until one is not filled or written whole. */
  private pieces(args: Arg[], move: (pointer: number, length: number) => number): number {
    const vector = Number(args[1]);
    let total = 0;
    for (let i = 0; i < Number(args[2]); i += 1) {
      const { data } = this.wasm;
      const length = data.getUint32(vector + 8 * i + 4, true);
      const moved = move(data.getUint32(vector + 8 * i, true), length);
      total += moved;
      if (moved < length) break;
    }
    this.wasm.data.setUint32(Number(args[3]), total, true);
    return total;
  }

  private read(file: OpenFile, args: Arg[]): number {
    const total = this.pieces(args, (pointer, length) => {
      let done = 0;
      while (done < length) {
        const got = fs.readSync(file.fd, this.wasm.bytes, pointer + done, length - done, file.position);
        if (got === 0) break;
        done += got;
        file.position += got;
      }
      return done;
    });
    this.stats.reads += 1;
    this.stats.readBytes += total;
    return 0;
  }

  private write(file: OpenFile, args: Arg[]): number {
    const total = this.pieces(args, (pointer, length) => {
      this.beforeWrite?.(file.path, length);
      let done = 0;
      while (done < length) {
        const put = fs.writeSync(file.fd, this.wasm.bytes, pointer + done, length - done, file.position);
        done += put;
        file.position += put;
      }
      return done;
    });
    this.stats.writes += 1;
    this.stats.writeBytes += total;
    return 0;
  }

  private seek(file: OpenFile, args: Arg[]): number {
    const from = Number(args[2]);
    const base = from === 1 ? file.position : from === 2 ? fs.fstatSync(file.fd).size : 0;
    file.position = base + Number(args[1]);
    this.wasm.data.setBigInt64(Number(args[3]), BigInt(file.position), true);
    return 0;
  }
}

/** Runs a call; an error of the disk becomes its number, as SQLite expects, and SQLite reports it. */
function guard(act: () => number): number {
  for (;;) {
    try {
      return act();
    } catch (error) {
      const { data } = ErrorWithCode.safeParse(error);
      if (data === undefined) throw error;
      if (data.code !== 'EINTR') return errnos.get(data.code) ?? EIO;
    }
  }
}
