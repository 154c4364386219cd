import fs from 'node:fs';
import path from 'node:path';
import type { Log } from './log.js';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** Hears each line that is written, without its time. */
export type LogListener = (level: LogLevel, text: string) => void;

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_DETAILS_LENGTH = 4_000;

function describe(details: unknown): string {
  if (details instanceof Error) {
    const cause = details.cause === undefined ? '' : ` (cause: ${describe(details.cause)})`;
    return `${details.stack ?? details.message}${cause}`;
  }
  if (typeof details === 'string') return details;
  try {
    return JSON.stringify(details, (_key, value: unknown) =>
      value instanceof Error ? value.message : typeof value === 'bigint' ? value.toString() : value,
    );
  } catch (error) {
    return `details that cannot be written: ${String(error)}`;
  }
}

/** A log in two files of bounded size: `<name>` and, once that is full, `<name>.1`. Lines are on disk at once. */
export class FileLog implements Log {
  /** Undefined when the disk does not take the file: then lines go to stderr. */
  private fd: number | undefined;
  private size = 0;
  private readonly listeners = new Set<LogListener>();

  constructor(
    private readonly file: string,
    private readonly withDebug = false,
    private readonly maxBytes = MAX_FILE_BYTES,
  ) {
    try {
      fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      this.fd = fs.openSync(file, 'a', 0o600);
      this.size = fs.fstatSync(this.fd).size;
    } catch (error) {
      process.stderr.write(`cannot log to ${file}: ${String(error)}\n`);
    }
  }

  error(message: string, details?: unknown): void {
    this.write('error', message, details);
  }

  warn(message: string, details?: unknown): void {
    this.write('warn', message, details);
  }

  info(message: string, details?: unknown): void {
    this.write('info', message, details);
  }

  debug(message: string, details?: unknown): void {
    if (this.withDebug) this.write('debug', message, details);
  }

  /** Returns how to stop listening. */
  listen(listener: LogListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    if (this.fd !== undefined) fs.closeSync(this.fd);
    this.fd = undefined;
  }

  private write(level: LogLevel, message: string, details: unknown): void {
    const told = details === undefined ? '' : ` ${describe(details).slice(0, MAX_DETAILS_LENGTH)}`;
    const text = `${message}${told}`;
    const line = Buffer.from(`${new Date().toISOString()} ${level} ${text.replaceAll('\n', '\n  ')}\n`);
    try {
      if (this.size + line.length > this.maxBytes && this.size > 0) this.rotate();
      if (this.fd === undefined) process.stderr.write(line);
      else this.size += fs.writeSync(this.fd, line);
    } catch (error) {
      // A full disk must not end the service; start.log keeps what could not be logged.
      process.stderr.write(`${line.toString()}log: ${String(error)}\n`);
    }
    for (const listener of this.listeners) listener(level, text);
  }

  private rotate(): void {
    this.close();
    fs.renameSync(this.file, `${this.file}.1`);
    this.fd = fs.openSync(this.file, 'a', 0o600);
    this.size = 0;
  }
}
