import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { testAgent } from '../../support/agent_command.js';
import { buildService } from '../../support/service_build.js';
import { ServicePlace } from '../../support/service.js';
import { acpx } from './agents.js';
import type { Seen } from './drive.js';

/** Runs acpx as a client of the service, with the scripted agent behind it, and tells what was seen. */
export async function driveAcpx(installed: string): Promise<Seen[]> {
  const place = new ServicePlace();
  place.env['SESSION_DECK_IDLE_MS'] = '60000';
  const config = path.join(place.home, 'config.json');
  const features = ['close', 'compact', 'load', 'resume', 'list', 'modes', 'options'];
  const dir = path.join(place.home, 'agent');
  fs.mkdirSync(dir);
  const agents = { scripted: testAgent({ features, dir }) };
  fs.writeFileSync(config, JSON.stringify({ agents, defaultAgent: 'scripted' }));
  const command = `${process.execPath} ${await buildService()} acp --config ${config}`;
  const seen: Seen[] = [];
  const client = async (method: string, args: readonly string[], tell: (out: string) => string) => {
    const { code, out } = await run(
      [
        path.join(installed, acpx.script),
        '--agent',
        command,
        '--cwd',
        place.workspace,
        '--approve-all',
        ...args,
      ],
      place,
    );
    seen.push({
      method,
      ok: code === 0,
      text: code === 0 ? tell(out) : `exit ${String(code)}: ${out.slice(-160)}`,
    });
    return out;
  };
  const line = (pattern: RegExp) => (out: string) =>
    out
      .split('\n')
      .find((one) => pattern.test(one))
      ?.trim()
      .slice(0, 160) ?? 'nothing of it was printed';
  try {
    await client('exec: new, prompt', ['exec', 'echo hello from the agent'], line(/hello from the agent/));
    await client('exec: permission', ['exec', 'ask May I?'], line(/permission: /));
    const out = await client('sessions list: list', ['sessions', 'list'], line(/echo hello/));
    const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(out)?.[0] ?? '';
    await client(
      'sessions new --resume-session: resume',
      ['sessions', 'new', '--name', 'again', '--resume-session', id],
      () => `resumed ${id.slice(0, 8)}…`,
    );
    await client(
      'prompt -s: prompt in the resumed session',
      ['prompt', '-s', 'again', 'recall'],
      line(/before, last/),
    );
    await client('set-mode', ['set-mode', '-s', 'again', 'code'], (text) => text.trim().slice(-80));
    await client('set model', ['set', '-s', 'again', 'model', 'scripted-2'], (text) =>
      text.trim().slice(-80),
    );
    await client('cancel', ['cancel', '-s', 'again'], (text) => text.trim().slice(-80));
    await client('sessions close', ['sessions', 'close', 'again'], (text) => text.trim().slice(-80));
  } finally {
    await place.dispose();
  }
  return seen;
}

async function run(
  args: readonly string[],
  place: ServicePlace,
): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, [...args], { env: place.env, cwd: place.workspace });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stdin.end();
  const late = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(late);
  return { code, out };
}
