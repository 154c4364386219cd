import { plainText } from './entries/parts.js';
import type { Host } from './host.js';

/** Copies what was asked and answered in a turn, whether it is loaded or not. */
export async function copyTurn(host: Host, number: number): Promise<void> {
  const { turns } = await host.call('turns', { from: number, limit: 1 });
  const [turn] = turns;
  if (turn?.number !== number) return;
  const parts: string[] = [];
  for (let next = turn.firstOrdinal; next <= turn.lastOrdinal;) {
    const { entries } = await host.call('page', {
      anchor: { ordinal: next },
      direction: 'newer',
      limit: 200,
    });
    const last = entries.at(-1);
    // A rewritten history ends earlier than the turn did.
    if (!last || last.ordinal < next) break;
    for (const entry of entries)
      if (entry.turn === number && (entry.kind === 'user' || entry.kind === 'assistant'))
        parts.push(plainText(entry.content));
    next = last.ordinal + 1;
  }
  host.act({ action: 'copyText', text: parts.join('\n\n---\n\n') });
}
