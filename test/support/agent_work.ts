import { setTimeout as sleep } from 'node:timers/promises';
import * as acp from '@agentclientprotocol/sdk';
import { v7 as uuid } from 'uuid';
import * as z from 'zod';

interface Turn {
  readonly session: { readonly id: string };
  readonly client: acp.AgentContext;
  readonly signal: AbortSignal;
  readonly send: (update: acp.SessionNotification['update']) => Promise<void>;
}
const Output = z.looseObject({
  truncated: z.boolean(),
  exitStatus: z.looseObject({ exitCode: z.number().nullish(), signal: z.string().nullish() }).nullish(),
});
type Verb = (turn: Turn, rest: string) => Promise<unknown>;

/** Child sessions that work, by id; `session/cancel` of one aborts it. */
export const children = new Map<string, AbortController>();

const say = ({ send }: Turn, text: string) =>
  send({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

const aborted = (signal: AbortSignal) =>
  new Promise<void>((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done());
  });

/** Without the checks of the SDK: updates that are not stable yet. */
function raw(sessionId: string, update: Record<string, unknown>): void {
  const message = { jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } };
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

async function begin({ session, client, send }: Turn, command: string): Promise<[string, string]> {
  const toolCallId = uuid();
  const { terminalId } = await client.request('terminal/create', { sessionId: session.id, command });
  await send({
    sessionUpdate: 'tool_call',
    toolCallId,
    title: command,
    name: 'Bash',
    kind: 'execute',
    status: 'in_progress',
    rawInput: { command },
    content: [{ type: 'terminal', terminalId }],
  });
  return [toolCallId, terminalId];
}

/** Verbs of work that can outlive its turn. */
export const workVerbs: Record<string, Verb> = {
  async terminal(turn, rest) {
    const { session, client, send, signal } = turn;
    const [toolCallId, terminalId] = await begin(turn, rest);
    const of = { sessionId: session.id, terminalId };
    await Promise.race([client.request('terminal/wait_for_exit', of), aborted(signal)]);
    if (signal.aborted) await client.request('terminal/kill', of);
    const { truncated, exitStatus } = Output.parse(await client.request('terminal/output', of));
    await client.request('terminal/release', of);
    await send({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
    const how = exitStatus?.signal ?? `exit ${String(exitStatus?.exitCode)}`;
    await say(turn, `${how}${truncated ? ', truncated' : ''}`);
  },
  async background(turn, rest) {
    const [toolCallId, terminalId] = await begin(turn, rest);
    await turn.send({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
    await say(turn, terminalId);
  },
  async call(turn, rest) {
    const [method = '', ...words] = rest.split(' ');
    const params = z.record(z.string(), z.unknown()).parse(JSON.parse(words.join(' ') || '{}'));
    const answer = await turn.client
      .request(method, { sessionId: turn.session.id, ...params })
      .then((result: unknown) => `result: ${JSON.stringify(result)}`)
      .catch((error: unknown) =>
        error instanceof acp.RequestError ? `error ${error.code}: ${error.message}` : String(error),
      );
    await say(turn, answer);
  },
  async own({ session, send }, rest) {
    const [ms = '0', ...words] = rest.split(' ');
    const toolCallId = uuid();
    const meta = (more: Record<string, unknown>) =>
      raw(session.id, { sessionUpdate: 'tool_call_update', toolCallId, _meta: more });
    await send({
      sessionUpdate: 'tool_call',
      toolCallId,
      title: words.join(' '),
      name: 'Bash',
      kind: 'execute',
      status: 'in_progress',
      content: [{ type: 'terminal', terminalId: toolCallId }],
      _meta: { terminal_info: { terminal_id: toolCallId } },
    });
    for (const word of words) meta({ terminal_output: { terminal_id: toolCallId, data: `${word}\r\n` } });
    await send({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
    const end = () => meta({ terminal_exit: { terminal_id: toolCallId, exit_code: 0, signal: null } });
    if (ms === '0') end();
    else setTimeout(end, Number(ms));
  },
  async subagent({ send, signal }, rest) {
    const [name = 'helper', ms = '0'] = rest.split(' ');
    const toolCallId = uuid();
    await send({
      sessionUpdate: 'tool_call',
      toolCallId,
      title: name,
      name: 'Task',
      kind: 'think',
      status: 'in_progress',
      rawInput: { description: name },
    });
    await Promise.race([sleep(Number(ms)), aborted(signal)]);
    if (signal.aborted) return;
    await send({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: `${name} is done` } }],
    });
  },
  async child({ session }, rest) {
    const [name = 'helper', ms = '0'] = rest.split(' ');
    const id = uuid();
    const cancel = new AbortController();
    children.set(id, cancel);
    const tell = (more: Record<string, unknown>) =>
      raw(session.id, { sessionUpdate: 'subagent_update', sessionId: id, ...more });
    tell({ title: name, capabilities: { cancel: {} } });
    tell({ state: { state: 'running' } });
    raw(id, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `${name} looks` } });
    void Promise.race([sleep(Number(ms)), aborted(cancel.signal)]).then(() => {
      children.delete(id);
      tell({ state: { state: 'idle' } });
    });
    return Promise.resolve(undefined);
  },
};
