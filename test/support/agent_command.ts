import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
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

/** The settings that start the scripted agent of `agent.ts`; works from any directory. */
export function testAgent(options: TestAgentOptions = {}): z.infer<typeof CustomAgent> {
  return {
    command: process.execPath,
    args: [
      '--import',
      pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href,
      fileURLToPath(new URL('./agent.ts', import.meta.url)),
    ],
    title: options.title ?? 'Scripted agent',
    env: {
      ...(options.features ? { AGENT_FEATURES: options.features.join(',') } : {}),
      ...(options.dir ? { AGENT_DIR: options.dir } : {}),
      ...(options.start ? { AGENT_START: options.start } : {}),
      ...options.env,
    },
  };
}
