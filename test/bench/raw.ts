import fs from 'node:fs';
import { timed } from './stats.js';

const HEAD_BYTES = 16 * 1024;

/** What plain reading of the same files costs, in ms: the limit for anything that looks at them. */
export interface RawReading {
  readonly stat: number;
  readonly headsAndTails: number;
  readonly all: number;
}

export async function rawReading(files: readonly string[]): Promise<RawReading> {
  const stat = await timed(() => {
    for (const file of files) fs.statSync(file);
  });
  const headsAndTails = await timed(() => {
    const buffer = Buffer.alloc(HEAD_BYTES);
    for (const file of files) {
      const fd = fs.openSync(file, 'r');
      const { size } = fs.fstatSync(fd);
      fs.readSync(fd, buffer, 0, HEAD_BYTES, 0);
      if (size > HEAD_BYTES) fs.readSync(fd, buffer, 0, HEAD_BYTES, size - HEAD_BYTES);
      fs.closeSync(fd);
    }
  });
  const all = await timed(() => {
    for (const file of files) fs.readFileSync(file);
  });
  return { stat: stat.ms, headsAndTails: headsAndTails.ms, all: all.ms };
}

/** Reads one file whole and parses its lines, as a reader without an index does. In ms. */
export async function parseWhole(file: string): Promise<number> {
  const { ms } = await timed(() => {
    let parsed = 0;
    for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
      if (line === '') continue;
      try {
        JSON.parse(line);
        parsed += 1;
      } catch (error) {
        // The corpus has torn lines on purpose.
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
    if (parsed === 0) throw new Error(`${file} has no line that can be parsed`);
  });
  return ms;
}
