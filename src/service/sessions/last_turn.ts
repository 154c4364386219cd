import type { Entry } from '../../protocol/entry.js';
import type { SessionData } from './data.js';
import type { Reader } from './reader.js';
import type { SessionRecord } from './record.js';

/** Rows at the end of a long turn that are read. */
const ROWS = 50;

/** What was asked in a turn and what the agent said to it, without thoughts and tools. */
export interface TurnTexts {
  readonly prompt: string;
  readonly response: string;
}

/** The last turn of a session; undefined when there is none here. Of a very long turn only the end is answered for. */
export async function lastTurn(
  data: SessionData,
  reader: Reader,
  record: SessionRecord,
): Promise<TurnTexts | undefined> {
  const { id, generation, turnCount } = record;
  const [turn] = data.turns(id, generation, turnCount, 1);
  if (!turn) return undefined;
  const { firstOrdinal, lastOrdinal } = turn;
  const from = Math.max(firstOrdinal, lastOrdinal - ROWS + 1);
  const rows = data.entries(id, generation, from, lastOrdinal - from + 1);
  const first = from === firstOrdinal ? [] : data.entries(id, generation, firstOrdinal, 1);
  const entries = await reader.whole(record, [...first, ...rows]);
  return { prompt: textOf(entries, 'user'), response: textOf(entries, 'assistant') };
}

function textOf(entries: readonly Entry[], kind: Entry['kind']): string {
  return entries
    .filter((entry) => entry.kind === kind)
    .map(({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')).join(''))
    .join('\n\n')
    .trim();
}
