import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { NewResult, PromptResult } from '../../src/protocol/acp.js';
import { PageResult } from '../../src/protocol/aster.js';
import type { Entry } from '../../src/protocol/entry.js';
import { claudeFolder, ClaudeWriter } from '../support/corpus_claude.js';
import { testAgent } from '../support/agent_command.js';
import { random } from '../support/corpus_random.js';
import { ServicePlace, until } from '../support/service.js';
import { acpPeer, alike, asked, editorPeer, type Peer } from './peers.js';

/** A service with a workspace, sessions of another tool on disk and scripted agents, seen through both surfaces. */
export class World {
  readonly place = new ServicePlace();
  /** In scope. */
  readonly cwd = this.place.workspace;
  /** Not in scope; has a session too. */
  readonly elsewhere = path.join(path.dirname(this.place.workspace), 'elsewhere');
  /** On disk, in `cwd`: three turns, the second with a tool call. */
  readonly onDisk: string;
  /** On disk, in `elsewhere`. */
  readonly outOfScope: string;
  peers: Peer[] = [];
  private operations = 0;

  constructor() {
    this.place.env['SESSION_DECK_IDLE_MS'] = '30000';
    fs.mkdirSync(this.elsewhere);
    this.onDisk = this.writeSession(this.cwd, 1);
    this.outOfScope = this.writeSession(this.elsewhere, 2);
  }

  /** Opens one peer of each surface with the same scope and the same agents. */
  async open(): Promise<void> {
    const dir = path.join(this.place.home, 'agent');
    fs.mkdirSync(dir, { recursive: true });
    const features = [
      'close',
      'compact',
      'steering',
      'load',
      'resume',
      'list',
      'fork',
      'modes',
      'options',
      'delete',
    ];
    const agents = {
      scripted: testAgent({ features, dir, title: 'Scripted' }),
      other: testAgent({ features: ['close'], title: 'Other' }),
      broken: { command: path.join(this.cwd, 'no-such-program'), title: 'Broken' },
      strict: testAgent({ start: 'auth', title: 'Strict' }),
    };
    const config = path.join(this.place.home, 'config.json');
    const options = { agents, defaultAgent: 'scripted' };
    fs.writeFileSync(config, JSON.stringify(options));
    this.peers = [
      await acpPeer(this.place, '--config', config, '--workspace', this.cwd),
      await editorPeer(this.place, {
        workspaces: [this.cwd],
        allFolders: false,
        trusted: true,
        config: options,
      }),
    ];
  }

  async close(): Promise<void> {
    for (const peer of this.peers) peer.close();
    await this.place.dispose();
  }

  /** A name that no operation has yet. */
  operation(): string {
    this.operations += 1;
    return `operation-${this.operations}`;
  }

  /** Begins a session and runs these turns in it. */
  async session(peer: Peer, ...prompts: string[]): Promise<string> {
    const { sessionId } = await asked(
      peer,
      'session/new',
      { cwd: this.cwd, mcpServers: [], _meta: { agent: 'scripted' } },
      NewResult,
    );
    for (const text of prompts) await this.prompt(peer, sessionId, text);
    return sessionId;
  }

  async prompt(peer: Peer, sessionId: string, text: string): Promise<string> {
    const params = { sessionId, prompt: [{ type: 'text', text }] };
    return (await asked(peer, 'session/prompt', params, PromptResult)).stopReason;
  }

  /** Starts a turn and waits until it runs; the promise is of its end. */
  async running(
    peer: Peer,
    sessionId: string,
    text: string,
  ): Promise<{ ended: Promise<string>; runId: string }> {
    const ended = this.prompt(peer, sessionId, text);
    ended.catch(() => undefined);
    const Info = z.looseObject({ activeRun: z.looseObject({ runId: z.string() }).optional() });
    const { runId } = await until(
      async () => (await asked(peer, 'aster/session/info', { sessionId }, Info)).activeRun,
      'the turn runs',
    );
    return { ended, runId };
  }

  pageParams(sessionId: string, more: object = {}): object {
    return {
      schema: 'aster.acp.session-transcript-page.v1',
      sessionId,
      operationId: this.operation(),
      cwd: this.cwd,
      ...more,
    };
  }

  page(peer: Peer, sessionId: string, more: object = {}): Promise<z.infer<typeof PageResult>> {
    return asked(
      peer,
      'aster/session/transcript/page/v1',
      this.pageParams(sessionId, { limit: 200, ...more }),
      PageResult,
    );
  }

  /** Ends of completed turns, oldest first. */
  async boundaries(peer: Peer, sessionId: string): Promise<Entry[]> {
    return (await this.page(peer, sessionId)).entries.filter(({ boundary }) => boundary);
  }

  private writeSession(cwd: string, seed: number): string {
    const writer = new ClaudeWriter({ rng: random(seed), cwd, startMs: Date.now() - 3_600_000 });
    writer.prompt('List the files');
    writer.say('There are two.');
    writer.prompt('Read the first one');
    writer.tool('Read', { file_path: path.join(cwd, 'a.txt') }, 'one\ntwo');
    writer.say('It has two lines.');
    writer.prompt('Thank you');
    writer.say('You are welcome.');
    const file = path.join(
      this.place.home,
      '.claude',
      'projects',
      claudeFolder(cwd),
      `${writer.sessionId}.jsonl`,
    );
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, writer.text);
    return writer.sessionId;
  }
}

/**
 * One row of the contract: `run` is carried out through each surface and gives what must be the same through both;
 * what is different by nature (ids, times) is left out by `run`.
 */
export function row(
  title: string,
  world: () => World,
  run: (peer: Peer, world: World) => Promise<unknown>,
): void {
  it(title, async () => {
    const answers: unknown[] = [];
    for (const peer of world().peers) answers.push(await run(peer, world()));
    alike(title, answers);
  });
}
