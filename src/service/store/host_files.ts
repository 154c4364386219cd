import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { syncFolder } from './blobs.js';
import { type CallName, callNames, type ImportMap } from './import_maps.js';
import { DiskFile, type FileStat, MemoryLogs, type OpenedFile } from './opened_file.js';
import { WasmMemory } from './wasm_memory.js';

type Arg = number | bigint;
type Call = (...args: Arg[]) => number;

/** A file of a database that is bound to the disk. */
interface HostFile {
  readonly path: string;
  /** Of a database that is only read: where its logs are instead of on the disk. */
  readonly logs: MemoryLogs | undefined;
  readonly isLog: boolean;
}

interface OpenFile {
  readonly file: OpenedFile;
  readonly path: string;
  position: number;
}

/** Error numbers of WASI, which Emscripten's calls answer with. */
const errnos = new Map([
  ['EACCES', 2],
  ['EBADF', 8],
  ['EBUSY', 10],
  // SQLite knows one error for a disk without room, and no quota.
  ['EDQUOT', 51],
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
const logSuffix = /-(journal|wal|shm)$/;
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
  private pending: { path: string; logs: MemoryLogs | undefined } | undefined;
  private readonly bound = new Map<string, { path: string; logs: MemoryLogs | undefined }>();
  private readonly open = new Map<number, OpenFile>();
  private nextFd = FIRST_FD;
  private failure: Error | undefined;
  private readonly failedSyncs = new Map<string, Error>();

  /** The next database that sql.js opens lives in this file. One that is only read changes nothing on the disk. */
  bind(file: string, readOnly: boolean): void {
    this.pending = { path: path.resolve(file), logs: readOnly ? new MemoryLogs() : undefined };
    this.failedSyncs.delete(this.pending.path);
  }

  /** Why a sync of a database or of its logs failed since it was opened: nobody knows what of it is on the disk. */
  failedSync(file: string): Error | undefined {
    return this.failedSyncs.get(path.resolve(file));
  }

  /** The disk's own words for the last call that failed, once; SQLite's error tells less. */
  takeFailure(): Error | undefined {
    const { failure } = this;
    this.failure = undefined;
    return failure;
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

  private host(name: string): HostFile | undefined {
    const match = databaseName.exec(name);
    const key = match?.[1];
    if (key === undefined) return undefined;
    const suffix = match?.[2] ?? '';
    if (!this.bound.has(key) && this.pending && suffix === '') {
      this.bound.set(key, this.pending);
      this.pending = undefined;
    }
    const database = this.bound.get(key);
    return database && { path: database.path + suffix, logs: database.logs, isLog: suffix !== '' };
  }

  private answer(call: CallName, pass: Call): Call {
    const byPath = (at: number, act: (file: HostFile, args: Arg[]) => number): Call => {
      return (...args) => {
        const file = this.host(this.wasm.string(Number(args[at])));
        return file ? -this.guard(() => -act(file, args)) : pass(...args);
      };
    };
    const byFd = (negative: boolean, act: (file: OpenFile, args: Arg[]) => number): Call => {
      return (...args) => {
        const file = this.open.get(Number(args[0]));
        if (!file) return pass(...args);
        return negative ? -this.guard(() => -act(file, args)) : this.guard(() => act(file, args));
      };
    };
    switch (call) {
      case 'openat':
        return byPath(1, (file, args) => this.openFile(file, Number(args[2]), Number(args[3] ?? 0)));
      case 'stat64':
      case 'lstat64':
        return byPath(0, (file, args) => this.writeStat(Number(args[1]), statOf(file)));
      case 'newfstatat':
        return byPath(1, (file, args) => this.writeStat(Number(args[2]), statOf(file)));
      case 'unlinkat':
        return byPath(1, (file) => {
          if (file.logs) {
            file.logs.remove(file.path);
            return 0;
          }
          fs.unlinkSync(file.path);
          syncFolder(path.dirname(file.path));
          return 0;
        });
      case 'faccessat':
        return byPath(1, (file, args) => {
          if (file.logs && file.isLog) {
            statOf(file);
            return 0;
          }
          // Permission bits are the platform's; whether a write works is told by opening the file.
          fs.accessSync(file.path, Number(args[2]) & (fs.constants.R_OK | fs.constants.W_OK));
          return 0;
        });
      case 'readlinkat':
        return byPath(1, () => -(errnos.get('EINVAL') ?? EIO));
      case 'utimensat':
        return byPath(1, () => 0);
      case 'fstat64':
        return byFd(true, (file, args) => this.writeStat(Number(args[1]), file.file.stat()));
      case 'ftruncate64':
        return byFd(true, (file, args) => {
          file.file.truncate(Number(args[1]));
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
          try {
            file.file.sync();
          } catch (error) {
            const database = file.path.replace(logSuffix, '');
            this.failedSyncs.set(database, error instanceof Error ? error : new Error(String(error)));
            throw error;
          }
          this.stats.syncs += 1;
          return 0;
        });
      case 'fd_close':
        return byFd(false, (file, args) => {
          this.open.delete(Number(args[0]));
          file.file.close();
          return 0;
        });
    }
  }

  private openFile(file: HostFile, flags: number, modePointer: number): number {
    this.nextFd += 1;
    this.open.set(this.nextFd, { file: this.opened(file, flags, modePointer), path: file.path, position: 0 });
    return this.nextFd;
  }

  private opened(file: HostFile, flags: number, modePointer: number): OpenedFile {
    const c = fs.constants;
    if (file.logs) {
      if (file.isLog) return file.logs.open(file.path, (flags & O_CREAT) !== 0);
      // Then SQLite opens it for reading, and answers every write with an error of its own.
      if ((flags & O_ACCMODE) !== 0) throw Object.assign(new Error('opened for reading'), { code: 'EROFS' });
      return new DiskFile(fs.openSync(file.path, c.O_RDONLY));
    }
    let mode = [c.O_RDONLY, c.O_WRONLY, c.O_RDWR][flags & O_ACCMODE] ?? c.O_RDONLY;
    if (flags & O_CREAT) mode |= c.O_CREAT;
    if (flags & O_EXCL) mode |= c.O_EXCL;
    if (flags & O_TRUNC) mode |= c.O_TRUNC;
    const permissions = modePointer === 0 ? 0o600 : this.wasm.data.getInt32(modePointer, true) & 0o600;
    const isNew = (mode & c.O_CREAT) !== 0 && !fs.existsSync(file.path);
    const fd = fs.openSync(file.path, mode, permissions === 0 ? 0o600 : permissions);
    if (isNew) syncFolder(path.dirname(file.path));
    return new DiskFile(fd);
  }

  /** `struct stat` of musl on wasm32. */
  private writeStat(pointer: number, stat: FileStat): number {
    const { data } = this.wasm;
    data.setUint32(pointer, stat.dev & 0x7fffffff, true);
    data.setUint32(pointer + 4, stat.mode, true);
    data.setUint32(pointer + 8, 1, true);
    data.setUint32(pointer + 12, 0, true);
    data.setUint32(pointer + 16, 0, true);
    data.setUint32(pointer + 20, 0, true);
    data.setBigInt64(pointer + 24, BigInt(stat.size), true);
    data.setInt32(pointer + 32, 4096, true);
    data.setInt32(pointer + 36, Math.ceil(stat.size / 512), true);
    const time = (offset: number, ms: number) => {
      data.setBigInt64(pointer + offset, BigInt(Math.floor(ms / 1000)), true);
      data.setUint32(pointer + offset + 8, Math.floor((ms % 1000) * 1e6), true);
    };
    for (const offset of [40, 56, 72]) time(offset, stat.mtimeMs);
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
      const got = file.file.read(this.wasm.bytes, pointer, length, file.position);
      file.position += got;
      return got;
    });
    this.stats.reads += 1;
    this.stats.readBytes += total;
    return 0;
  }

  private write(file: OpenFile, args: Arg[]): number {
    const total = this.pieces(args, (pointer, length) => {
      this.beforeWrite?.(file.path, length);
      file.file.write(this.wasm.bytes, pointer, length, file.position);
      file.position += length;
      return length;
    });
    this.stats.writes += 1;
    this.stats.writeBytes += total;
    return 0;
  }

  private seek(file: OpenFile, args: Arg[]): number {
    const from = Number(args[2]);
    const base = from === 1 ? file.position : from === 2 ? file.file.stat().size : 0;
    file.position = base + Number(args[1]);
    this.wasm.data.setBigInt64(Number(args[3]), BigInt(file.position), true);
    return 0;
  }

  /** Runs a call; an error of the disk becomes its number, as SQLite expects, and SQLite reports it. */
  private guard(act: () => number): number {
    try {
      return act();
    } catch (error) {
      const { data } = ErrorWithCode.safeParse(error);
      if (data === undefined || !(error instanceof Error)) throw error;
      // A file that is not there is a question's answer.
      if (data.code !== 'ENOENT') this.failure = error;
      return errnos.get(data.code) ?? EIO;
    }
  }
}

function statOf(file: HostFile): FileStat {
  if (!file.logs || !file.isLog) return fs.statSync(file.path);
  return file.logs.open(file.path, false).stat();
}
