import type * as z from 'zod';
import type { TurnsParams, TurnsResult } from '../../protocol/deck.js';
import type { Turn } from '../../protocol/entry.js';
import type { SessionData, TurnRecord } from './data.js';
import type { SessionRecord } from './record.js';

const LIMIT = 50;

type Result = z.infer<typeof TurnsResult>;

/** `deck/turns`: the turns of a session, ascending. */
export function turns(data: SessionData, record: SessionRecord, params: TurnsParams): Result {
  const { from = 1, limit = LIMIT } = params;
  const first = Math.max(1, from < 0 ? record.turnCount + 1 + from : from);
  return {
    cut: { generation: record.generation, revision: record.revision },
    turns: data.turns(record.id, record.generation, first, limit).map(toTurn),
    total: record.turnCount,
  };
}

function toTurn(turn: TurnRecord): Turn {
  return {
    turnId: turn.id,
    number: turn.number,
    prompt: turn.prompt,
    at: new Date(turn.at).toISOString(),
    ...(turn.endedAt === undefined ? {} : { endedAt: new Date(turn.endedAt).toISOString() }),
    status: turn.status,
    firstOrdinal: turn.firstOrdinal,
    lastOrdinal: turn.lastOrdinal,
    ...(turn.boundaryEntryId === undefined ? {} : { boundaryEntryId: turn.boundaryEntryId }),
    tools: turn.tools,
    files: [...turn.files],
    ...(turn.usage === undefined ? {} : { usage: turn.usage }),
  };
}
