// Writes a home with about forty sample sessions: npx tsx test/support/sample_home.ts DIR
// Running it again replaces what it wrote before, and nothing else.
import fs from 'node:fs';
import path from 'node:path';
import { claudeFolder, ClaudeWriter } from './corpus_claude.js';
import { codexFile, CodexWriter } from './corpus_codex.js';
import { pick, random, uuid } from './corpus_random.js';
import {
  LONG_TOPICS,
  PROJECT_FILES,
  SHORT,
  STORIES,
  type SessionStory,
  type Step,
  type TurnStory,
} from './sample_story.js';

export interface SampleHome {
  /** Give it as HOME. */
  readonly dir: string;
  /** The working folders. */
  readonly projects: readonly string[];
  /** Sub-agents left aside. */
  readonly sessions: number;
}

const HOUR = 3_600_000;
const MARKER = '.sample-home.json';
const PROJECTS = ['lighthouse', 'tidepool', 'paper-boat'] as const;
const LONG_ENTRIES = 2000;

/** Writes the sample home; times are relative to `now`. */
export function writeSampleHome(dir: string, now = Date.now()): SampleHome {
  const home = path.resolve(dir);
  removeOld(home);
  const files: string[] = [];
  const write = (file: string, text: string, mtimeMs: number) => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
    fs.utimesSync(file, mtimeMs / 1000, mtimeMs / 1000);
    files.push(file);
  };
  for (const project of PROJECTS) {
    for (const [name, text] of Object.entries(PROJECT_FILES[project])) {
      write(path.join(home, 'projects', project, name), text, now - 30 * 24 * HOUR);
    }
  }
  const stories = [...STORIES, ...shortStories(), longStory()];
  stories.forEach((story, i) => {
    const rng = random(1000 + i);
    const end = now - story.hoursAgo * HOUR;
    const cwd = path.join(home, 'projects', story.project);
    if (story.tool === 'codex') writeCodex(home, story, cwd, end, rng, write);
    else writeClaude(home, story, cwd, end, rng, write);
  });
  fs.writeFileSync(path.join(home, MARKER), JSON.stringify(files.map((file) => path.relative(home, file))));
  return {
    dir: home,
    projects: PROJECTS.map((name) => path.join(home, 'projects', name)),
    sessions: stories.length,
  };
}

type Write = (file: string, text: string, mtimeMs: number) => void;

/** What an earlier run wrote: Codex files have the day in their path, so they would stay beside the new ones. */
function removeOld(home: string): void {
  const marker = path.join(home, MARKER);
  if (!fs.existsSync(marker)) return;
  const names: unknown = JSON.parse(fs.readFileSync(marker, 'utf8'));
  if (!Array.isArray(names)) return;
  for (const name of names) {
    const file = path.resolve(home, String(name));
    if (file.startsWith(home + path.sep)) fs.rmSync(file, { force: true });
  }
}

function shortStories(): SessionStory[] {
  const rng = random(77);
  return Array.from({ length: 34 }, (_, i): SessionStory => {
    const turns: TurnStory[] = Array.from({ length: 1 + Math.floor(rng() * 3) }, (__, turn) => {
      const [ask, answer] = SHORT[(i + turn * 5) % SHORT.length] ?? ['', ''];
      const steps: Step[] = rng() < 0.5 ? [{ run: 'git status --short', out: ' M README.md' }] : [];
      return { ask, answer, steps };
    });
    return {
      tool: i % 3 === 0 ? 'codex' : 'claude',
      project: pick(rng, PROJECTS),
      hoursAgo: 24 + i * 13 + rng() * 6,
      ...(i % 9 === 0 && { archived: true }),
      turns,
    };
  });
}

function longStory(): SessionStory {
  const turns: TurnStory[] = [];
  let entries = 0;
  for (let n = 0; entries < LONG_ENTRIES; n++) {
    const topic = LONG_TOPICS[n % LONG_TOPICS.length] ?? '';
    const file = `tidepool/part_${n % 40}.py`;
    const steps: Step[] = [
      { think: `Next is ${topic}. First look at how it is done today.` },
      { search: topic.split(' ').at(-1) ?? topic, out: `${file}:${10 + n}: # ${topic}` },
      { read: file, out: `${1 + n}\t# ${topic}\n${2 + n}\tlimit = ${n}` },
      { edit: file, from: `limit = ${n}`, to: `limit = ${n + 1}` },
      { run: 'pytest -q', out: `${40 + n} passed in ${(0.3 + (n % 7) / 10).toFixed(1)}s` },
    ];
    if (n > 0 && n % 60 === 0)
      steps.unshift({ compact: `So far ${n} parts were cleaned up, the last one was ${topic}.` });
    turns.push({
      ask: `Step ${n + 1}: clean up ${topic}.`,
      steps,
      answer: `Step ${n + 1} is done: **${topic}** reads its limit from \`${file}\`, and ${40 + n} tests pass.`,
    });
    entries += steps.length + 2;
  }
  return { tool: 'claude', project: 'tidepool', title: 'The long clean-up', hoursAgo: 30, turns };
}

function writeClaude(
  home: string,
  story: SessionStory,
  cwd: string,
  end: number,
  rng: () => number,
  write: Write,
): void {
  const records = story.turns.reduce((sum, turn) => sum + 2 + (turn.steps?.length ?? 0) * 2, 2);
  const stepMs = Math.min(9000, (20 * HOUR) / records);
  const writer = new ClaudeWriter({ rng, cwd, startMs: end - records * stepMs, stepMs });
  const folder = path.join(home, '.claude', 'projects', claudeFolder(cwd));
  const agents = path.join(folder, writer.sessionId, 'subagents');
  for (const turn of story.turns) {
    writer.prompt(turn.ask);
    for (const step of turn.steps ?? []) claudeStep(writer, step, cwd, rng, agents, write);
    if (turn.answer === undefined) writer.interrupt();
    else writer.say(turn.answer);
  }
  if (story.title !== undefined) {
    writer.loose({ type: 'custom-title', customTitle: story.title, sessionId: writer.sessionId });
  }
  write(path.join(folder, `${writer.sessionId}.jsonl`), writer.text, writer.at);
}

function claudeStep(
  writer: ClaudeWriter,
  step: Step,
  cwd: string,
  rng: () => number,
  agents: string,
  write: Write,
): void {
  const at = (file: string) => path.join(cwd, file);
  if ('think' in step) writer.think(step.think);
  else if ('say' in step) writer.say(step.say, false);
  else if ('queued' in step) writer.queued(step.queued);
  else if ('compact' in step) writer.compaction(step.compact);
  else if ('run' in step) {
    const { run: command, out, code = 0 } = step;
    const result = code === 0 ? out : `Exit code ${code}\n${out}`;
    writer.tool('Bash', { command }, result, { stdout: out, stderr: '', interrupted: false }, code !== 0);
  } else if ('read' in step) writer.tool('Read', { file_path: at(step.read) }, step.out);
  else if ('search' in step) writer.tool('Grep', { pattern: step.search, output_mode: 'content' }, step.out);
  else if ('edit' in step) {
    const input = { file_path: at(step.edit), old_string: step.from, new_string: step.to };
    writer.tool('Edit', input, `The file ${at(step.edit)} has been updated.`, { filePath: at(step.edit) });
  } else if ('write' in step) {
    const input = { file_path: at(step.write), content: step.text };
    writer.tool('Write', input, `File created at ${at(step.write)}`, {
      type: 'create',
      filePath: at(step.write),
    });
  } else if ('plan' in step) {
    const todos = step.plan.map(([content, status]) => ({ content, status, activeForm: content }));
    writer.tool('TodoWrite', { todos }, 'Todos have been modified successfully.');
  } else {
    const agentId = uuid(rng).slice(0, 8);
    const { sessionId } = writer;
    const child = new ClaudeWriter({ rng, cwd, sessionId, startMs: writer.at, agentId, stepMs: 1500 });
    child.prompt(step.prompt);
    for (const inner of step.steps) claudeStep(child, inner, cwd, rng, agents, write);
    child.say(step.answer);
    write(path.join(agents, `agent-${agentId}.jsonl`), child.text, child.at);
    writer.at = child.at;
    const input = { description: step.agent, prompt: step.prompt, subagent_type: 'Explore' };
    writer.tool('Agent', input, step.answer, { status: 'completed', agentId, totalDurationMs: 21_000 });
  }
}

function writeCodex(
  home: string,
  story: SessionStory,
  cwd: string,
  end: number,
  rng: () => number,
  write: Write,
): void {
  const records = story.turns.reduce((sum, turn) => sum + 8 + (turn.steps?.length ?? 0) * 4, 0);
  const startMs = end - records * 2500;
  const writer = new CodexWriter({ rng, cwd, startMs, stepMs: 2500 });
  for (const turn of story.turns) {
    writer.prompt(turn.ask);
    for (const step of turn.steps ?? []) codexStep(writer, step);
    if (turn.answer === undefined) writer.abort();
    else {
      writer.say(turn.answer);
      writer.complete();
    }
  }
  const file = codexFile(writer.sessionId, startMs);
  const place = story.archived ? path.join('archived_sessions', path.basename(file)) : file;
  write(path.join(home, '.codex', place), writer.text, writer.at);
}

function codexStep(writer: CodexWriter, step: Step): void {
  const signed = (text: string, sign: string) =>
    text
      .split('\n')
      .map((line) => `${sign}${line}`)
      .join('\n');
  if ('think' in step) writer.think(step.think);
  else if ('say' in step) writer.say(step.say);
  else if ('queued' in step) writer.steer(step.queued);
  else if ('compact' in step) writer.compaction(step.compact);
  else if ('run' in step) writer.shell(step.run, step.out, step.code ?? 0);
  else if ('read' in step) writer.shell(`cat ${step.read}`, step.out);
  else if ('search' in step) writer.shell(`rg '${step.search}'`, step.out);
  else if ('edit' in step) {
    const hunk = `@@\n${signed(step.from, '-')}\n${signed(step.to, '+')}`;
    writer.patch(`*** Begin Patch\n*** Update File: ${step.edit}\n${hunk}\n*** End Patch`);
  } else if ('write' in step) {
    writer.patch(`*** Begin Patch\n*** Add File: ${step.write}\n${signed(step.text, '+')}\n*** End Patch`);
  } else if ('plan' in step) writer.plan(step.plan.map(([name, status]) => ({ step: name, status })));
  else writer.say(step.answer);
}

if (process.argv[1] && /sample_home\.[cm]?[jt]s$/.test(process.argv[1])) {
  const target = process.argv[2];
  if (target === undefined) {
    console.error('usage: npx tsx test/support/sample_home.ts DIR');
    process.exitCode = 2;
  } else {
    const { dir, sessions, projects } = writeSampleHome(target);
    console.log(
      `${sessions} sample sessions in ${dir}, of ${projects.length} projects below ${path.join(dir, 'projects')}`,
    );
  }
}
