// A seeded corpus of sessions of both tools, written fast, with the truths that a test or a bench can compare.
import fs from 'node:fs';
import path from 'node:path';
import { claudeFolder, ClaudeWriter } from './corpus_claude.js';
import { codexFile, CodexWriter } from './corpus_codex.js';
import { pick, random, uuid } from './corpus_random.js';

export interface CorpusOptions {
  /** A home: `.claude` and `.codex` are written below it. */
  readonly dir: string;
  readonly seed: number;
  readonly sessions: number;
  /** One more Claude Code session, the newest, with about so many entries. */
  readonly hugeEntries?: number;
  /** Mean of turns in a session. Default 4. */
  readonly turns?: number;
  /** Working folders of the sessions. Default: eight below `<dir>/projects`, which are not made. */
  readonly cwds?: readonly string[];
  /** The newest session ends at about this time, in milliseconds; older ones 15 minutes apart. Default: an hour ago. */
  readonly endMs?: number;
  /** Share of sessions of Codex, 0 to 1. Default 0.4. */
  readonly codexShare?: number;
  /** Mean of words in the result of a tool. Default 120. */
  readonly resultWords?: number;
}

/** What an index of a session's file must show. */
export interface SessionTruth {
  readonly sessionId: string;
  readonly tool: 'claude-code' | 'codex';
  readonly file: string;
  readonly cwd: string;
  readonly firstPrompt: string;
  readonly entries: number;
  readonly turns: number;
  readonly tools: number;
  readonly compactions: number;
  readonly offBranch: number;
  readonly skipped: number;
  /** Output tokens, on all branches. */
  readonly output: number;
  readonly parentSessionId?: string;
}

export interface Corpus {
  /** Sub-agents too. */
  readonly sessions: readonly SessionTruth[];
  readonly huge?: SessionTruth;
  readonly bytes: number;
}

const TASKS = [
  'Fix the flaky login test',
  'Add paging to the orders table',
  'Why is the build slow since Monday?',
  'Rename `Customer` to `Account` everywhere',
  'Write a migration for the invoices table',
  '請看看這個錯誤的原因',
  'テストが失敗する理由を調べてください',
  'Review the retry logic in the payment client',
  'Draft release notes for 2.4',
  'Find the memory leak in the importer',
];
const WORDS = (
  'session cache parser worker index page cursor turn entry boundary retry backoff module schema token stream ' +
  'buffer socket handle commit branch offset result error timeout render layout column query filter migration'
).split(' ');

/** Writes the corpus. The same options write the same files. */
export function generateCorpus(options: CorpusOptions): Corpus {
  const { dir, seed, sessions, hugeEntries } = options;
  const endMs = options.endMs ?? Date.now() - 3_600_000;
  const cwds = options.cwds ?? Array.from({ length: 8 }, (_, i) => path.join(dir, 'projects', `app-${i}`));
  const truths: SessionTruth[] = [];
  let bytes = 0;
  const write = (truth: SessionTruth, text: string, mtimeMs: number) => {
    fs.mkdirSync(path.dirname(truth.file), { recursive: true });
    fs.writeFileSync(truth.file, text);
    fs.utimesSync(truth.file, mtimeMs / 1000, mtimeMs / 1000);
    bytes += Buffer.byteLength(text);
    truths.push(truth);
  };
  for (let i = 0; i < sessions; i++) {
    const rng = random(seed * 1_000_003 + i);
    const end = endMs - (i + 1) * 15 * 60_000;
    const make = rng() < (options.codexShare ?? 0.4) ? codexSession : claudeSession;
    for (const { truth, text } of make(options, rng, pick(rng, cwds), end, 0)) write(truth, text, end);
  }
  let huge: SessionTruth | undefined;
  if (hugeEntries !== undefined) {
    const rng = random(seed * 7_000_003 + 1);
    for (const { truth, text } of claudeSession(options, rng, cwds[0] ?? dir, endMs, hugeEntries)) {
      write(truth, text, endMs);
      huge ??= truth;
    }
  }
  return { sessions: truths, bytes, ...(huge && { huge }) };
}

type Made = { truth: SessionTruth; text: string }[];

function sentence(rng: () => number, words: number): string {
  let text = pick(rng, WORDS);
  for (let i = 1; i < words; i++) text += ` ${pick(rng, WORDS)}`;
  return text;
}

function claudeSession(
  options: CorpusOptions,
  rng: () => number,
  cwd: string,
  end: number,
  hugeEntries: number,
): Made {
  const count = hugeEntries > 0 ? Infinity : 1 + Math.floor(rng() * (options.turns ?? 4) * 2);
  const stepMs = 500;
  const startMs = end - (hugeEntries > 0 ? hugeEntries * 1.6 : count * 12) * stepMs;
  const writer = new ClaudeWriter({ rng, cwd, startMs, stepMs });
  const folder = path.join(options.dir, '.claude', 'projects', claudeFolder(cwd));
  const made: Made = [];
  let offBranch = 0;
  let lostTurns = 0;
  while (hugeEntries > 0 ? writer.counts.entries < hugeEntries : writer.counts.turns - lostTurns < count) {
    const { leaf } = writer;
    const before = { ...writer.counts };
    claudeTurn(writer, rng, cwd, options.resultWords ?? 120);
    const trap = hugeEntries > 0 ? (writer.counts.turns % 400 === 0 ? 0 : 1) : rng();
    if (trap < 0.04) writer.compaction(sentence(rng, 60));
    else if (trap < 0.08 && before.turns > 0) {
      // The person goes back to before the prompt: what was said since is off the branch.
      offBranch += writer.counts.entries - before.entries;
      lostTurns += writer.counts.turns - before.turns;
      writer.leaf = leaf;
      claudeTurn(writer, rng, cwd, options.resultWords ?? 120);
    } else if (trap < 0.1) writer.torn();
    else if (trap < 0.14) made.push(claudeAgent(writer, rng, cwd, folder));
    else if (trap < 0.16)
      writer.loose({ type: 'ai-title', aiTitle: sentence(rng, 4), sessionId: writer.sessionId });
  }
  const truth: SessionTruth = {
    ...writer.counts,
    entries: writer.counts.entries - offBranch,
    turns: writer.counts.turns - lostTurns,
    offBranch,
    sessionId: writer.sessionId,
    tool: 'claude-code',
    file: path.join(folder, `${writer.sessionId}.jsonl`),
    cwd,
    firstPrompt: writer.firstPrompt,
  };
  return [{ truth, text: writer.text }, ...made];
}

function claudeTurn(writer: ClaudeWriter, rng: () => number, cwd: string, words: number): void {
  writer.prompt(`${pick(rng, TASKS)} ${sentence(rng, 6)}`);
  if (rng() < 0.4) writer.think(sentence(rng, 25));
  const calls = Math.floor(rng() * 4);
  for (let i = 0; i < calls; i++) {
    const file_path = `${cwd}/src/${pick(rng, WORDS)}.ts`;
    const result = sentence(rng, 1 + Math.floor(rng() * words * 2));
    const kind = rng();
    if (kind < 0.4) {
      const command = `npm test -- ${sentence(rng, 2)}`;
      writer.tool('Bash', { command, description: 'Run the tests' }, result, { stdout: result, stderr: '' });
    } else if (kind < 0.7) writer.tool('Read', { file_path }, result);
    else {
      const change = {
        old_string: `const ${pick(rng, WORDS)} = 1;`,
        new_string: `const ${pick(rng, WORDS)} = 2;`,
      };
      writer.tool('Edit', { file_path, ...change }, 'The file has been updated.');
    }
  }
  writer.say(`Done. ${sentence(rng, 50)}`);
}

function claudeAgent(parent: ClaudeWriter, rng: () => number, cwd: string, folder: string): Made[number] {
  const agentId = uuid(rng).slice(0, 8);
  const { sessionId } = parent;
  const writer = new ClaudeWriter({ rng, cwd, sessionId, startMs: parent.at, agentId });
  writer.prompt(`Search for ${sentence(rng, 5)}`);
  writer.tool('Grep', { pattern: pick(rng, WORDS) }, sentence(rng, 40));
  writer.say(sentence(rng, 20));
  return {
    truth: {
      ...writer.counts,
      offBranch: 0,
      sessionId: `agent-${agentId}`,
      tool: 'claude-code',
      file: path.join(folder, sessionId, 'subagents', `agent-${agentId}.jsonl`),
      cwd,
      firstPrompt: writer.firstPrompt,
      parentSessionId: sessionId,
    },
    text: writer.text,
  };
}

function codexSession(options: CorpusOptions, rng: () => number, cwd: string, end: number): Made {
  const count = 1 + Math.floor(rng() * (options.turns ?? 4) * 2);
  const startMs = end - count * 9000;
  const writer = new CodexWriter({ rng, cwd, startMs });
  for (let i = 0; i < count; i++) {
    writer.prompt(`${pick(rng, TASKS)} ${sentence(rng, 6)}`);
    if (rng() < 0.5) writer.think(`**Looking around** ${sentence(rng, 15)}`);
    const calls = Math.floor(rng() * 3);
    for (let call = 0; call < calls; call++) {
      const result = sentence(rng, 1 + Math.floor(rng() * (options.resultWords ?? 120) * 2));
      if (rng() < 0.8) writer.shell(`rg ${pick(rng, WORDS)}`, result, rng() < 0.1 ? 1 : 0);
      else {
        const file = `src/${pick(rng, WORDS)}.ts`;
        writer.patch(
          `*** Begin Patch\n*** Update File: ${file}\n@@\n-old ${call}\n+new ${call}\n*** End Patch`,
        );
      }
    }
    if (rng() < 0.05) writer.compaction(sentence(rng, 40));
    if (rng() < 0.02) writer.torn();
    if (rng() < 0.04) writer.abort();
    else {
      writer.say(`Done. ${sentence(rng, 40)}`);
      writer.complete();
    }
  }
  const truth: SessionTruth = {
    ...writer.counts,
    offBranch: 0,
    sessionId: writer.sessionId,
    tool: 'codex',
    file: path.join(options.dir, '.codex', codexFile(writer.sessionId, startMs)),
    cwd,
    firstPrompt: writer.firstPrompt,
  };
  return [{ truth, text: writer.text }];
}
