import type * as vscode from 'vscode';
import type { AcpContentBlock } from '../../protocol/acp.js';
import type { Attachment } from '../../protocol/webview.js';
import type { ServiceClient } from '../client.js';
import { ServiceError } from '../errors.js';
import type { KeptFiles } from './kept_files.js';

/** How long a prompt may take until its run is seen; then it counts as accepted. */
const ACCEPTED_MS = 5_000;

/** The agents' own command; typed here it is a compaction like any other, and shown as one. */
const COMPACT = /^\/compact(?:\s+(?<focus>[^]*))?$/;

export type Delivery = 'prompt' | 'injected' | 'queued';

/** What goes along with a text, and where its pictures are kept. */
export interface Enclosed {
  readonly attachments: readonly Attachment[];
  readonly images: KeptFiles;
}

/**
 * Sends a text to a session: into the active run if there is one, else as a prompt. Settles as soon as it is accepted,
 * not when the turn ends. Throws when it was not: the caller then still has the text. A run takes text only, so what
 * has attachments is always a prompt, and refused while a run is active.
 */
export async function send(
  client: ServiceClient,
  sessionId: string,
  text: string,
  enclosed?: Enclosed,
): Promise<Delivery> {
  const content = await blocks(text, enclosed);
  if (enclosed && enclosed.attachments.length > 0) {
    await prompt(client, sessionId, content);
    await enclosed.images.drop(enclosed.attachments.flatMap((one) => (one.kind === 'image' ? [one.id] : [])));
    return 'prompt';
  }
  for (let tries = 0; ; tries += 1) {
    const receipt = await client.request('aster/interject', { sessionId, text });
    if (receipt.status !== 'idle') return receipt.status;
    try {
      const compaction = COMPACT.exec(text.trim());
      if (compaction) await compact(client, sessionId, compaction.groups?.['focus']);
      else await prompt(client, sessionId, content);
      return 'prompt';
    } catch (error) {
      // A run began in between: the text belongs into it.
      if (!(error instanceof ServiceError && error.code === 'turn_in_progress') || tries > 0) throw error;
    }
  }
}

/** The blocks of a prompt, as the Agent Client Protocol has them. */
async function blocks(text: string, enclosed: Enclosed | undefined): Promise<AcpContentBlock[]> {
  const made: AcpContentBlock[] = text === '' ? [] : [{ type: 'text', text }];
  for (const one of enclosed?.attachments ?? []) {
    if (one.kind === 'link') made.push({ type: 'resource_link', uri: one.uri, name: one.name });
    else made.push({ type: 'image', ...(await enclosed?.images.read(one.id)) });
  }
  return made;
}

function prompt(client: ServiceClient, sessionId: string, content: AcpContentBlock[]): Promise<void> {
  return begin(client, sessionId, () => client.request('session/prompt', { sessionId, prompt: content }));
}

function compact(client: ServiceClient, sessionId: string, userContext: string | undefined): Promise<void> {
  return begin(client, sessionId, () =>
    client.request('aster/compact_conversation', { sessionId, ...(userContext ? { userContext } : {}) }),
  );
}

/** Starts a run; settles when it is seen, throws when it was refused. */
async function begin(client: ServiceClient, sessionId: string, start: () => Promise<unknown>): Promise<void> {
  let subscription: vscode.Disposable | undefined;
  let timer: NodeJS.Timeout | undefined;
  const accepted = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ACCEPTED_MS);
    subscription = client.on('deck/sessions/changed', ({ upserted }) => {
      if (upserted.some((row) => row.sessionId === sessionId && row.state !== 'idle')) resolve();
    });
  });
  const turn = start();
  // How the turn ends stands in the transcript; only a refusal is an error here.
  turn.catch(() => undefined);
  try {
    await Promise.race([accepted, turn]);
  } finally {
    clearTimeout(timer);
    subscription?.dispose();
  }
}
