import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk';
import { unreadable } from './workspace_path.js';

/** Larger files are refused: an answer has to fit into one message. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

/**
 * The text of a file, or `limit` lines from the 1-based `line` on, line ends included. Rejects with a `RequestError`:
 * missing, no regular file, too large, not UTF-8.
 */
export async function readText(path: string, line?: number, limit?: number): Promise<string> {
  const text = decode(path, await readBytes(path));
  if (line === undefined && limit === undefined) return text;
  const start = afterLines(text, 0, Math.max(1, line ?? 1) - 1);
  return text.slice(start, limit === undefined ? undefined : afterLines(text, start, limit));
}

/**
 * Replaces a file by one with that text: whole or not at all, with the mode of the old one. Makes the folders that are
 * missing. Rejects with a `RequestError`.
 */
export async function writeText(path: string, text: string): Promise<void> {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw tooLarge(path);
  try {
    const mode = await modeToKeep(path);
    await mkdir(dirname(path), { recursive: true });
    await replace(path, text, mode);
  } catch (error) {
    throw error instanceof RequestError ? error : unreadable(path, error);
  }
}

async function replace(path: string, text: string, mode: number | undefined): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomUUID()}.tmp`);
  const file = await open(temporary, 'wx');
  try {
    try {
      if (mode !== undefined) await file.chmod(mode);
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    // Opening a pipe must not wait for who writes to it.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size } = await regular(path, () => file.stat());
      if (size > MAX_FILE_BYTES) throw tooLarge(path);
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw error instanceof RequestError ? error : unreadable(path, error);
  }
}

function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw RequestError.invalidParams({ path }, `this file is no UTF-8 text: ${path}`);
  }
}

/** Of the file that is there; undefined when there is none. Rejects when it may not be written. */
async function modeToKeep(path: string): Promise<number | undefined> {
  try {
    const { mode } = await regular(path, () => stat(path));
    await access(path, constants.W_OK);
    return mode & 0o7777;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function regular<S extends { isFile(): boolean }>(path: string, look: () => Promise<S>): Promise<S> {
  const found = await look();
  if (found.isFile()) return found;
  throw RequestError.invalidParams({ path }, `this is no file: ${path}`);
}

/** The offset behind so many lines, counted from an offset. */
function afterLines(text: string, from: number, count: number): number {
  let offset = from;
  for (let line = 0; line < count; line += 1) {
    const end = text.indexOf('\n', offset);
    if (end === -1) return text.length;
    offset = end + 1;
  }
  return offset;
}

function tooLarge(path: string): RequestError {
  const limit = String(MAX_FILE_BYTES / 1024 / 1024);
  return RequestError.invalidParams(
    { path },
    `files of more than ${limit} MB are not read or written: ${path}`,
  );
}
