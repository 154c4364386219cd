/**
 * A scripted ACP agent for tests and the sample. Start it through `testAgent()` of `agent_command.ts`.
 *
 * Every line of a prompt is a verb with arguments; they are carried out in order, then the turn ends with `end_turn`:
 *
 *   echo TEXT         says TEXT
 *   stream N [MS]     N chunks of one message ("1 2 3 …"), MS milliseconds apart (0)
 *   split             two messages told apart by messageId only
 *   think TEXT        a thought
 *   tool [NAME]       a tool call with input, progress, result "result of NAME" (NAME: Read)
 *   opentool          a tool call that is never finished
 *   edit PATH TEXT    writes TEXT to PATH (below the session's cwd) and tells it as a diff
 *   ask [TITLE]       asks for a permission (options allow, always, reject), then says "permission: <optionId|cancelled>"
 *   asknot [TITLE]    asks for a permission and does not wait for the answer
 *   plan              a plan with three items, replaced twice
 *   slow MS           waits, unless cancelled
 *   wait              waits until cancelled
 *   steer             waits until text is steered into the turn, then says "steered: TEXT"
 *   hang              waits for ever, deaf to cancel
 *   stop REASON       ends the turn with that stop reason
 *   die [CODE]        writes "dying on purpose" to stderr and exits with CODE (3)
 *   flood N [BYTES]   N chunks of BYTES (1000) as fast as the pipe takes them
 *   garbage           lines that are no JSON, an array, a number, and an unknown notification
 *   unknown           a session/update of a kind that nobody knows
 *   request           asks the client something that no client knows, then says "answered: CODE"
 *   error [TEXT]      answers the prompt with an internal error
 *   auth              answers the prompt with "authentication required"
 *   title TEXT        a session_info_update with that title
 *   usage USED [SIZE] a usage_update; the turn's answer then has usage too
 *   notice TEXT       a notice of severity warning
 *   late              says "late" 100 ms after the turn was answered
 *   recall            says how many prompts this session had before, and the last one
 *   heard             says everything that came in front of this prompt (an earlier conversation)
 *   env NAME          says the value of an environment variable
 *   form [MESSAGE]    asks to fill in a form (see `formSchema`; MESSAGE that is JSON is the schema), then says
 *                     "form: ACTION CONTENT" with secrets as their lengths
 *   url ADDRESS [MS]  asks to visit an address, says after MS that it was visited, then says "url: ACTION"
 *   readfile PATH [LINE [LIMIT]]  reads a file through the client (PATH below the session's cwd), says "read: JSON" or
 *                     "read failed: CODE MESSAGE"
 *   writefile PATH TEXT  writes a file through the client, says "written" or "write failed: CODE MESSAGE"
 *   latewrite PATH TEXT  does the same 100 ms after the turn was answered
 *   terminal COMMAND  runs the command in a terminal of the client, shows it as a tool call, waits, releases it, then says
 *                     "exit CODE" or the signal, and ", truncated" when its output was cut
 *   background COMMAND  the same without waiting and releasing; says the terminal's id
 *   call METHOD [JSON]  asks the client, with the session's id; says "result: JSON" or "error CODE: MESSAGE"
 *   own MS WORD…      a command that it runs itself: writes the words, a line each; it ends MS after its tool call (0)
 *   subagent NAME [MS]  a tool call that is a sub-agent, for MS or until cancelled; result "NAME is done"
 *   child NAME [MS]   a sub-agent in a session of its own that works for MS, or until cancelled, after the turn too
 *   controls, opened, blocks, mode, option, commands, mcpfail, mcpnotice   see `agent_controls.ts`
 *   anything else     says "You said: …"
 *   /compact [TEXT]   as a whole prompt: replaces its context; usage goes from what `usage` said to 1000;
 *                     TEXT "fail" answers with an error, "slow" waits until cancelled, else it is said as "Compacted. TEXT"
 *
 * Steering (feature `steering`) takes text into the turn, unless it begins with "refuse" or, after 200 ms, "slowly".
 *
 * Environment:
 *   AGENT_FEATURES    comma list of: load, resume, list, close, steering, compact (default "close,compact";
 *                     with AGENT_DIR also load,resume,list)
 *                     also those of `agent_controls.ts`
 *   AGENT_DIR         folder where sessions are kept, so that another process can list, load and resume them
 *   AGENT_START       silent (never answers initialize), die (exits with 7), garbage (answers nonsense),
 *                     auth (session/new needs a login), nonew (session/new fails), slow (answers after 500 ms)
 *   AGENT_JOB         verbs (lines) that are carried out instead for a prompt of a small job ("Below is the …")
 *
 * Sessions of its own (with AGENT_DIR):
 *   feature `delete`  session/delete removes the session's file
 *   feature `fork`    session/fork copies the session's file into a new one
 *   AGENT_LIST        loop (always the same next cursor), endless (a page of two more sessions each time), bad (between
 *                     two that are right: no id, a relative folder, a number), pages (one session a page), fail (an
 *                     error on the second page), none (an error), many (25,000 sessions on one page)
 *   AGENT_LOAD        late (session/load answers first and replays then), fail (an error half way), slow (500 ms more)
 *   AGENT_CWD         folder of the sessions that AGENT_LIST invents
 *   AGENT_LOG         file that gets a line "METHOD SESSION" for every request about a session
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import * as acp from '@agentclientprotocol/sdk';
import { v7 as uuid } from 'uuid';
import * as z from 'zod';
import { AgentControls } from './agent_controls.js';
import { children, workVerbs } from './agent_work.js';

const StopReason = z.enum(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']);
type StopReason = z.infer<typeof StopReason>;
type Update = acp.SessionNotification['update'];

interface Session {
  id: string;
  cwd: string;
  prompts: string[];
  said: string[];
  cancel: AbortController | undefined;
  steered: string[];
  onSteer: (() => void) | undefined;
  used: number | undefined;
}

const dir = process.env['AGENT_DIR'];
const features = new Set(
  (process.env['AGENT_FEATURES'] ?? (dir ? 'close,compact,load,resume,list' : 'close,compact')).split(','),
);
const start = process.env['AGENT_START'] ?? '';
const sessions = new Map<string, Session>();
const controls = new AgentControls(features);

if (start === 'die') {
  process.stderr.write('no key, no agent\n');
  process.exit(7);
}
if (start === 'garbage') process.stdout.write('{"jsonrpc":"2.0","id":0,"result":"hello"}\n');

const fileOf = (id: string) => join(dir ?? '', `${id}.jsonl`);
const Line = z.union([
  z.object({ id: z.string(), cwd: z.string() }),
  z.object({ role: z.enum(['user', 'agent']), text: z.string() }),
]);

function remember(session: Session, role: 'user' | 'agent', text: string): void {
  (role === 'user' ? session.prompts : session.said).push(text);
  if (dir) appendFileSync(fileOf(session.id), `${JSON.stringify({ role, text })}\n`);
}

function create(id: string, cwd: string): Session {
  const session: Session = {
    id,
    cwd,
    prompts: [],
    said: [],
    cancel: undefined,
    steered: [],
    onSteer: undefined,
    used: undefined,
  };
  sessions.set(id, session);
  return session;
}

/** Also what the session said, in order, for the replay. */
function restore(id: string): { session: Session; lines: { role: 'user' | 'agent'; text: string }[] } {
  const lines: { role: 'user' | 'agent'; text: string }[] = [];
  if (!dir || !existsSync(fileOf(id))) throw acp.RequestError.sessionNotFound(id);
  let session = sessions.get(id);
  for (const text of readFileSync(fileOf(id), 'utf8').split('\n').filter(Boolean)) {
    const line = Line.parse(JSON.parse(text));
    if ('cwd' in line) session ??= create(id, line.cwd);
    else lines.push(line);
  }
  if (!session) throw acp.RequestError.sessionNotFound(id);
  session.prompts = lines.filter(({ role }) => role === 'user').map(({ text }) => text);
  return { session, lines };
}

/** A line that begins with `!` is JSON of an update, for the replay only: a thought, a tool call. */
const replayed = (text: string): Update | undefined =>
  text.startsWith('!') ? z.custom<Update>().parse(JSON.parse(text.slice(1))) : undefined;

function logged(method: string, id: string): void {
  const file = process.env['AGENT_LOG'];
  if (file) appendFileSync(file, `${method} ${id}\n`);
}

function known(id: string): Session {
  const session = sessions.get(id);
  if (!session) throw acp.RequestError.sessionNotFound(id);
  return session;
}

/** What a client puts in front of the person's words (an earlier conversation) is remembered, not carried out. */
const scriptOf = (blocks: readonly acp.ContentBlock[]) => textOf(blocks.slice(-1));
const textOf = (blocks: readonly acp.ContentBlock[]) =>
  blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');

const modelOptions: acp.SessionConfigOption[] = [
  {
    type: 'select',
    id: 'model',
    name: 'Model',
    category: 'model',
    currentValue: 'scripted-1',
    options: [{ value: 'scripted-1', name: 'Scripted 1' }],
  },
];
const commands: Update = {
  sessionUpdate: 'available_commands_update',
  availableCommands: features.has('compact')
    ? [{ name: 'compact', description: 'Replaces the context by a summary', input: { hint: 'what to keep' } }]
    : [{ name: 'help', description: 'Says what it can do' }],
};

const optionsOf = (session: Session, client: acp.AgentContext) => ({
  send: (update: Update) => client.notify('session/update', { sessionId: session.id, update }),
});

async function say(
  session: Session,
  client: acp.AgentContext,
  text: string,
  messageId?: string,
): Promise<void> {
  remember(session, 'agent', text);
  await optionsOf(session, client).send({
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text },
    ...(messageId ? { messageId } : {}),
  });
}

interface Turn {
  session: Session;
  client: acp.AgentContext;
  signal: AbortSignal;
  send: (update: Update) => Promise<void>;
}

/** Everything that a form can ask for; `token` is a secret. */
const formSchema: acp.ElicitationSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', minLength: 2, maxLength: 20 },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    colour: { type: 'string', enum: ['red', 'green'] },
    tags: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, maxItems: 1 },
    sure: { type: 'boolean' },
    token: { type: 'string', writeOnly: true, minLength: 4, default: 'default-secret' },
  },
  required: ['name'],
};
const FormSchema = z.custom<acp.ElicitationSchema>((value) => typeof value === 'object');
const FormContent = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((content) => content ?? {});
const failure = (error: unknown) =>
  error instanceof acp.RequestError ? `${error.code} ${error.message}` : String(error);

const never = () => new Promise<never>(() => setInterval(() => undefined, 60_000));
const cancelled = (signal: AbortSignal) =>
  new Promise<void>((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done());
  });

const verbs: Record<string, ((turn: Turn, rest: string) => Promise<unknown>) | undefined> = {
  echo: ({ session, client }, rest) => say(session, client, rest),
  async stream({ session, client, signal }, rest) {
    const [count, ms] = rest.split(' ').map(Number);
    for (let i = 1; i <= (count ?? 1) && !signal.aborted; i += 1) {
      await say(session, client, `${i} `);
      if (ms) await sleep(ms);
    }
  },
  async split({ session, client }) {
    await say(session, client, 'first ', 'm1');
    await say(session, client, 'message', 'm1');
    await say(session, client, 'second message', 'm2');
  },
  think: ({ send }, rest) =>
    send({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: rest } }),
  async tool({ send }, rest) {
    const name = rest || 'Read';
    const toolCallId = uuid();
    await send({
      sessionUpdate: 'tool_call',
      toolCallId,
      title: `${name} README.md`,
      name,
      kind: 'read',
      status: 'pending',
      rawInput: { path: 'README.md' },
      locations: [{ path: '/tmp/README.md', line: 3 }],
    });
    await send({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
    await send({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: `result of ${name}` } }],
    });
  },
  opentool: ({ send }) =>
    send({
      sessionUpdate: 'tool_call',
      toolCallId: uuid(),
      title: 'Never done',
      kind: 'execute',
      status: 'in_progress',
    }),
  async edit({ session, send }, rest) {
    const [name = 'file.txt', ...words] = rest.split(' ');
    const path = resolve(session.cwd, name);
    const oldText = existsSync(path) ? readFileSync(path, 'utf8') : null;
    const newText = `${words.join(' ')}\n`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, newText);
    await send({
      sessionUpdate: 'tool_call',
      toolCallId: uuid(),
      title: `Edit ${name}`,
      name: 'Edit',
      kind: 'edit',
      status: 'completed',
      locations: [{ path }],
      content: [{ type: 'diff', path, oldText, newText }],
    });
  },
  async ask({ session, client, send, signal }, rest) {
    const toolCallId = uuid();
    const { outcome } = await client.request('session/request_permission', {
      sessionId: session.id,
      toolCall: { toolCallId, title: rest || 'Run rm -rf build', kind: 'execute', status: 'pending' },
      options: [
        { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
        { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
        { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
      ],
    });
    const answer = outcome.outcome === 'selected' ? outcome.optionId : 'cancelled';
    await send({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: answer.startsWith('a') ? 'completed' : 'failed',
    });
    await say(session, client, `permission: ${answer}`);
    return signal.aborted ? 'cancelled' : undefined;
  },
  async asknot({ session, client }, rest) {
    void client
      .request('session/request_permission', {
        sessionId: session.id,
        toolCall: { toolCallId: uuid(), title: rest || 'Impatient' },
        options: [{ optionId: 'allow', name: 'Allow', kind: 'allow_once' }],
      })
      .catch(() => undefined);
    return Promise.resolve(sleep(50));
  },
  async plan({ send }) {
    const items = ['Look', 'Change', 'Check'];
    for (let done = 0; done < items.length; done += 1)
      await send({
        sessionUpdate: 'plan',
        entries: items.map((content, i) => ({
          content,
          priority: 'medium',
          status: i < done ? 'completed' : i === done ? 'in_progress' : 'pending',
        })),
      });
  },
  async slow({ signal }, rest) {
    await Promise.race([sleep(Number(rest)), cancelled(signal)]);
  },
  wait: ({ signal }) => cancelled(signal),
  async steer({ session, client, signal }) {
    if (session.steered.length === 0)
      await Promise.race([
        new Promise<void>((done) => {
          session.onSteer = done;
        }),
        cancelled(signal),
      ]);
    for (const text of session.steered.splice(0)) await say(session, client, `steered: ${text}`);
  },
  hang: never,
  async stop(_, rest) {
    return Promise.resolve(StopReason.parse(rest));
  },
  async die(_, rest) {
    process.stderr.write('dying on purpose\n', () => process.exit(rest ? Number(rest) : 3));
    return never();
  },
  async flood({ send }, rest) {
    const [count, bytes] = rest.split(' ').map(Number);
    const text = 'x'.repeat(bytes ?? 1000);
    for (let i = 0; i < (count ?? 1000); i += 1)
      await send({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  },
  async garbage() {
    process.stdout.write('this is no JSON\n[1,2,3]\n42\n{"jsonrpc":"2.0"\n\u0000\u0001\n');
    process.stdout.write('{"jsonrpc":"2.0","method":"session/update","params":"nonsense"}\n');
    process.stdout.write('{"jsonrpc":"2.0","method":"_nobody/knows","params":{}}\n');
    return Promise.resolve(undefined);
  },
  async unknown({ session }) {
    const params = { sessionId: session.id, update: { sessionUpdate: '_hologram', beams: 3 } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}\n`);
    return Promise.resolve(undefined);
  },
  async request({ session, client }) {
    const answer = await client
      .request('_nobody/answers', {})
      .then(() => 'nothing')
      .catch((error: unknown) => (error instanceof acp.RequestError ? String(error.code) : String(error)));
    await say(session, client, `answered: ${answer}`);
  },
  error: (_, rest) => Promise.reject(new acp.RequestError(-32603, rest || 'something broke')),
  auth: () => Promise.reject(acp.RequestError.authRequired()),
  title: ({ send }, rest) => send({ sessionUpdate: 'session_info_update', title: rest }),
  async usage({ session, send }, rest) {
    const [used = 0, size = 200_000] = rest.split(' ').map(Number);
    session.used = used;
    await send({ sessionUpdate: 'usage_update', used, size });
  },
  async notice({ session }, rest) {
    const update = { sessionUpdate: 'notice', severity: 'warning', title: rest };
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: session.id, update } })}\n`,
    );
    return Promise.resolve(undefined);
  },
  async late({ session, client }) {
    setTimeout(() => void say(session, client, 'late'), 100);
    return Promise.resolve(undefined);
  },
  recall: ({ session, client }) =>
    say(session, client, `${session.prompts.length - 1} before, last: ${session.prompts.at(-2) ?? 'none'}`),
  heard: ({ session, client }) => say(session, client, `heard: ${session.prompts.at(-1) ?? ''}`),
  env: ({ session, client }, rest) => say(session, client, process.env[rest] ?? 'unset'),
  async form({ session, client }, rest) {
    const own = rest.startsWith('{');
    const requestedSchema = own ? FormSchema.parse(JSON.parse(rest)) : formSchema;
    const answer = await client.request('elicitation/create', {
      mode: 'form',
      sessionId: session.id,
      message: own || rest === '' ? 'Who are you?' : rest,
      requestedSchema,
    });
    const content = answer.action === 'accept' ? FormContent.parse(answer.content) : {};
    const told = Object.entries(content).map(([name, value]) => [
      name,
      name === 'token' ? `${String(value).length} characters` : value,
    ]);
    await say(session, client, `form: ${answer.action} ${JSON.stringify(Object.fromEntries(told))}`);
  },
  async url({ session, client }, rest) {
    const [address = 'https://example.com/sign-in?key=sesame', ms] = rest.split(' ').filter(Boolean);
    const elicitationId = '1';
    if (ms) setTimeout(() => void client.notify('elicitation/complete', { elicitationId }), Number(ms));
    const { action } = await client.request('elicitation/create', {
      mode: 'url',
      sessionId: session.id,
      message: 'Sign in, please',
      elicitationId,
      url: address,
    });
    await say(session, client, `url: ${action}`);
  },
  async readfile({ session, client }, rest) {
    const [name = '', line, limit] = rest.split(' ');
    const said = await client
      .request('fs/read_text_file', {
        sessionId: session.id,
        path: resolve(session.cwd, name),
        ...(line ? { line: Number(line) } : {}),
        ...(limit ? { limit: Number(limit) } : {}),
      })
      .then(({ content }) => `read: ${JSON.stringify(content)}`)
      .catch((error: unknown) => `read failed: ${failure(error)}`);
    await say(session, client, said);
  },
  latewrite: (turn, rest) => {
    setTimeout(() => void verbs['writefile']?.(turn, rest), 100);
    return Promise.resolve();
  },
  async writefile({ session, client }, rest) {
    const [name = '', ...words] = rest.split(' ');
    const said = await client
      .request('fs/write_text_file', {
        sessionId: session.id,
        path: resolve(session.cwd, name),
        content: words.join(' '),
      })
      .then(() => 'written')
      .catch((error: unknown) => `write failed: ${failure(error)}`);
    await say(session, client, said);
  },
  ...workVerbs,
};

async function runTurn(
  session: Session,
  client: acp.AgentContext,
  prompt: readonly acp.ContentBlock[],
): Promise<StopReason> {
  const cancel = new AbortController();
  session.cancel = cancel;
  remember(session, 'user', textOf(prompt));
  const job = textOf(prompt).startsWith('Below is the') ? process.env['AGENT_JOB'] : undefined;
  const text = job ?? scriptOf(prompt);
  const turn: Turn = { session, client, signal: cancel.signal, send: optionsOf(session, client).send };
  await controls.turn(session.id, client);
  if (features.has('compact') && text.startsWith('/compact')) return compact(turn, text.slice(8).trim());
  for (const line of text.split('\n').filter(Boolean)) {
    if (cancel.signal.aborted) return 'cancelled';
    const [verb = '', ...words] = line.split(' ');
    const perform = verbs[verb];
    const controlling = controls.verbs[verb];
    const outcome: unknown = await (perform
      ? perform(turn, words.join(' '))
      : controlling?.({ ...turn, prompt, say: (said) => say(session, client, said) }, words.join(' ')));
    if (!perform && !controlling) await say(session, client, `You said: ${line}`);
    const reason = StopReason.safeParse(outcome);
    if (reason.success) return reason.data;
  }
  return cancel.signal.aborted ? 'cancelled' : 'end_turn';
}

async function compact(turn: Turn, text: string): Promise<StopReason> {
  if (text === 'fail') throw new acp.RequestError(-32603, 'nothing to compact');
  if (text === 'slow') {
    await cancelled(turn.signal);
    return 'cancelled';
  }
  turn.session.prompts = [];
  turn.session.used = 1000;
  await say(turn.session, turn.client, `Compacted. ${text}`);
  await turn.send({ sessionUpdate: 'usage_update', used: 1000, size: 200_000 });
  return 'end_turn';
}

if (dir) mkdirSync(dir, { recursive: true });
const app = acp
  .agent({ name: 'scripted' })
  .onRequest('initialize', async () => {
    if (start === 'slow') await sleep(500);
    return {
      protocolVersion: acp.PROTOCOL_VERSION,
      agentInfo: { name: 'scripted', title: 'Scripted agent', version: '1.0.0' },
      agentCapabilities: {
        ...controls.capabilities,
        loadSession: features.has('load'),
        sessionCapabilities: {
          ...(features.has('resume') ? { resume: {} } : {}),
          ...(features.has('list') ? { list: {} } : {}),
          ...(features.has('close') ? { close: {} } : {}),
          ...(features.has('delete') ? { delete: {} } : {}),
          ...(features.has('fork') ? { fork: {} } : {}),
          ...(features.has('dirs') ? { additionalDirectories: {} } : {}),
        },
      },
      authMethods: controls.authMethods,
      ...(features.has('steering') ? { _meta: { steering: { supported: true } } } : {}),
    };
  })
  .onRequest('session/new', async ({ params, client }) => {
    if (start === 'auth' && !controls.signedIn) throw acp.RequestError.authRequired();
    if (start === 'nonew') throw new acp.RequestError(-32603, 'no room for a session');
    const session = create(uuid(), params.cwd);
    if (dir) writeFileSync(fileOf(session.id), `${JSON.stringify({ id: session.id, cwd: params.cwd })}\n`);
    // Before the answer: a client has to be ready for that.
    await optionsOf(session, client).send(commands);
    const opened = controls.opened(session.id, params);
    return {
      sessionId: session.id,
      ...(features.has('models') ? {} : { configOptions: modelOptions }),
      ...opened,
    };
  })
  .onRequest('session/prompt', async ({ params, client }) => {
    const session = known(params.sessionId);
    logged('session/prompt', session.id);
    try {
      const stopReason = await runTurn(session, client, params.prompt);
      const used = session.used;
      if (used === undefined) return { stopReason };
      return {
        stopReason,
        usage: { totalTokens: 30, inputTokens: 20, outputTokens: 10, cachedReadTokens: 5 },
      };
    } finally {
      session.cancel = undefined;
    }
  })
  .onNotification('session/cancel', ({ params }) => {
    sessions.get(params.sessionId)?.cancel?.abort();
    children.get(params.sessionId)?.abort();
  })
  .onRequest(
    '_session/steering',
    z.looseObject({ sessionId: z.string(), prompt: z.array(z.looseObject({ text: z.string().optional() })) }),
    async ({ params }) => {
      if (!features.has('steering')) throw acp.RequestError.methodNotFound('_session/steering');
      const session = known(params.sessionId);
      if (!session.cancel) return { outcome: 'promptRequired' };
      const text = params.prompt.map((block) => block.text ?? '').join('');
      if (text.startsWith('slowly')) await sleep(200);
      if (/^(refuse|slowly)/.test(text)) return { outcome: 'failed', reason: 'not now' };
      session.steered.push(text);
      remember(session, 'user', text);
      session.onSteer?.();
      return { outcome: 'injected' };
    },
  );
controls.register(app);
if (features.has('load'))
  app.onRequest('session/load', async ({ params, client }) => {
    logged('session/load', params.sessionId);
    const { session, lines } = restore(params.sessionId);
    const { send } = optionsOf(session, client);
    const quirk = process.env['AGENT_LOAD'];
    const replay = async () => {
      for (const [index, { role, text }] of lines.entries()) {
        if (quirk === 'fail' && index === 1) throw new acp.RequestError(-32603, 'the rest is damaged');
        await send(
          replayed(text) ?? {
            sessionUpdate: role === 'user' ? 'user_message_chunk' : 'agent_message_chunk',
            content: { type: 'text', text },
          },
        );
      }
      await send(commands);
    };
    if (quirk === 'slow') await sleep(500);
    if (quirk === 'late') setTimeout(() => void replay(), 50);
    else await replay();
    return controls.opened(session.id, params);
  });
if (features.has('resume'))
  app.onRequest('session/resume', async ({ params, client }) => {
    logged('session/resume', params.sessionId);
    const { session } = restore(params.sessionId);
    await optionsOf(session, client).send(commands);
    return controls.opened(session.id, params);
  });
const ownSessions = () =>
  readdirSync(dir ?? '.')
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => {
      const { session } = restore(name.slice(0, -6));
      return { sessionId: session.id, cwd: session.cwd, title: session.prompts[0] ?? null };
    });
if (features.has('list')) {
  const cwd = process.env['AGENT_CWD'] ?? process.cwd();
  const quirky = (n: number) => ({ sessionId: `quirk-${n}`, cwd, title: `Quirk ${n}` });
  app.onRequest('session/list', ({ params }) => {
    const page = Number(params.cursor ?? 0);
    switch (process.env['AGENT_LIST']) {
      case 'loop':
        return { sessions: [quirky(page), quirky(page + 1)], nextCursor: '1' };
      case 'endless':
        return { sessions: [quirky(2 * page), quirky(2 * page + 1)], nextCursor: String(page + 1) };
      case 'bad':
        return z.custom<acp.ListSessionsResponse>().parse({
          sessions: [
            quirky(1),
            { cwd },
            { ...quirky(2), cwd: 'here' },
            7,
            { ...quirky(3), updatedAt: 'soon' },
          ],
        });
      case 'many':
        return { sessions: Array.from({ length: 25_000 }, (_, n) => quirky(n)) };
      case 'fail':
        if (page === 1) throw new acp.RequestError(-32603, 'the index is damaged');
        return { sessions: [quirky(1)], nextCursor: '1' };
      case 'none':
        throw new acp.RequestError(-32603, 'there is no index');
      case 'pages': {
        const all = ownSessions();
        const next = page + 1 < all.length ? { nextCursor: String(page + 1) } : {};
        return { sessions: all.slice(page, page + 1), ...next };
      }
      default:
        return { sessions: ownSessions() };
    }
  });
}
if (features.has('delete'))
  app.onRequest('session/delete', ({ params }) => {
    logged('session/delete', params.sessionId);
    sessions.delete(params.sessionId);
    rmSync(fileOf(params.sessionId), { force: true });
    return {};
  });
if (features.has('fork'))
  app.onRequest(
    'session/fork',
    z.looseObject({ sessionId: z.string(), cwd: z.string() }),
    async ({ params, client }) => {
      logged('session/fork', params.sessionId);
      const { lines } = restore(params.sessionId);
      const session = create(uuid(), params.cwd);
      writeFileSync(fileOf(session.id), `${JSON.stringify({ id: session.id, cwd: params.cwd })}\n`);
      for (const { role, text } of lines) remember(session, role, text);
      await optionsOf(session, client).send(commands);
      return { sessionId: session.id, configOptions: modelOptions, ...controls.opened(session.id, params) };
    },
  );
if (features.has('close'))
  app.onRequest('session/close', ({ params }) => {
    logged('session/close', params.sessionId);
    sessions.get(params.sessionId)?.cancel?.abort();
    sessions.delete(params.sessionId);
    return {};
  });

const input = new ReadableStream<Uint8Array>({
  start(controller) {
    process.stdin.on('data', (chunk: Buffer) => controller.enqueue(new Uint8Array(chunk)));
    process.stdin.on('end', () => controller.close());
  },
});
// Silent: it reads, and never answers.
if (start === 'silent') process.stdin.resume();
else {
  const connection = app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), input));
  void connection.closed.then(() => process.exit(0));
}
