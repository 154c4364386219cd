import type * as z from 'zod';
import type { CustomAgent } from '../../src/protocol/agents.js';

/**
 * Agents that speak the protocol badly, one way each. They answer `initialize`, `session/new` and `session/prompt`
 * (with one message, "done") except for:
 *
 *   twice      every request is answered twice, and so are ids that nobody asked with
 *   order      the first prompt is answered after the second
 *   huge       a line of 33 MB before the answer of the prompt
 *   utf8       bytes that are no UTF-8, in a message and alone on a line
 *   stderr     20 MB on stderr before the answer of the prompt
 *   endless    100,000 commands, and as many updates of unknown kinds, before the answer of the prompt
 *   updates    updates with wrong types, without a session, of sessions that are not there
 *   ask        asks for a permission with wrong types, and for what nobody knows
 *   end        the prompt is answered with something that is no end
 *   newtypes   session/new is answered with wrong types
 *   deaf       session/new is never answered
 *   types      initialize is answered with wrong types
 *   exit       it exits before it answers initialize
 *   gone       it exits right after it answered initialize
 *   child      it starts a process that ignores signals, and exits in the prompt
 */
export type BadKind =
  | 'twice'
  | 'order'
  | 'huge'
  | 'utf8'
  | 'stderr'
  | 'endless'
  | 'updates'
  | 'ask'
  | 'end'
  | 'newtypes'
  | 'deaf'
  | 'types'
  | 'exit'
  | 'gone'
  | 'child';

const script = String.raw`
const fs = require('node:fs');
const kind = process.env.BAD_KIND;
fs.appendFileSync(process.env.BAD_PIDS, process.pid + '\n');
if (kind === 'exit') { process.stderr.write('no licence\n'); process.exit(4); }
const write = (text) => process.stdout.write(text);
const send = (message) => write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const update = (sessionId, update) => send({ method: 'session/update', params: { sessionId, update } });
const chunk = (text) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
let sessions = 0;
const waiting = [];
function answer(id, result) {
  send({ id, result });
  if (kind !== 'twice') return;
  send({ id, result });
  send({ id: 9999, result: {} });
  send({ id: 'nobody', error: { code: 1, message: 'x' } });
  send({ id: null, result: {} });
}
function end(id, sessionId) {
  update(sessionId, chunk('done'));
  answer(id, kind === 'end' ? 'over and out' : { stopReason: 'end_turn' });
}
const quirks = {
  huge: () => write('{"x":"' + 'y'.repeat(33 * 1024 * 1024) + '"}\n'),
  utf8: (sessionId) => {
    const [head, tail] = JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update: chunk('a|b') } }).split('|');
    write(Buffer.concat([Buffer.from(head), Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from(tail + '\n')]));
    write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
  },
  stderr: () => { for (let i = 0; i < 200; i += 1) fs.writeSync(2, 'e'.repeat(100000)); },
  endless: (sessionId) => {
    update(sessionId, { sessionUpdate: 'available_commands_update', availableCommands: Array.from({ length: 100000 }, (_, i) => ({ name: 'c' + i, description: '' })) });
    for (let i = 0; i < 20000; i += 1) update(sessionId, { sessionUpdate: '_beam_' + (i % 7), i });
  },
  updates: (sessionId) => {
    for (const bad of [null, 7, [], {}, { sessionUpdate: 3 }, { sessionUpdate: 'agent_message_chunk' }, { sessionUpdate: 'tool_call', toolCallId: 5 }, { sessionUpdate: 'plan', entries: 'no' }, { sessionUpdate: 'current_mode_update' }, { sessionUpdate: 'config_option_update', configOptions: { a: 1 } }, { sessionUpdate: '__proto__' }])
      update(sessionId, bad);
    update('nobody', chunk('x'));
    send({ method: 'session/update' });
    send({ method: 'session/update', params: [] });
  },
  ask: (sessionId) => {
    send({ id: 1, method: 'session/request_permission', params: { sessionId, options: 'none' } });
    send({ id: 2, method: 'session/request_permission', params: { sessionId: 'nobody', toolCall: { toolCallId: 'x' }, options: [] } });
    send({ id: 3, method: 'fs/read_text_file', params: 7 });
    send({ id: 4, method: 'terminal/create', params: { sessionId } });
    send({ id: 5, method: 'no/such/method' });
    send({ id: {}, method: 'no/such/method' });
  },
  child: () => {
    const child = require('node:child_process').spawn(process.execPath, ['-e', 'process.on("SIGTERM",()=>{});process.on("SIGHUP",()=>{});setInterval(()=>{},1e3)'], { stdio: 'ignore' });
    fs.appendFileSync(process.env.BAD_PIDS, child.pid + '\n');
    process.exit(5);
  },
};
function handle({ id, method, params }) {
  fs.appendFileSync(process.env.BAD_PIDS + '.methods', method + '\n');
  if (method === 'initialize') {
    if (kind === 'types') { send({ id, result: { protocolVersion: 'one', agentCapabilities: [] } }); return; }
    answer(id, { protocolVersion: 1, agentInfo: { name: 'bad', version: '0' } });
    if (kind === 'gone') setTimeout(() => process.exit(6), 20);
  } else if (method === 'session/new') {
    if (kind === 'deaf' || kind === 'gone') return;
    sessions += 1;
    answer(id, kind === 'newtypes' ? { sessionId: 7, modes: 'no', configOptions: 3 } : { sessionId: 's' + sessions, modes: [], configOptions: [null, 4], models: 'x' });
  } else if (method === 'session/prompt') {
    quirks[kind]?.(params.sessionId);
    if (kind !== 'order') end(id, params.sessionId);
    else if (waiting.length === 0) waiting.push([id, params.sessionId]);
    else { end(id, params.sessionId); setTimeout(() => end(...waiting.pop()), 100); }
  } else if (id !== undefined && method !== undefined) send({ id, error: { code: -32601, message: 'no' } });
}
let rest = '';
process.stdin.on('data', (data) => {
  const lines = (rest + data).split('\n');
  rest = lines.pop();
  for (const line of lines) if (line !== '') handle(JSON.parse(line));
});
process.stdin.on('end', () => process.exit(0));
`;

/**
 * The settings that start a bad agent. It adds its process id, a line each, to the file `pids`, and what it is asked to
 * `pids` with `.methods` behind.
 */
export function badAgent(kind: BadKind, pids: string): z.infer<typeof CustomAgent> {
  return {
    command: process.execPath,
    args: ['-e', script],
    title: `Bad agent ${kind}`,
    env: { BAD_KIND: kind, BAD_PIDS: pids },
  };
}
