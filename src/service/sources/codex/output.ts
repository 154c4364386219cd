import type { ContentBlock } from '../../../protocol/content.js';
import { contentBlocks } from '../blocks.js';
import { parseMaybe } from '../jsonl.js';
import { numberOf, objectOf, stringOf } from '../text.js';

export interface OutputFacts {
  readonly failed: boolean;
  /** The result without the tool's own wrapping. */
  readonly text: string;
  readonly blocks: readonly ContentBlock[];
  readonly exitCode?: number;
  readonly durationMs?: number;
}

const EXIT = /^(?:Exit code: (-?\d+)|Process exited with code (-?\d+))$/m;
const WALL = /^Wall time: ([\d.]+) seconds?$/m;
const OUTPUT = /^Output:\n?/m;
/** The lines before the output are few; a look further down would read the output itself. */
const HEADER = 600;

/** The result of a call: JSON in older versions, text with a header in newer ones, or content parts. */
export function outputFacts(output: unknown): OutputFacts {
  const object = objectOf(output);
  if (object) {
    const inner = outputFacts(object['content'] ?? object['output'] ?? '');
    return { ...inner, failed: inner.failed || object['success'] === false };
  }
  if (typeof output !== 'string') return { failed: false, text: '', blocks: contentBlocks(output) };
  const json = output.startsWith('{') ? objectOf(parseMaybe(Buffer.from(output))) : undefined;
  const said = stringOf(json?.['output']);
  if (json && said !== undefined) {
    const meta = objectOf(json['metadata']);
    return facts(said, numberOf(meta?.['exit_code']), numberOf(meta?.['duration_seconds']));
  }
  const header = output.slice(0, HEADER);
  const exit = EXIT.exec(header);
  const start = OUTPUT.exec(header);
  const body = exit && start ? output.slice(start.index + start[0].length) : output;
  const seconds = WALL.exec(header)?.[1];
  const code = exit?.[1] ?? exit?.[2];
  return facts(
    body,
    code === undefined ? undefined : Number(code),
    seconds === undefined ? undefined : Number(seconds),
  );
}

function facts(text: string, exitCode: number | undefined, seconds: number | undefined): OutputFacts {
  return {
    failed: exitCode !== undefined && exitCode !== 0,
    text,
    blocks: contentBlocks(text),
    ...(exitCode !== undefined && { exitCode }),
    ...(seconds !== undefined && { durationMs: Math.round(seconds * 1000) }),
  };
}
