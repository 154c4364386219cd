import * as z from 'zod';
import { StopReason } from '../../protocol/acp.js';
import { DomainError } from '../../protocol/errors.js';
import type { Usage } from '../../protocol/entry.js';

const count = z.number().nullish().catch(undefined);
const PromptAnswer = z.looseObject({
  // A reason that only a newer agent knows is still an end.
  stopReason: z.string().transform((reason) => StopReason.safeParse(reason).data ?? 'end_turn'),
  usage: z
    .looseObject({
      inputTokens: count,
      outputTokens: count,
      thoughtTokens: count,
      cachedReadTokens: count,
      cachedWriteTokens: count,
    })
    .nullish()
    .catch(undefined),
});

/** How a turn ended, as the agent tells it. */
export interface TurnEnd {
  readonly stopReason: StopReason;
  readonly usage?: Usage;
}

/** Reads the answer to `session/prompt`. Throws `agent_failed` when it tells no end. */
export function readTurnEnd(answer: unknown, agentTitle: string): TurnEnd {
  const parsed = PromptAnswer.safeParse(answer);
  if (!parsed.success)
    throw new DomainError('agent_failed', `${agentTitle} ended the turn with an answer that makes no sense.`);
  const { stopReason, usage } = parsed.data;
  if (!usage) return { stopReason };
  const { inputTokens, outputTokens, thoughtTokens, cachedReadTokens, cachedWriteTokens } = usage;
  return {
    stopReason,
    usage: {
      ...(typeof inputTokens === 'number' ? { input: inputTokens } : {}),
      ...(typeof outputTokens === 'number' ? { output: outputTokens } : {}),
      ...(typeof thoughtTokens === 'number' ? { reasoning: thoughtTokens } : {}),
      ...(typeof cachedReadTokens === 'number' ? { cacheRead: cachedReadTokens } : {}),
      ...(typeof cachedWriteTokens === 'number' ? { cacheWrite: cachedWriteTokens } : {}),
    },
  };
}
