import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { generateCorpus } from '../support/corpus.js';

/** Kept until the generator or the sizes change; raise it when the generator writes other files. */
const VERSION = 1;
const SEED = 20_26;

const Facts = z.object({
  sessions: z.number(),
  entries: z.number(),
  files: z.number(),
  bytes: z.number(),
  huge: z.object({ sessionId: z.string(), cwd: z.string(), file: z.string(), entries: z.number() }),
});
/** What is in the corpus: listed sessions, entries in all, files with sub-agents, bytes on disk. */
export type Facts = z.infer<typeof Facts>;

/** A home with sessions of both tools, the same at every run. Generated once below `cache`, then reused. */
export function benchCorpus(cache: string, sessions: number, hugeEntries: number): Facts & { home: string } {
  const home = path.join(cache, `corpus-${String(VERSION)}-${String(sessions)}-${String(hugeEntries)}`);
  const factsFile = path.join(home, 'facts.json');
  if (fs.existsSync(factsFile))
    return { home, ...Facts.parse(JSON.parse(fs.readFileSync(factsFile, 'utf8'))) };
  fs.rmSync(home, { recursive: true, force: true });
  fs.mkdirSync(home, { recursive: true });
  const corpus = generateCorpus({ dir: home, seed: SEED, sessions: sessions - 1, hugeEntries });
  if (!corpus.huge) throw new Error('the corpus has no huge session');
  const facts: Facts = {
    sessions,
    entries: corpus.sessions.reduce((sum, { entries }) => sum + entries, 0),
    files: corpus.sessions.length,
    bytes: corpus.bytes,
    huge: corpus.huge,
  };
  fs.writeFileSync(factsFile, JSON.stringify(Facts.parse(facts)));
  return { home, ...Facts.parse(facts) };
}

/** The transcript files of both tools. */
export function transcripts(home: string): string[] {
  return ['.claude', '.codex'].flatMap((folder) =>
    fs
      .readdirSync(path.join(home, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => path.join(home, folder, name)),
  );
}
