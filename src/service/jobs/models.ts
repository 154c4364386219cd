import { CompleteResult, type ClientOptions, type CompleteParams } from '../../protocol/deck.js';
import { DomainError } from '../../protocol/errors.js';
import type { Log } from '../log.js';
import { agentForSession } from '../runs/agent_choice.js';
import { unlessAborted } from '../abort.js';
import type { Client, Clients } from '../sessions/client.js';
import { chat, type Completion } from './chat.js';
import type { JobSession } from './ports.js';
import type { SideSessions } from './side_session.js';

export interface ModelsParts {
  readonly clients: Clients;
  readonly side: Pick<SideSessions, 'ask'>;
  /** Whether that client may see the session. */
  sees(client: Client, sessionId: string): boolean;
  /** Of the service. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

interface Model {
  readonly name: string;
  complete(signal: AbortSignal): Promise<string>;
}

/** The client's choice; in a restricted window nothing is sent and nothing started. */
const choiceOf = ({ trusted, config }: ClientOptions) =>
  trusted ? (config.smallJobs?.model ?? 'off') : 'off';

/** Who does small jobs, as the settings of the client that wants one say. */
export class Models {
  constructor(private readonly parts: ModelsParts) {}

  /** False: no job is done for that client, and nothing is sent anywhere. */
  isOn(client: Client): boolean {
    return choiceOf(client.options) !== 'off';
  }

  /**
   * The text of the first model that can. Throws `not_supported` with the reasons when none is at hand, and `cancelled`
   * as soon as `signal` aborts, whether a model heeds that or not.
   */
  async complete(
    client: Client,
    session: JobSession,
    completion: Completion,
    signal: AbortSignal,
  ): Promise<string> {
    const reasons: string[] = [];
    for (const model of this.candidates(client, session, completion)) {
      try {
        return await unlessAborted(model.complete(signal), signal, () => undefined);
      } catch (error) {
        if (signal.aborted) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        this.parts.log.info('a model did not do a small job', { model: model.name, reason });
        reasons.push(reason);
      }
    }
    throw new DomainError(
      'not_supported',
      ['No model is at hand for small jobs.', ...new Set(reasons)].join(' '),
    );
  }

  private *candidates(client: Client, session: JobSession, completion: Completion): Generator<Model> {
    const { env, side } = this.parts;
    const { smallJobs } = client.options.config;
    const choice = choiceOf(client.options);
    const wants = (one: typeof choice) => choice === one || choice === 'auto';
    if (wants('editor'))
      for (const window of this.windows(client, session.id))
        yield { name: 'editor', complete: (signal) => askWindow(window, completion, signal) };
    const endpoint = smallJobs?.endpoint;
    if (wants('endpoint') && endpoint)
      yield { name: 'endpoint', complete: (signal) => chat(endpoint, completion, env, signal) };
    if (choice === 'agent' || (choice === 'auto' && smallJobs?.allowAgent === true))
      yield {
        name: 'agent',
        complete: async (signal) =>
          side.ask(agentForSession(client.options, session), session.cwd, completion.prompt, signal),
      };
  }

  /** Windows with a model: the one that asks, then others that see the session and whose settings agree. */
  private *windows(client: Client, sessionId: string): Generator<Client> {
    if (client.connected && client.abilities.model) yield client;
    for (const other of this.parts.clients) {
      const choice = choiceOf(other.options);
      if (other === client || !other.connected || !other.abilities.model) continue;
      if ((choice === 'auto' || choice === 'editor') && this.parts.sees(other, sessionId)) yield other;
    }
  }
}

async function askWindow(window: Client, params: CompleteParams, signal: AbortSignal): Promise<string> {
  const answer = CompleteResult.safeParse(await window.ask('deck/model/complete', params, signal));
  if (answer.success) return answer.data.text;
  throw new Error('The editor window answered with something else than text.');
}
