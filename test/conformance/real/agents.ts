import fs from 'node:fs';
import path from 'node:path';
import { claudeFolder, ClaudeWriter } from '../../support/corpus_claude.js';
import { codexFile, CodexWriter } from '../../support/corpus_codex.js';
import { random } from '../../support/corpus_random.js';

/** An agent that somebody else wrote, as it is started here, without a network. */
export interface RealAgent {
  /** As in the settings, so that it goes on with its tool's sessions. */
  readonly id: string;
  /** npm name and version. */
  readonly package: string;
  /** Below the folder that they are installed in. */
  readonly script: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Writes what it needs into its home; answers a session that its tool left on disk. */
  prepare(home: string, cwd: string): string | undefined;
}

const write = (file: string, text: string) => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
};

function claudeSession(home: string, cwd: string): string {
  const writer = new ClaudeWriter({ rng: random(11), cwd, startMs: Date.now() - 7_200_000 });
  writer.prompt('List the files please');
  writer.tool('Bash', { command: 'ls -la' }, 'a.txt\nb.txt');
  writer.say('There are a.txt and b.txt.');
  writer.prompt('Which is larger?');
  writer.say('Both are empty.');
  write(path.join(home, '.claude', 'projects', claudeFolder(cwd), `${writer.sessionId}.jsonl`), writer.text);
  return writer.sessionId;
}

function codexSession(home: string, cwd: string): string {
  const writer = new CodexWriter({ rng: random(12), cwd, startMs: Date.now() - 7_200_000 });
  writer.prompt('List the files please');
  writer.say('There are a.txt and b.txt.');
  writer.complete();
  writer.prompt('Which is larger?');
  writer.say('Both are empty.');
  writer.complete();
  const codex = path.join(home, '.codex');
  write(path.join(codex, codexFile(writer.sessionId, Date.now() - 7_200_000)), writer.text);
  write(path.join(codex, 'auth.json'), JSON.stringify({ OPENAI_API_KEY: 'sk-dummy' }));
  return writer.sessionId;
}

export const realAgents: readonly RealAgent[] = [
  {
    id: 'claude-code',
    package: '@agentclientprotocol/claude-agent-acp@0.101.0',
    script: 'node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js',
    args: [],
    env: { ANTHROPIC_API_KEY: 'dummy', IS_SANDBOX: '1' },
    prepare: claudeSession,
  },
  {
    id: 'codex',
    package: '@agentclientprotocol/codex-acp@2.6.0',
    script: 'node_modules/@agentclientprotocol/codex-acp/dist/index.js',
    args: [],
    env: { OPENAI_API_KEY: 'sk-dummy' },
    prepare: codexSession,
  },
  {
    id: 'codex-acp',
    package: '@zed-industries/codex-acp@0.16.0',
    script: 'node_modules/@zed-industries/codex-acp/bin/codex-acp.js',
    args: [],
    env: { OPENAI_API_KEY: 'sk-dummy' },
    prepare: codexSession,
  },
  {
    id: 'opencode',
    package: 'opencode-ai@1.18.33',
    script: 'node_modules/opencode-ai/bin/opencode.exe',
    args: ['acp'],
    env: {},
    prepare: () => undefined,
  },
];

/** A client that somebody else wrote. */
export const acpx = { package: 'acpx@0.19.1', script: 'node_modules/acpx/dist/cli.js' };
