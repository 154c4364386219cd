import { readFile, stat } from 'node:fs/promises';
import * as z from 'zod';
import { problemOf } from '../found.js';
import { linesOf, parseMaybe } from '../jsonl.js';
import { oneLine } from '../text.js';

const Name = z.object({ id: z.string(), thread_name: z.string() });

/** Names that were given to sessions, from `session_index.jsonl`; the newest of each wins. Read again when it changed. */
export class Names {
  readonly #path: string;
  #read: { stamp: string; names: Promise<ReadonlyMap<string, string>> } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async of(sessionId: string): Promise<string | undefined> {
    const stamp = await this.#stamp();
    if (stamp === undefined) return undefined;
    if (this.#read?.stamp !== stamp) this.#read = { stamp, names: this.#load() };
    return (await this.#read.names).get(sessionId);
  }

  async #stamp(): Promise<string | undefined> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path);
      return `${mtimeMs}:${size}:${ino}`;
    } catch (error) {
      // Without it, or without the right to read it, sessions are named by their prompts.
      if (problemOf(error) === undefined || error instanceof Error) return undefined;
      throw error;
    }
  }

  async #load(): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>();
    let bytes: Buffer;
    try {
      bytes = await readFile(this.#path);
    } catch (error) {
      if (error instanceof Error) return names;
      throw error;
    }
    for (const line of linesOf(bytes)) {
      const named = Name.safeParse(parseMaybe(line.bytes));
      if (!named.success) continue;
      const name = oneLine(named.data.thread_name);
      if (name !== '') names.set(named.data.id.toLowerCase(), name);
    }
    return names;
  }
}
