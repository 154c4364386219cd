import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { NewResult } from '../../src/protocol/acp.js';
import { testAgent, type TestAgentOptions } from './agent_command.js';
import { RawRpc } from './rpc.js';
import { ServicePlace } from './service.js';

const Update = z.object({
  sessionId: z.string(),
  update: z.looseObject({
    sessionUpdate: z.string(),
    messageId: z.string().nullish(),
    content: z.looseObject({ text: z.string().optional() }).optional().catch(undefined),
  }),
});
export type AcpUpdate = z.infer<typeof Update>['update'];

/** An ACP client of `service.js acp`, by hand. */
export class AcpPeer {
  constructor(
    readonly child: ChildProcessWithoutNullStreams,
    readonly rpc: RawRpc,
    private readonly cwd: string,
  ) {}

  /** Begins a session. */
  async begin(more: Record<string, unknown> = {}): Promise<string> {
    const params = { cwd: this.cwd, mcpServers: [], ...more };
    return (await this.rpc.request('session/new', params, NewResult)).sessionId;
  }

  load(sessionId: string, more: Record<string, unknown> = {}) {
    return this.rpc.call('session/load', { sessionId, cwd: this.cwd, mcpServers: [], ...more });
  }

  resume(sessionId: string, more: Record<string, unknown> = {}) {
    return this.rpc.call('session/resume', { sessionId, cwd: this.cwd, ...more });
  }

  /** Runs a turn; every line is a verb of the scripted agent. */
  prompt(sessionId: string, ...lines: string[]) {
    return this.rpc.call('session/prompt', { sessionId, prompt: [{ type: 'text', text: lines.join('\n') }] });
  }

  /** The updates of a session that arrived so far, those of some kinds. */
  updates(sessionId: string, ...kinds: string[]): AcpUpdate[] {
    return this.rpc
      .notifications('session/update')
      .map((params) => Update.parse(params))
      .filter((one) => one.sessionId === sessionId)
      .map(({ update }) => update)
      .filter(({ sessionUpdate }) => kinds.length === 0 || kinds.includes(sessionUpdate));
  }

  /** The text of all chunks of a kind. */
  text(sessionId: string, kind = 'agent_message_chunk'): string {
    return this.updates(sessionId, kind)
      .map(({ content }) => content?.text ?? '')
      .join('');
  }

  /** Closes its end, as a client that is done does. */
  leave(): void {
    this.child.stdin.end();
  }

  /** Ends at once, as a client that is killed does. */
  vanish(): void {
    this.child.kill('SIGKILL');
  }
}

/** A service with a scripted agent, for ACP clients. */
export class AcpPlace extends ServicePlace {
  private readonly config = path.join(this.workspace, 'config.json');
  private readonly peers: AcpPeer[] = [];

  constructor(options: TestAgentOptions = { features: ['close', 'compact', 'steering'] }) {
    super();
    this.env['SESSION_DECK_IDLE_MS'] = '20000';
    const agents = { scripted: testAgent(options) };
    fs.writeFileSync(this.config, JSON.stringify({ agents, defaultAgent: 'scripted' }));
  }

  /** A client that has not said `initialize` yet. */
  async connect(...args: string[]): Promise<AcpPeer> {
    const child = await this.command('acp', '--config', this.config, ...args);
    child.stdin.on('error', () => undefined);
    const peer = new AcpPeer(child, new RawRpc(child.stdout, child.stdin), this.workspace);
    this.peers.push(peer);
    return peer;
  }

  async open(clientCapabilities: unknown = {}, ...args: string[]): Promise<AcpPeer> {
    const peer = await this.connect(...args);
    await peer.rpc.initialize(clientCapabilities);
    return peer;
  }

  /** All clients leave. */
  leaveAll(): void {
    for (const peer of this.peers.splice(0)) peer.leave();
  }
}
