import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { NewResult } from '../../../src/protocol/acp.js';
import { AgentDetails, DiscoverResult } from '../../../src/protocol/agents.js';
import { InfoResult, InterjectResult, ListResult, PageResult } from '../../../src/protocol/aster.js';
import { Tooling } from '../../../src/protocol/controls.js';
import { ServicePlace } from '../../support/service.js';
import { acpPeer, asked, type Peer } from '../peers.js';
import type { RealAgent } from './agents.js';

/** What was seen of one method; `ok` false when it failed or is not offered. */
export interface Seen {
  readonly method: string;
  readonly ok: boolean;
  readonly text: string;
}

const Loose = z.looseObject({});
const short = (value: unknown) => {
  const text = (value instanceof Error ? value.message : String(value)).replaceAll(/\s+/g, ' ');
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
};

/** Runs an agent behind the service, over ACP on stdio, and tells what was seen. Nothing is asserted. */
export async function drive(agent: RealAgent, installed: string): Promise<Seen[]> {
  const seen: Seen[] = [];
  const place = new ServicePlace();
  place.env['SESSION_DECK_IDLE_MS'] = '60000';
  const { home, workspace: cwd } = place;
  const script = path.join(installed, agent.script);
  const isScript = agent.script.endsWith('.js');
  const config = path.join(home, 'config.json');
  const definition = {
    command: isScript ? process.execPath : script,
    args: [...(isScript ? [script] : []), ...agent.args],
    env: { HOME: home, ...agent.env },
  };
  const onDisk = agent.prepare(home, cwd);
  fs.writeFileSync(config, JSON.stringify({ agents: { [agent.id]: definition }, defaultAgent: agent.id }));
  const peer = await acpPeer(place, '--config', config, '--workspace', cwd);
  const step = async <T>(method: string, work: () => Promise<T>, tell: (value: T) => string) => {
    try {
      const value = await withLimit(work());
      seen.push({ method, ok: true, text: tell(value) });
      return value;
    } catch (error) {
      seen.push({ method, ok: false, text: short(error) });
      return undefined;
    }
  };
  try {
    await step(
      'initialize',
      () => asked(peer, 'deck/agent/details', { agent: agent.id }, AgentDetails),
      ({ name = '', version = '', capabilities }) => `${name} ${version}: ${capabilities.join(', ')}`.trim(),
    );
    await step(
      'session/list',
      () => asked(peer, 'deck/agent/discover', { agent: agent.id }, DiscoverResult),
      ({ listed, added, warning }) =>
        `${String(listed)} listed, ${String(added)} new${warning === undefined ? '' : `; ${warning}`}`,
    );
    if (onDisk !== undefined) await driveSession(peer, 'on disk', onDisk, cwd, step);
    const made = await step(
      'session/new',
      () => asked(peer, 'session/new', { cwd, mcpServers: [] }, NewResult),
      ({ modes, configOptions }) =>
        `${String(modes?.availableModes.length ?? 0)} modes, ${String(configOptions?.length ?? 0)} options`,
    );
    if (made) await driveTurn(peer, made.sessionId, step);
    if (made) await driveControls(peer, made, step);
    if (made)
      await step(
        'session/close',
        () => asked(peer, 'session/close', { sessionId: made.sessionId }, Loose),
        () => 'closed',
      );
    await step(
      'session/delete',
      async () => {
        const { sessions } = await asked(peer, 'aster/session/list', { limit: 200 }, ListResult);
        for (const { sessionId } of sessions) await asked(peer, 'session/delete', { sessionId }, Loose);
        return asked(peer, 'aster/session/list', {}, ListResult);
      },
      ({ sessions }) => `${String(sessions.length)} sessions left in the list`,
    );
  } finally {
    peer.close();
    await place.dispose();
  }
  return seen;
}

type Step = <T>(method: string, work: () => Promise<T>, tell: (value: T) => string) => Promise<T | undefined>;

async function driveSession(peer: Peer, where: string, sessionId: string, cwd: string, step: Step) {
  const page = await step(
    `read (${where})`,
    () => asked(peer, PAGE, pageOf(sessionId, cwd), PageResult),
    ({ total, entries }) => `${String(total)} entries: ${entries.map(({ kind }) => kind).join(' ')}`,
  );
  await step(
    `session/resume or load (${where})`,
    () => asked(peer, 'deck/session/open', { sessionId }, Tooling),
    ({ commands, configOptions, modes }) =>
      `open; ${String(commands.length)} commands, ${String(modes?.availableModes.length ?? 0)} modes, ${String(configOptions.length)} options`,
  );
  if (!page) return;
  await step(
    `session/fork (${where})`,
    async () => {
      const fork = await asked(peer, 'session/fork', { sessionId, cwd, mcpServers: [] }, NewResult);
      await asked(peer, 'deck/session/open', { sessionId: fork.sessionId }, Tooling);
      const source = await asked(peer, 'aster/session/info', { sessionId }, InfoResult);
      const made = await asked(peer, 'aster/session/info', { sessionId: fork.sessionId }, InfoResult);
      // A fork that the agent did not make itself says so in its first turn.
      await shortTurn(peer, fork.sessionId);
      const { entries } = await asked(peer, PAGE, pageOf(fork.sessionId, cwd), PageResult);
      const isTold = entries.slice(made.entryCount).some(({ severity }) => severity === 'info');
      return { source, made, isTold };
    },
    ({ source, made, isTold }) =>
      `${String(made.entryCount)} of ${String(source.entryCount)} entries; ${isTold ? 'begun anew and told what came before' : 'forked by the agent itself'}`,
  );
}

const PAGE = 'aster/session/transcript/page/v1';
const pageOf = (sessionId: string, cwd: string) => ({
  schema: 'aster.acp.session-transcript-page.v1',
  sessionId,
  operationId: 'page',
  cwd,
  limit: 200,
});

/** Begins a turn and cancels it. */
async function shortTurn(peer: Peer, sessionId: string): Promise<void> {
  const turn = peer.call('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Say hello.' }] });
  await sleep(2_000);
  peer.notify('session/cancel', { sessionId });
  await turn;
}

/** Without a network a turn fails or hangs; either is fine, if it ends and says why. */
async function driveTurn(peer: Peer, sessionId: string, step: Step) {
  const turn = peer.call('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Say hello.' }] });
  await sleep(2_000);
  await step(
    'interject',
    () => asked(peer, 'aster/interject', { sessionId, text: 'And goodbye.' }, InterjectResult),
    ({ status }) => status,
  );
  await sleep(1_000);
  peer.notify('session/cancel', { sessionId });
  await step(
    'session/prompt, then cancel',
    () => turn,
    ({ result, error }) =>
      error ? `failed: ${short(error.message)}` : JSON.stringify(Loose.parse(result)['stopReason']),
  );
}

async function driveControls(peer: Peer, made: z.infer<typeof NewResult>, step: Step) {
  const { sessionId, modes, configOptions = [] } = made;
  const mode = modes?.availableModes.find(({ id }) => id !== modes.currentModeId);
  if (mode)
    await step(
      'session/set_mode',
      () => asked(peer, 'session/set_mode', { sessionId, modeId: mode.id }, Loose),
      () => mode.id,
    );
  const model = configOptions.find(({ category, type }) => category === 'model' && type === 'select');
  if (model?.type === 'select')
    await step(
      'session/set_config_option',
      () =>
        asked(
          peer,
          'session/set_config_option',
          { sessionId, configId: model.id, value: model.currentValue },
          Loose,
        ),
      () => `${model.id} = ${model.currentValue}`,
    );
}

async function withLimit<T>(work: Promise<T>): Promise<T> {
  const limit = new AbortController();
  const late = sleep(90_000, undefined, { signal: limit.signal }).then(() => {
    throw new Error('no answer within 90 s');
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    limit.abort();
  }
}
