import * as z from 'zod';
import type { AcpClientFeatures, SessionUpdate } from './acp_replay.js';

/** What every client of the protocol takes. */
const baseline = new Set([
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
  'available_commands_update',
  'current_mode_update',
  'session_info_update',
  'usage_update',
]);

const Summary = z.array(z.looseObject({ type: z.string() }));
const Configured = z.looseObject({
  configOptions: z.array(z.looseObject({ type: z.string().optional().catch(undefined) })),
});

/**
 * What a client can take of an update: kinds that it did not announce become text, or nothing. Kinds that the protocol
 * does not know are not passed on, because its libraries take no unknown ones.
 */
export function suitableUpdates(update: SessionUpdate, features: AcpClientFeatures): SessionUpdate[] {
  const kind = update['sessionUpdate'];
  switch (kind) {
    case 'notice':
      return features.notices ? [update] : [];
    case 'compaction_summary_chunk':
      return features.compaction ? [update] : [];
    case 'compaction_update': {
      if (features.compaction) return [update];
      if (update['status'] !== 'completed') return [];
      const summary = Summary.safeParse(update['summary']).data ?? [];
      return [{ type: 'text', text: '[The context was compacted]\n\n' }, ...summary].map((content) => ({
        sessionUpdate: 'agent_message_chunk',
        content,
      }));
    }
    case 'config_option_update':
      return [withSuitableOptions(update, features)];
    default:
      return typeof kind === 'string' && baseline.has(kind) ? [update] : [];
  }
}

/** An object whose `configOptions`, if it has them, are those that the client can show. */
export function withSuitableOptions<T>(value: T, features: AcpClientFeatures): T {
  const configured = Configured.safeParse(value);
  if (features.booleanOptions || !configured.success) return value;
  const configOptions = configured.data.configOptions.filter(({ type }) => type !== 'boolean');
  return { ...value, configOptions };
}

/** Whether an update tells of the transcript, as against of the session now. */
export function isOfTranscript(update: SessionUpdate): boolean {
  switch (update['sessionUpdate']) {
    case 'user_message_chunk':
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
    case 'tool_call':
    case 'tool_call_update':
    case 'plan':
    case 'compaction_update':
    case 'compaction_summary_chunk':
      return true;
    default:
      return false;
  }
}
