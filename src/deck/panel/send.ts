import type * as vscode from 'vscode';
import type { ServiceClient } from '../client.js';
import { ServiceError } from '../errors.js';

/** How long a prompt may take until its run is seen; then it counts as accepted. */
const ACCEPTED_MS = 5_000;

export type Delivery = 'prompt' | 'injected' | 'queued';

/**
 * Sends a text to a session: into the active run if there is one, else as a prompt. Settles as soon as it is accepted,
 * not when the turn ends. Throws when it was not: the caller then still has the text.
 */
export async function send(client: ServiceClient, sessionId: string, text: string): Promise<Delivery> {
  for (let tries = 0; ; tries += 1) {
    const receipt = await client.request('aster/interject', { sessionId, text });
    if (receipt.status !== 'idle') return receipt.status;
    try {
      await prompt(client, sessionId, text);
      return 'prompt';
    } catch (error) {
      // A run began in between: the text belongs into it.
      if (!(error instanceof ServiceError && error.code === 'turn_in_progress') || tries > 0) throw error;
    }
  }
}

/** Starts a turn; settles when its run is seen, throws when it was refused. */
async function prompt(client: ServiceClient, sessionId: string, text: string): Promise<void> {
  let subscription: vscode.Disposable | undefined;
  let timer: NodeJS.Timeout | undefined;
  const accepted = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ACCEPTED_MS);
    subscription = client.on('deck/sessions/changed', ({ upserted }) => {
      if (upserted.some((row) => row.sessionId === sessionId && row.state !== 'idle')) resolve();
    });
  });
  const turn = client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  // How the turn ends stands in the transcript; only a refusal is an error here.
  turn.catch(() => undefined);
  try {
    await Promise.race([accepted, turn]);
  } finally {
    clearTimeout(timer);
    subscription?.dispose();
  }
}
