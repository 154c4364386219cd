import * as z from 'zod';
import type { PermissionParams } from '../../protocol/acp.js';
import type { FileDiff, ToolCall } from '../../protocol/content.js';
import type { ElicitationParams } from '../../protocol/elicitation.js';
import type { FormItem, PermissionItem, UrlItem } from '../../protocol/inbox.js';
import { withoutSecrets } from './elicitation_form.js';

/** Larger changes are not shown beside a question: the entry of the call has them. */
const MAX_DIFF_CHARACTERS = 256 * 1024;

const Command = z.looseObject({ command: z.union([z.string(), z.array(z.string())]) });

/** What all questions of a run have. */
export type QuestionFacts = Pick<PermissionItem, 'id' | 'sessionId' | 'at' | 'runId' | 'entryId'>;

/** `call` is what is known of the call that the permission is for. */
export function permissionItem(
  facts: QuestionFacts,
  title: string,
  call: ToolCall | undefined,
  params: PermissionParams,
): PermissionItem {
  const command = Command.safeParse(call?.input);
  return {
    ...facts,
    kind: 'permission',
    title: title.trim().split('\n', 1)[0] ?? '',
    tool: {
      kind: call?.kind ?? 'other',
      ...(command.success ? { command: [command.data.command].flat().join(' ') } : {}),
      locations: call?.locations ?? [],
      diffs: shownDiffs(call?.diffs ?? []),
    },
    options: params.options,
  };
}

export function elicitationItem(facts: QuestionFacts, params: ElicitationParams): FormItem | UrlItem {
  const { message } = params;
  return params.mode === 'form'
    ? { ...facts, kind: 'form', message, schema: params.requestedSchema }
    : { ...facts, kind: 'url', message, url: params.url };
}

/** A question as it may be kept: an address without its query, which can hold a key; a form without its secrets. */
export function storedElicitation(params: ElicitationParams): ElicitationParams {
  return params.mode === 'form'
    ? { ...params, requestedSchema: withoutSecrets(params.requestedSchema) }
    : { ...params, url: addressOf(params.url) };
}

/** The address without what can be secret in it. */
export function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

function shownDiffs(diffs: readonly FileDiff[]): FileDiff[] {
  let room = MAX_DIFF_CHARACTERS;
  return diffs.filter(({ oldText, newText }) => {
    const size = (oldText?.length ?? 0) + newText.length;
    if (size > room) return false;
    room -= size;
    return true;
  });
}
