// Runs agents and a client that others wrote against the service and writes what was seen into docs/conformance.md.
// usage: npx tsx test/conformance/real/run.ts FOLDER [AGENT…]
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { acpx, realAgents } from './agents.js';
import { driveAcpx } from './acpx.js';
import { drive, type Seen } from './drive.js';

const PAGE = 'docs/conformance.md';
const BEGIN = '<!-- conformance:begin -->';
const END = '<!-- conformance:end -->';

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(os.tmpdir(), '…');

function table(title: string, seen: readonly Seen[]): string {
  return [
    `### ${title}`,
    '',
    '| method | | what was seen |',
    '| --- | --- | --- |',
    ...seen.map(({ method, ok, text }) => `| ${method} | ${ok ? 'ok' : '**no**'} | ${cell(text)} |`),
    '',
  ].join('\n');
}

/** Agents beside each other; what one has no session or no choice for is left out and stays empty. */
function matrix(all: ReadonlyMap<string, readonly Seen[]>): string {
  const names = [...all.keys()];
  const rows = [...new Set([...all.values()].flatMap((seen) => seen.map(({ method }) => method)))];
  const verdict = (name: string, method: string) => {
    const found = all.get(name)?.find((one) => one.method === method);
    return found === undefined ? '' : found.ok ? 'ok' : '**no**';
  };
  return [
    `| method | ${names.join(' | ')} |`,
    `| --- | ${names.map(() => '---').join(' | ')} |`,
    ...rows.map((method) => `| ${method} | ${names.map((name) => verdict(name, method)).join(' | ')} |`),
    '',
  ].join('\n');
}

async function main(): Promise<void> {
  const [folder = '', ...wanted] = process.argv.slice(2);
  const isWanted = (id: string) => wanted.length === 0 || wanted.includes(id);
  const parts: string[] = [];
  const all = new Map<string, readonly Seen[]>();
  for (const agent of realAgents.filter(({ id }) => isWanted(id))) {
    if (!fs.existsSync(path.join(folder, agent.script))) {
      console.log(`${agent.package}: not installed, left out`);
      parts.push(`### ${agent.package}\n\nNot installed when this was written.\n`);
      continue;
    }
    console.log(agent.package);
    const seen = await drive(agent, folder);
    for (const { method, ok, text } of seen) console.log(`  ${ok ? 'ok' : 'NO'} ${method}: ${text}`);
    all.set(agent.package, seen);
    parts.push(table(`${agent.package} as \`${agent.id}\``, seen));
  }
  if (isWanted('acpx') && fs.existsSync(path.join(folder, acpx.script))) {
    console.log(acpx.package);
    const seen = await driveAcpx(folder);
    for (const { method, ok, text } of seen) console.log(`  ${ok ? 'ok' : 'NO'} ${method}: ${text}`);
    parts.push(table(`${acpx.package}, a client of the service`, seen));
  }
  if (wanted.length > 0) return;
  const text = fs.readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = text.split(BEGIN);
  const [, after = ''] = rest.split(END);
  const date = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${os.type()}, no network.`;
  fs.writeFileSync(
    PAGE,
    `${before}${BEGIN}\n\n${date}\n\n${[matrix(all), ...parts].join('\n')}\n${END}${after}`,
  );
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
