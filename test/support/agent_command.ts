import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';
import type * as z from 'zod';
import type { CustomAgent } from '../../src/protocol/agents.js';

export interface TestAgentOptions {
  /** See `AGENT_FEATURES` in `agent.ts`. */
  readonly features?: readonly string[];
  /** Folder where the agent keeps its sessions. */
  readonly dir?: string;
  /** See `AGENT_START` in `agent.ts`. */
  readonly start?: string;
  readonly env?: Record<string, string>;
  readonly title?: string;
}

let bundle: string | undefined;

/** One file, made once a test process: it starts in a third of the time that its source takes. */
function agentScript(): string {
  if (bundle !== undefined) return bundle;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'deck-agent-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  bundle = path.join(folder, 'agent.mjs');
  buildSync({
    entryPoints: [path.join(import.meta.dirname, 'agent.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  return bundle;
}

/** The settings that start the scripted agent of `agent.ts`; works from any directory. */
export function testAgent(options: TestAgentOptions = {}): z.infer<typeof CustomAgent> {
  return {
    command: process.execPath,
    args: [agentScript()],
    title: options.title ?? 'Scripted agent',
    env: {
      ...(options.features ? { AGENT_FEATURES: options.features.join(',') } : {}),
      ...(options.dir ? { AGENT_DIR: options.dir } : {}),
      ...(options.start ? { AGENT_START: options.start } : {}),
      ...options.env,
    },
  };
}
